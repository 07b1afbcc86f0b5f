import { describe, expect } from "bun:test"
import { Duration, Effect, Fiber, Redacted } from "effect"
import { TestClock } from "effect/testing"
import type { RequestListener } from "node:http"
import { GitCredentials } from "../../../runner/git/GitCredentials.ts"
import { encodePacket, flushPacket } from "../../../runner/git/PktLine.ts"
import { it } from "../../support/Effect.ts"
import { httpServer } from "../../support/HttpServer.ts"
import { advertisement, commit, listing, origins, refused, resolve, tagOf } from "./support/RemoteFixture.ts"

describe("hostile Git servers", () => {
  it.live("a redirect is never followed and never receives the credentials", () =>
    Effect.gen(function* () {
      const sentinel = yield* httpServer((_request, response) => void response.end())
      for (const status of [301, 302, 307, 308]) {
        const server = yield* httpServer((_request, response) => {
          response.writeHead(status, { location: `${sentinel.origin}/other.git/info/refs?token=x` })
          response.end()
        })
        const error = yield* refused({
          url: server.url,
          allow: [server.origin, sentinel.origin],
          credentials: GitCredentials.bearer(Redacted.make("hunter2"), origins(server.origin, sentinel.origin))
        })
        expect(error._tag).toBe("GitRedirectRefused")
        expect(error.message).toContain(`${sentinel.origin}/other.git:`)
        expect(error.message).not.toContain("token")
        expect(server.requests).toHaveLength(1)
      }
      expect(sentinel.requests).toEqual([])
    })
  )

  for (const [status, expected] of [
    [401, "GitAuthenticationFailed"],
    [403, "GitAuthenticationFailed"],
    [404, "GitRepositoryNotFound"],
    [429, "GitUnreachable"],
    [503, "GitUnreachable"]
  ] as const)
    it.live(`status ${status} is ${expected}`, () =>
      Effect.gen(function* () {
        const { url } = yield* httpServer((_request, response) => void response.writeHead(status).end("secret page"))
        const error = yield* refused({ url })
        expect(error._tag).toBe(expected)
        expect(error.message).not.toContain("secret page")
      })
    )

  for (const [name, listener] of [
    ["a web page", (_request, response) => void response.setHeader("content-type", "text/html").end("<html>")],
    ["nothing", advertisement()],
    ["no packets", advertisement(Buffer.from("what is this"))],
    ["a listing without end", advertisement(...listing)],
    ["a listing cut inside a packet", advertisement(...listing, Buffer.from("0040abc"))],
    ["a line that is not a ref", advertisement(...listing, encodePacket("zzz refs/heads/x\n"), flushPacket)],
    [
      "a SHA-256 repository",
      advertisement(
        ...listing.slice(0, 2),
        ...["version 2\n", "ls-refs\n", "object-format=sha256\n"].map(encodePacket),
        flushPacket
      )
    ],
    [
      "a compressed answer",
      (_request, response) => {
        response.setHeader("content-type", "application/x-git-upload-pack-advertisement")
        response.setHeader("content-encoding", "gzip")
        response.end(Bun.gzipSync(Buffer.concat([...listing, flushPacket])))
      }
    ]
  ] satisfies ReadonlyArray<readonly [string, RequestListener]>)
    it.live(`${name} is a protocol error`, () =>
      Effect.gen(function* () {
        const { url } = yield* httpServer(listener)
        expect(yield* tagOf({ url })).toBe("GitProtocolBroken")
      })
    )

  it.live("a refusal in the protocol is shown without its control characters", () =>
    Effect.gen(function* () {
      const { url } = yield* httpServer(advertisement(encodePacket("ERR no\u001b[2Jaccess\n"), flushPacket))
      const error = yield* refused({ url })
      expect(error).toMatchObject({ _tag: "GitRepositoryNotFound", message: "The Git server refused: no [2Jaccess" })
    })
  )

  it.live("a connection that closes in the middle of a response is an error", () =>
    Effect.gen(function* () {
      const { url } = yield* httpServer((_request, response) => {
        response.writeHead(200, {
          "content-type": "application/x-git-upload-pack-advertisement",
          "content-length": "1000000"
        })
        response.write(Buffer.concat([...listing, flushPacket]))
        setImmediate(() => response.destroy())
      })
      expect(["GitUnreachable", "GitProtocolBroken"]).toContain(yield* tagOf({ url }))
    })
  )

  it.live("an endless response is cut off at the limit", () =>
    Effect.gen(function* () {
      const { url } = yield* httpServer((_request, response) => {
        response.setHeader("content-type", "application/x-git-upload-pack-advertisement")
        const chunk = Buffer.alloc(65_536, 0x30)
        const more = () => {
          while (!response.destroyed && response.write(chunk));
        }
        response.on("drain", more)
        more()
      })
      expect(yield* refused({ url, limits: { responseBytes: 1_000_000 } })).toMatchObject({
        _tag: "GitLimitExceeded",
        limit: "responseBytes"
      })
    })
  )

  it.live("too many refs are cut off at the limit", () =>
    Effect.gen(function* () {
      const refs = Array.from({ length: 20 }, (_, index) => encodePacket(`${commit} refs/heads/b${index}\n`))
      const { url } = yield* httpServer(advertisement(...listing, ...refs, flushPacket))
      expect((yield* resolve({ url })).commit).toBe(commit)
      expect(yield* refused({ url, limits: { refs: 20 } })).toMatchObject({ _tag: "GitLimitExceeded", limit: "refs" })
    })
  )

  it.live("a server that falls silent is abandoned", () =>
    Effect.gen(function* () {
      const { url } = yield* httpServer((_request, response) => {
        response.setHeader("content-type", "application/x-git-upload-pack-advertisement")
        response.write("00")
      })
      expect(yield* tagOf({ url, limits: { idle: Duration.millis(50) } })).toBe("GitTimedOut")
    })
  )

  it.effect("a server that never responds is abandoned at the deadline", () =>
    Effect.gen(function* () {
      const { url, requests } = yield* httpServer(() => {})
      const fiber = yield* Effect.forkScoped(
        refused({ url, limits: { deadline: Duration.minutes(2), idle: Duration.hours(1) } })
      )
      while (requests.length === 0) yield* Effect.promise(() => new Promise((done) => setImmediate(done)))
      yield* TestClock.adjust(Duration.minutes(2))
      expect((yield* Fiber.join(fiber))._tag).toBe("GitTimedOut")
    })
  )
})
