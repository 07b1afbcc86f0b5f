import { Context, Duration, Effect, type FileSystem, Layer } from "effect"
import type { ChildProcessSpawner } from "effect/process"
import type { GitCredentials } from "../git/GitCredentials.ts"
import { type GitError, GitRefMoved, GitTimedOut } from "../git/GitError.ts"
import { GitPolicy } from "../git/GitPolicy.ts"
import type { GitRef } from "../../schema/git/GitRef.ts"
import { GitRemote, type LocatedRef } from "../git/GitRemote.ts"
import type { GitAddress } from "../../schema/git/GitAddress.ts"
import { InstalledGit } from "../git/InstalledGit.ts"
import { type SnapshotError, SnapshotPathNotFound } from "./SnapshotError.ts"
import { SnapshotStore } from "./SnapshotStore.ts"
import type { SyncedSnapshot } from "./SyncedSnapshot.ts"
import { SyncExecutor } from "./SyncExecutor.ts"
import { archiveName, type SyncJob } from "./SyncProtocol.ts"
import { refusedName } from "./TreePath.ts"

export interface SyncRequest {
  readonly url: GitAddress
  readonly ref: GitRef
  /**
   * `.` or the relative path of a folder in the commit, with `/` between segments. Paths in the snapshot are relative to
   * this folder.
   */
  readonly path: string
  /** Commit that the ref must point to; the sync fails otherwise. */
  readonly expectedCommit?: string | undefined
  readonly credentials?: GitCredentials | undefined
  /** Called with progress lines, which are shown to people and contain no secrets. */
  readonly onProgress?: ((line: string) => Effect.Effect<void>) | undefined
}

const namedRefs = 10

const skippedRefs = (names: ReadonlyArray<string>): ReadonlyArray<string> => {
  if (names.length === 0) return []
  const more = names.length > namedRefs ? ` and ${names.length - namedRefs} more` : ""
  const named = names.slice(0, namedRefs).map((name) => JSON.stringify(name.slice(0, 100)))
  return [`These refs of the repository have names that cannot be used, and were skipped: ${named.join(", ")}${more}.`]
}

/**
 * Creates snapshots of remote repositories: resolves the ref, fetches the commit in a separate process, and stores the
 * archive. The process is killed if it uses too much memory or time, or when the caller's scope closes.
 */
export class SnapshotSync extends Context.Service<
  SnapshotSync,
  {
    readonly sync: (request: SyncRequest) => Effect.Effect<SyncedSnapshot, GitError | SnapshotError>
  }
>()("svc/runner/snapshot/SnapshotSync") {
  static readonly layer = Layer.effect(
    SnapshotSync,
    Effect.gen(function* () {
      const policy = yield* GitPolicy
      const remote = yield* GitRemote
      const installed = yield* InstalledGit
      const store = yield* SnapshotStore
      const services = yield* Effect.context<FileSystem.FileSystem | ChildProcessSpawner.ChildProcessSpawner>()

      const fetch = Effect.fnUntraced(function* (request: SyncRequest, located: LocatedRef) {
        // Do not use the installed git for the built-in repository, because git would need a server to connect to.
        const native = located.endpoint.builtIn === true ? undefined : yield* installed.usable
        const folder = yield* store.temporaryFolder
        const { limits } = policy
        const job: SyncJob = {
          endpoint: located.endpoint,
          oid: located.oid,
          commit: located.commit,
          ref: request.ref,
          ...(located.fullRef === undefined ? {} : { fullRef: located.fullRef }),
          path: request.path,
          ...(request.credentials === undefined ? {} : { credentials: request.credentials }),
          ...(native === undefined ? {} : { native }),
          limits: {
            packBytes: limits.packBytes,
            files: limits.files,
            fileBytes: limits.fileBytes,
            totalBytes: limits.totalBytes,
            depth: limits.depth,
            idleMillis: Duration.toMillis(limits.idle)
          },
          folder
        }
        const { execute } = yield* SyncExecutor
        const outcome = yield* execute(job, {
          rssBytes: limits.rssBytes,
          onProgress: request.onProgress ?? (() => Effect.void)
        }).pipe(Effect.provideContext(services))
        if (outcome.status === "failed") return yield* outcome.error
        yield* store.adopt(`${folder}/${archiveName}`, outcome.snapshot.archiveDigest)
        return { ...outcome.snapshot, warnings: [...outcome.snapshot.warnings, ...skippedRefs(located.skipped)] }
      }, Effect.scoped)

      const attempt = Effect.fnUntraced(function* (request: SyncRequest) {
        const located = yield* remote.locate(request)
        const { expectedCommit } = request
        if (expectedCommit !== undefined && expectedCommit !== located.commit)
          return yield* new GitRefMoved({
            ref: request.ref,
            expectedCommit,
            message: `${request.ref} is at the commit ${located.commit}, not at the expected ${expectedCommit}.`
          })
        if (request.onProgress !== undefined)
          yield* request.onProgress(`Resolved ${located.fullRef ?? request.ref} to commit ${located.commit}.`)
        return yield* fetch(request, located).pipe(
          // Report that the ref has moved: it existed a moment ago, but the server no longer serves the commit that it
          // pointed to.
          Effect.catchTag("GitRefNotFound", (error) =>
            Effect.fail(
              located.fullRef === undefined
                ? error
                : new GitRefMoved({
                    ref: request.ref,
                    expectedCommit: located.commit,
                    message: `${request.ref} moved away from the commit ${located.commit} while it was being fetched. Sync again.`
                  })
            )
          )
        )
      })

      const sync = Effect.fn("SnapshotSync.sync")(
        function* (request: SyncRequest): Effect.fn.Return<SyncedSnapshot, GitError | SnapshotError> {
          if (request.path !== "." && request.path.split("/").some((segment) => refusedName(segment) !== undefined))
            return yield* new SnapshotPathNotFound({
              path: request.path,
              message: "The path must be `.` or a relative folder such as modules/app, without ., .. or empty segments."
            })
          return yield* attempt(request).pipe(
            Effect.catchTag("GitRefMoved", (error) =>
              request.expectedCommit === undefined ? attempt(request) : Effect.fail(error)
            )
          )
        },
        Effect.timeoutOrElse({
          duration: policy.limits.deadline,
          orElse: () => Effect.fail(new GitTimedOut({ message: "The sync took too long and was stopped." }))
        })
      )

      return SnapshotSync.of({ sync })
    })
  )
}
