import { describe, expect } from "bun:test"
import { Duration, Effect, Fiber, Redacted } from "effect"
import { TestClock } from "effect/testing"
import type { RequestListener } from "node:http"
import { GitCredentials } from "../../../runner/git/GitCredentials.ts"
import { encodePacket, flushPacket } from "../../../runner/git/PktLine.ts"
import { it } from "../../support/Effect.ts"
import { httpServer } from "../../support/HttpServer.ts"
import { GitRemote } from "../../../runner/git/GitRemote.ts"
import { GitRef } from "../../../schema/git/GitRef.ts"
import {
  advertisement,
  commit,
  listing,
  origins,
  refused,
  remote,
  resolve,
  tagOf,
  urlOf
} from "./support/RemoteFixture.ts"

describe("Hostile Git servers", () => {
  it.live("a Git fetch does not follow a redirect, and never sends the credentials to the redirect's target", () =>
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
    it.live(`a Git server's status ${status} is reported as ${expected}`, () =>
      Effect.gen(function* () {
        const { url } = yield* httpServer((_request, response) => void response.writeHead(status).end("secret page"))
        const error = yield* refused({ url })
        expect(error._tag).toBe(expected)
        expect(error.message).not.toContain("secret page")
      })
    )

  it.live("a Git fetch reports the content type of web pages, plain files and other unexpected responses", () =>
    Effect.gen(function* () {
      const answers = [
        ["text/html; charset=utf-8", "a web page (HTML)"],
        ["TEXT/HTML", "a web page (HTML)"],
        ["text/plain", "plain files"],
        ["application/json", 'the content type is "application/json"'],
        [undefined, "the content type is missing"]
      ] as const
      for (const [type, expected] of answers) {
        const { url } = yield* httpServer((_request, response) => {
          if (type !== undefined) response.setHeader("content-type", type)
          response.end("<html>hunter2</html>")
        })
        const error = yield* refused({ url })
        expect([type, error._tag, error.message.includes(expected), error.message.includes("hunter2")]).toEqual([
          type,
          "GitProtocolBroken",
          true,
          false
        ])
      }
    })
  )

  it.live("a Git response may have parameters in its content type", () =>
    Effect.gen(function* () {
      const { url } = yield* httpServer((_request, response) => {
        response.setHeader("content-type", "Application/X-git-upload-pack-advertisement; charset=utf-8")
        response.end(Buffer.concat([...listing, flushPacket]))
      })
      expect((yield* resolve({ url })).commit).toBe(commit)
    })
  )

  it.live(
    "a server that requests a retry receives a second request after the requested time, but no third request",
    () =>
      Effect.gen(function* () {
        for (const status of [429, 503]) {
          /** Starts a server that requests a retry this many times before it responds normally. */
          const busyFor = (times: number) => {
            let left = times
            return httpServer((request, response) => {
              if (left-- > 0) response.writeHead(status, { "retry-after": "0" }).end()
              else advertisement(...listing, flushPacket)(request, response)
            })
          }
          const busy = yield* busyFor(1)
          expect((yield* resolve({ url: busy.url })).commit).toBe(commit)
          expect(busy.requests).toHaveLength(2)
          const busier = yield* busyFor(2)
          expect((yield* refused({ url: busier.url }))._tag).toBe("GitUnreachable")
          expect(busier.requests).toHaveLength(2)
        }
      })
  )

  it.live(
    "a server whose retry time exceeds the limit receives no second request, and the error contains the time",
    () =>
      Effect.gen(function* () {
        const later = new Date(Date.now() + 3_600_000).toUTCString()
        for (const [header, expected] of [
          ["3600", /wait 3600 seconds/],
          [later, /wait 3[56]\d\d seconds/]
        ] as const) {
          const { requests, url } = yield* httpServer(
            (_request, response) => void response.writeHead(429, { "retry-after": header }).end()
          )
          const error = yield* refused({ url })
          expect(error.message).toMatch(expected)
          expect(requests).toHaveLength(1)
        }
      })
  )

  it.live("a protocol v0 server's valid refs are listed, and its other refs are skipped", () =>
    Effect.gen(function* () {
      const names = [
        "refs/heads/main",
        "refs/heads/main\u3000コピー",
        "refs/heads/main\u00a0x",
        "refs/heads/a b",
        "refs/heads/\u202ehidden"
      ]
      const lines = [
        ...names.map((name) => Buffer.from(`${commit} ${name}\n`)),
        Buffer.concat([Buffer.from(`${commit} refs/heads/main`), Buffer.of(0xff, 0x0a)])
      ]
      const { url } = yield* httpServer(
        advertisement(...listing, ...lines.map((line) => encodePacket(line)), flushPacket)
      )
      for (const ref of ["main", "main\u3000コピー", "main\u00a0x"]) {
        expect((yield* resolve({ url, ref })).fullRef).toBe(`refs/heads/${ref}`)
      }
      const located = yield* Effect.flatMap(GitRemote, (service) =>
        service.locate({ url: urlOf({ url }), ref: GitRef.make("main") })
      ).pipe(Effect.provide(remote({ url })))
      expect(located.skipped).toEqual(["refs/heads/main\ufffd"])
    })
  )

  it.live("an empty or SHA-256 repository of a protocol v0 server is rejected with the reason", () =>
    Effect.gen(function* () {
      const start = listing.slice(0, 2)
      const zero = encodePacket(`${"0".repeat(40)} capabilities^{}\0shallow\n`)
      for (const rest of [[], [zero]]) {
        const { url } = yield* httpServer(advertisement(...start, ...rest, flushPacket))
        expect(yield* tagOf({ url })).toBe("GitRepositoryEmpty")
      }
      for (const format of ["", " object-format=sha256"]) {
        const { url } = yield* httpServer(
          advertisement(...start, encodePacket(`${"1".repeat(64)} HEAD\0shallow${format}\n`), flushPacket)
        )
        expect((yield* refused({ url })).message).toContain("SHA-256")
      }
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

  it.live("an error sent by a Git server is shown without its control characters", () =>
    Effect.gen(function* () {
      const { url } = yield* httpServer(advertisement(encodePacket("ERR no\u001b[2Jaccess\n"), flushPacket))
      const error = yield* refused({ url })
      expect(error).toMatchObject({ _tag: "GitRepositoryNotFound", message: "The Git server refused: no [2Jaccess" })
    })
  )

  it.live("a connection that closes during a response is an error", () =>
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

  it.live("an endless Git response is cut off at the limit", () =>
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

  it.live("a list of too many Git refs is truncated at the limit", () =>
    Effect.gen(function* () {
      const refs = Array.from({ length: 20 }, (_, index) => encodePacket(`${commit} refs/heads/b${index}\n`))
      const { url } = yield* httpServer(advertisement(...listing, ...refs, flushPacket))
      expect((yield* resolve({ url })).commit).toBe(commit)
      expect(yield* refused({ url, limits: { refs: 20 } })).toMatchObject({ _tag: "GitLimitExceeded", limit: "refs" })
    })
  )

  it.live("a Git fetch is aborted if the server stops sending", () =>
    Effect.gen(function* () {
      const { url } = yield* httpServer((_request, response) => {
        response.setHeader("content-type", "application/x-git-upload-pack-advertisement")
        response.write("00")
      })
      expect(yield* tagOf({ url, limits: { idle: Duration.millis(50) } })).toBe("GitTimedOut")
    })
  )

  it.effect("a Git fetch is aborted at the deadline if the server never responds", () =>
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
