import { NodeServices } from "@effect/platform-node"
import { Effect, Layer, Result } from "effect"
import { GitPolicy } from "../../../runner/git/GitPolicy.ts"
import { parseGitRef } from "../../../schema/git/GitRef.ts"
import { GitRemote } from "../../../runner/git/GitRemote.ts"
import { serveRepository } from "../../../src/testing/git-server/GitServer.ts"
import { fetchableAddress } from "../../../runner/git/FetchPolicy.ts"
import { InstalledGit } from "../../../runner/git/InstalledGit.ts"
import { type CommitFiles, commitFiles, createRepository } from "../../../src/testing/git-server/RepositoryWriter.ts"
import { runSyncJob } from "../../../runner/snapshot/SyncWorker.ts"
import { temporaryFolder } from "../../support/TemporaryFolder.ts"

const limits = { packBytes: 50_000_000, files: 1000, fileBytes: 10_000_000, totalBytes: 50_000_000, depth: 20 }

export interface BuildCall {
  readonly ref?: string
  readonly path?: string
  /** Fetches with the installed git or the bundled git. */
  readonly native?: boolean | { readonly program: string; readonly required: boolean }
  readonly limits?: Partial<typeof limits>
}

export const repository = Effect.fnUntraced(function* (files: CommitFiles | undefined) {
  const gitdir = `${yield* temporaryFolder}/repository`
  yield* createRepository({ gitdir })
  const commit = files === undefined ? "" : yield* commitFiles({ gitdir, files })
  const { url } = yield* serveRepository({ gitdir })
  return { gitdir, commit, url }
})

/** Performs the work of the sync process in this process. */
export const build = (url: string, call: BuildCall = {}) =>
  Effect.gen(function* () {
    const remote = yield* GitRemote
    const ref = Result.getOrThrow(parseGitRef(call.ref ?? "HEAD"))
    const located = yield* remote.locate({
      url: Result.getOrThrow(fetchableAddress(url, { allowOrigins: [new URL(url).origin] })),
      ref
    })
    const native = yield* (yield* InstalledGit).usable
    if (native === undefined) return yield* Effect.die("these tests need an installed git")
    return yield* runSyncJob(
      {
        endpoint: located.endpoint,
        oid: located.oid,
        commit: located.commit,
        ref,
        path: call.path ?? ".",
        limits: { ...limits, ...call.limits, idleMillis: 10_000 },
        ...(call.native === true ? { native: { program: native.program, required: true } } : {}),
        ...(typeof call.native === "object" ? { native: call.native } : {}),
        folder: yield* temporaryFolder
      },
      () => {}
    )
  }).pipe(
    Effect.provide(
      Layer.mergeAll(GitRemote.layer, InstalledGit.layer).pipe(
        Layer.provide(GitPolicy.layerWith({ allowOrigins: [new URL(url).origin], native: "required" })),
        Layer.provideMerge(NodeServices.layer)
      )
    )
  )

export const ways = [
  ["isomorphic-git", false],
  ["native git", true]
] as const
