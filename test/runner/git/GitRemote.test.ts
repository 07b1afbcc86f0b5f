import { describe, expect } from "bun:test"
import { Effect, Redacted } from "effect"
import { GitCredentials } from "../../../runner/git/GitCredentials.ts"
import { serveRepository } from "../../../src/testing/git-server/GitServer.ts"
import { commitFiles, createRepository, tagCommit } from "../../../src/testing/git-server/RepositoryWriter.ts"
import { it } from "../../support/Effect.ts"
import { temporaryFolder } from "../../support/TemporaryFolder.ts"
import { newest, origins, refused, repository, resolve, tagOf } from "./support/RemoteFixture.ts"

describe("GitRemote.resolve", () => {
  for (const protocolV2 of [true, false])
    it.live(`Git resolves each kind of ref, protocol v2 ${protocolV2 ? "on" : "off"}`, () =>
      Effect.gen(function* () {
        const { gitdir, first, second } = yield* repository
        yield* commitFiles({ gitdir, branch: "both", files: { "b.tf": "" } })
        yield* tagCommit({ gitdir, name: "both", target: first })
        yield* tagCommit({ gitdir, name: "light", target: first })
        const inner = yield* tagCommit({ gitdir, name: "noted", target: first, message: "Noted" })
        const outer = yield* tagCommit({ gitdir, name: "twice", target: inner, targetType: "tag", message: "Twice" })
        const { url } = yield* serveRepository({ gitdir, protocolV2 })

        const head = { fullRef: "refs/heads/main", commit: second, oid: second }
        expect(yield* resolve({ url })).toEqual(head)
        expect(yield* resolve({ url, ref: "main" })).toEqual(head)
        expect(yield* resolve({ url, ref: "refs/heads/main" })).toEqual(head)
        expect(yield* resolve({ url, ref: "heads/main" })).toEqual(head)
        expect(yield* resolve({ url, ref: first })).toEqual({ commit: first, oid: first })
        expect(yield* resolve({ url, ref: "light" })).toEqual({ fullRef: "refs/tags/light", commit: first, oid: first })
        expect(yield* resolve({ url, ref: "noted" })).toEqual({ fullRef: "refs/tags/noted", commit: first, oid: inner })
        expect(yield* resolve({ url, ref: "twice" })).toEqual({ fullRef: "refs/tags/twice", commit: first, oid: outer })
        expect(yield* refused({ url, ref: "both" })).toMatchObject({
          _tag: "GitRefAmbiguous",
          candidates: ["refs/heads/both", "refs/tags/both"]
        })
        expect((yield* resolve({ url, ref: "refs/tags/both" })).commit).toBe(first)
        expect(yield* tagOf({ url, ref: "mai" })).toBe("GitRefNotFound")
        expect(yield* tagOf({ url, ref: "refs/heads/mai" })).toBe("GitRefNotFound")
      })
    )

  it.live("Git reports an empty repository", () =>
    Effect.gen(function* () {
      const gitdir = `${yield* temporaryFolder}/repository`
      yield* createRepository({ gitdir })
      const { url } = yield* serveRepository({ gitdir })
      expect(yield* tagOf({ url })).toBe("GitRepositoryEmpty")
    })
  )

  it.live("Git signs in without disclosing its credentials", () =>
    Effect.gen(function* () {
      const { gitdir, second } = yield* repository
      const basic = Buffer.from("me:hunter2").toString("base64")
      const { url, origin } = yield* serveRepository({ gitdir, authorization: Redacted.make(`Basic ${basic}`) })
      const credentials = (password: string) =>
        GitCredentials.basic({ username: Redacted.make("me"), password: Redacted.make(password) }, origins(origin))
      expect((yield* resolve({ url, credentials: credentials("hunter2") })).commit).toBe(second)
      expect(yield* tagOf({ url })).toBe("GitAuthenticationFailed")
      const wrong = yield* refused({ url, credentials: credentials("hunter3") })
      expect(wrong._tag).toBe("GitAuthenticationFailed")
      expect(JSON.stringify(wrong)).not.toContain("hunter3")
    })
  )
})

describe("GitRemote.newestStableTag", () => {
  it.live("Git returns the newest tag with the commit to which it peels", () =>
    Effect.gen(function* () {
      const { gitdir, first, second } = yield* repository
      yield* tagCommit({ gitdir, name: "v1.9.0", target: second })
      yield* tagCommit({ gitdir, name: "1.10.0", target: first, message: "Ten" })
      yield* tagCommit({ gitdir, name: "v2.0.0-rc.1", target: second })
      const { url } = yield* serveRepository({ gitdir })
      expect(yield* newest({ url })).toEqual({ tag: "1.10.0", version: "1.10.0", commit: first })
      yield* tagCommit({ gitdir, name: "v1.10.0", target: first })
      expect((yield* Effect.flip(newest({ url })))._tag).toBe("GitVersionAmbiguous")
    })
  )
})
