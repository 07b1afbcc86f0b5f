import { describe, expect } from "bun:test"
import { Effect, Layer, Result } from "effect"
import { AddressResolver } from "../../../runner/git/AddressResolver.ts"
import { parseGitRef } from "../../../schema/git/GitRef.ts"
import { GitRemote } from "../../../runner/git/GitRemote.ts"
import { serveRepository } from "../../../src/testing/git-server/GitServer.ts"
import { it } from "../../support/Effect.ts"
import { httpServer } from "../../support/HttpServer.ts"
import { refused, remote, repository, resolve, urlOf } from "./support/RemoteFixture.ts"

describe("addresses", () => {
  const answering = (...answers: ReadonlyArray<ReadonlyArray<string>>) => {
    const asked: Array<string> = []
    const layer = Layer.succeed(AddressResolver, {
      resolve: (hostname) =>
        Effect.suspend(() => {
          asked.push(hostname)
          const answer = answers[Math.min(asked.length, answers.length) - 1]
          return answer === undefined ? Effect.fail("not found") : Effect.succeed(answer)
        })
    })
    return { asked, layer }
  }

  for (const addresses of [
    ["127.0.0.1"],
    ["93.184.216.34", "10.0.0.1"],
    ["10.0.0.1", "93.184.216.34"],
    ["::ffff:127.0.0.1"],
    ["fd00::1"]
  ])
    it.live(`a fetch rejects a host name that resolves to ${addresses.join(" and ")}, without connecting`, () =>
      Effect.gen(function* () {
        const sentinel = yield* httpServer((_request, response) => void response.end())
        const url = `https://git.example:${sentinel.port}/a.git`
        const resolver = answering(addresses)
        const error = yield* refused({ url, allow: [] }).pipe(Effect.provide(resolver.layer))
        expect(error).toMatchObject({ _tag: "GitAddressRefused", host: "git.example" })
        expect(sentinel.requests).toEqual([])
      })
    )

  it.live("a fetch reports a host name that no longer resolves as unreachable", () =>
    Effect.gen(function* () {
      const error = yield* refused({ url: "https://git.example/a.git", allow: [] }).pipe(
        Effect.provide(answering().layer)
      )
      expect(error._tag).toBe("GitUnreachable")
    })
  )

  it.live(
    "every connection of a fetch uses the addresses of the first lookup, even if the name later resolves to another address",
    () =>
      Effect.gen(function* () {
        const { gitdir, second } = yield* repository
        const { origin } = yield* serveRepository({ gitdir })
        const port = new URL(origin).port
        // No server listens at the second address.
        const resolver = answering(["127.0.0.1"], ["127.0.0.2"])
        const url = `http://git.example:${port}/repository.git`
        const found = yield* resolve({ url }).pipe(Effect.provide(resolver.layer))
        expect(found.commit).toBe(second)
        expect(resolver.asked).toEqual(["git.example"])
      })
  )

  it.live("a fetch skips an address that does not respond and uses the next address", () =>
    Effect.gen(function* () {
      const { gitdir, second } = yield* repository
      const { origin } = yield* serveRepository({ gitdir })
      const url = `http://git.example:${new URL(origin).port}/repository.git`
      // Only 127.0.0.1 has a listener, so the first address does not respond.
      const resolver = answering(["127.0.0.9", "127.0.0.1"])
      const located = yield* Effect.flatMap(GitRemote, (service) =>
        service.locate({ url: urlOf({ url }), ref: Result.getOrThrow(parseGitRef("HEAD")) })
      ).pipe(Effect.provide(Layer.merge(remote({ url }), resolver.layer)))
      expect(located.commit).toBe(second)
      expect(located.endpoint.addresses).toEqual(["127.0.0.1"])
    })
  )
})
