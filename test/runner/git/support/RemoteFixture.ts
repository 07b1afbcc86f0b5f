import { Effect, Layer, Result } from "effect"
import type { RequestListener } from "node:http"
import type { GitCredentials } from "../../../../runner/git/GitCredentials.ts"
import { type GitLimits, GitPolicy } from "../../../../runner/git/GitPolicy.ts"
import { parseGitRef } from "../../../../schema/git/GitRef.ts"
import { GitRemote } from "../../../../runner/git/GitRemote.ts"
import { fetchableAddress } from "../../../../runner/git/FetchPolicy.ts"
import { encodePacket, flushPacket } from "../../../../runner/git/PktLine.ts"
import { commitFiles, createRepository } from "../../../../src/testing/git-server/RepositoryWriter.ts"
import { CredentialOrigin } from "../../../../schema/records/CredentialOrigin.ts"
import { temporaryFolder } from "../../../support/TemporaryFolder.ts"

/** Parses origins in the format that a Connection stores. */
export const origins = (...texts: ReadonlyArray<string>) => texts.map((text) => CredentialOrigin.make(text))

export interface Ask {
  readonly url: string
  readonly ref?: string
  readonly allow?: ReadonlyArray<string>
  readonly limits?: Partial<GitLimits>
  readonly credentials?: GitCredentials
}

export const remote = (ask: Ask) =>
  GitRemote.layer.pipe(
    Layer.provide(
      GitPolicy.layerWith({ allowOrigins: ask.allow ?? [new URL(ask.url).origin], limits: ask.limits ?? {} })
    )
  )

export const urlOf = (ask: Ask) =>
  Result.getOrThrow(fetchableAddress(ask.url, { allowOrigins: ask.allow ?? [new URL(ask.url).origin] }))

export const resolve = (ask: Ask) =>
  Effect.flatMap(GitRemote, (service) =>
    service.resolve({
      url: urlOf(ask),
      ref: Result.getOrThrow(parseGitRef(ask.ref ?? "HEAD")),
      credentials: ask.credentials
    })
  ).pipe(Effect.provide(remote(ask)))

export const newest = (ask: Ask) =>
  Effect.flatMap(GitRemote, (service) => service.newestStableTag({ url: urlOf(ask) })).pipe(Effect.provide(remote(ask)))

export const refused = (ask: Ask) => Effect.flip(resolve(ask))
export const tagOf = (ask: Ask) => Effect.map(refused(ask), (error) => error._tag)

export const repository = Effect.gen(function* () {
  const gitdir = `${yield* temporaryFolder}/repository`
  yield* createRepository({ gitdir })
  const first = yield* commitFiles({ gitdir, files: { "main.tf": "1" } })
  const second = yield* commitFiles({ gitdir, files: { "main.tf": "2" } })
  return { gitdir, first, second }
})

export const advertisement = (...packets: ReadonlyArray<Uint8Array>) =>
  ((_request, response) => {
    response.setHeader("content-type", "application/x-git-upload-pack-advertisement")
    response.end(Buffer.concat(packets))
  }) satisfies RequestListener

export const commit = "1".repeat(40)
export const listing = [
  encodePacket("# service=git-upload-pack\n"),
  flushPacket,
  encodePacket(`${commit} HEAD\0shallow\n`)
]
