import { describe, expect } from "bun:test"
import { Duration, Effect, Fiber, Layer, Redacted, Result } from "effect"
import { TestClock } from "effect/testing"
import type { RequestListener } from "node:http"
import { AddressResolver } from "../../../runner/git/AddressResolver.ts"
import type { GitCredentials } from "../../../runner/git/GitCredentials.ts"
import { type GitLimits, GitPolicy } from "../../../runner/git/GitPolicy.ts"
import { parseGitRef } from "../../../runner/git/GitRef.ts"
import { GitRemote } from "../../../runner/git/GitRemote.ts"
import { serveRepository } from "../../../runner/git/GitServer.ts"
import { parseGitUrl } from "../../../runner/git/GitUrl.ts"
import { encodePacket, flushPacket } from "../../../runner/git/PktLine.ts"
import { commitFiles, createRepository, tagCommit } from "../../../runner/git/RepositoryWriter.ts"
import { it } from "../../support/Effect.ts"
import { httpServer } from "../../support/HttpServer.ts"
import { temporaryFolder } from "../../support/TemporaryFolder.ts"

interface Ask {
  readonly url: string
  readonly ref?: string
  readonly allow?: ReadonlyArray<string>
  readonly limits?: Partial<GitLimits>
  readonly credentials?: GitCredentials
}

const remote = (ask: Ask) =>
  GitRemote.layer.pipe(
    Layer.provide(
      GitPolicy.layerWith({ allowOrigins: ask.allow ?? [new URL(ask.url).origin], limits: ask.limits ?? {} })
    )
  )

const urlOf = (ask: Ask) =>
  Result.getOrThrow(parseGitUrl(ask.url, { allowOrigins: ask.allow ?? [new URL(ask.url).origin] }))

const resolve = (ask: Ask) =>
  Effect.flatMap(GitRemote, (service) =>
    service.resolve({
      url: urlOf(ask),
      ref: Result.getOrThrow(parseGitRef(ask.ref ?? "HEAD")),
      credentials: ask.credentials
    })
  ).pipe(Effect.provide(remote(ask)))

const newest = (ask: Ask) =>
  Effect.flatMap(GitRemote, (service) => service.newestStableTag({ url: urlOf(ask) })).pipe(Effect.provide(remote(ask)))

const refused = (ask: Ask) => Effect.flip(resolve(ask))
const tagOf = (ask: Ask) => Effect.map(refused(ask), (error) => error._tag)

const repository = Effect.gen(function* () {
  const gitdir = `${yield* temporaryFolder}/repository`
  yield* createRepository({ gitdir })
  const first = yield* commitFiles({ gitdir, files: { "main.tf": "1" } })
  const second = yield* commitFiles({ gitdir, files: { "main.tf": "2" } })
  return { gitdir, first, second }
})

const advertisement = (...packets: ReadonlyArray<Uint8Array>) =>
  ((_request, response) => {
    response.setHeader("content-type", "application/x-git-upload-pack-advertisement")
    response.end(Buffer.concat(packets))
  }) satisfies RequestListener

const commit = "1".repeat(40)
const listing = [encodePacket("# service=git-upload-pack\n"), flushPacket, encodePacket(`${commit} HEAD\0shallow\n`)]

describe("GitRemote.resolve", () => {
  for (const protocolV2 of [true, false])
    it.live(`finds what each kind of ref stands for, protocol v2 ${protocolV2 ? "on" : "off"}`, () =>
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

  it.live("an empty repository is told as such", () =>
    Effect.gen(function* () {
      const gitdir = `${yield* temporaryFolder}/repository`
      yield* createRepository({ gitdir })
      const { url } = yield* serveRepository({ gitdir })
      expect(yield* tagOf({ url })).toBe("GitRepositoryEmpty")
    })
  )

  it.live("signs in, and keeps what it signs in with to itself", () =>
    Effect.gen(function* () {
      const { gitdir, second } = yield* repository
      const basic = Buffer.from("me:hunter2").toString("base64")
      const { url } = yield* serveRepository({ gitdir, authorization: Redacted.make(`Basic ${basic}`) })
      const credentials = (password: string): GitCredentials => ({
        kind: "basic",
        username: Redacted.make("me"),
        password: Redacted.make(password)
      })
      expect((yield* resolve({ url, credentials: credentials("hunter2") })).commit).toBe(second)
      expect(yield* tagOf({ url })).toBe("GitAuthenticationFailed")
      const wrong = yield* refused({ url, credentials: credentials("hunter3") })
      expect(wrong._tag).toBe("GitAuthenticationFailed")
      expect(JSON.stringify(wrong)).not.toContain("hunter3")
    })
  )
})

describe("GitRemote.newestStableTag", () => {
  it.live("answers the newest tag with its peeled commit", () =>
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

describe("hostile Git servers", () => {
  it.live("a redirect is never followed and never gets the credentials", () =>
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
          credentials: { kind: "bearer", token: Redacted.make("hunter2") }
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
    ["a line that is no ref", advertisement(...listing, encodePacket("zzz refs/heads/x\n"), flushPacket)],
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
    it.live(`${name} is a broken protocol`, () =>
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

  it.live("a connection that ends inside an answer is no answer", () =>
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

  it.live("an endless answer stops at the limit", () =>
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

  it.live("too many refs stop at the limit", () =>
    Effect.gen(function* () {
      const refs = Array.from({ length: 20 }, (_, index) => encodePacket(`${commit} refs/heads/b${index}\n`))
      const { url } = yield* httpServer(advertisement(...listing, ...refs, flushPacket))
      expect((yield* resolve({ url })).commit).toBe(commit)
      expect(yield* refused({ url, limits: { refs: 20 } })).toMatchObject({ _tag: "GitLimitExceeded", limit: "refs" })
    })
  )

  it.live("a server that falls silent is left", () =>
    Effect.gen(function* () {
      const { url } = yield* httpServer((_request, response) => {
        response.setHeader("content-type", "application/x-git-upload-pack-advertisement")
        response.write("00")
      })
      expect(yield* tagOf({ url, limits: { idle: Duration.millis(50) } })).toBe("GitTimedOut")
    })
  )

  it.effect("a server that never answers ends with the deadline", () =>
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
    it.live(`a name at ${addresses.join(" and ")} is refused before any connection`, () =>
      Effect.gen(function* () {
        const sentinel = yield* httpServer((_request, response) => void response.end())
        const url = `https://git.example:${sentinel.port}/a.git`
        const resolver = answering(addresses)
        const error = yield* refused({ url, allow: [] }).pipe(Effect.provide(resolver.layer))
        expect(error).toMatchObject({ _tag: "GitAddressRefused", host: "git.example" })
        expect(sentinel.requests).toEqual([])
      })
    )

  it.live("a name that is gone is unreachable", () =>
    Effect.gen(function* () {
      const error = yield* refused({ url: "https://git.example/a.git", allow: [] }).pipe(
        Effect.provide(answering().layer)
      )
      expect(error._tag).toBe("GitUnreachable")
    })
  )

  it.live("the first answer counts for every connection, whatever the name says later", () =>
    Effect.gen(function* () {
      const { gitdir, second } = yield* repository
      const { origin } = yield* serveRepository({ gitdir })
      const port = new URL(origin).port
      // Nobody listens at the second answer.
      const resolver = answering(["127.0.0.1"], ["127.0.0.2"])
      const url = `http://git.example:${port}/repository.git`
      const found = yield* resolve({ url }).pipe(Effect.provide(resolver.layer))
      expect(found.commit).toBe(second)
      expect(resolver.asked).toEqual(["git.example"])
    })
  )

  it.live("an address that does not answer is passed over for the next one", () =>
    Effect.gen(function* () {
      const { gitdir, second } = yield* repository
      const { origin } = yield* serveRepository({ gitdir })
      const url = `http://git.example:${new URL(origin).port}/repository.git`
      // Only 127.0.0.1 has a listener.
      const resolver = answering(["127.0.0.9", "127.0.0.1"])
      const located = yield* Effect.flatMap(GitRemote, (service) =>
        service.locate({ url: urlOf({ url }), ref: Result.getOrThrow(parseGitRef("HEAD")) })
      ).pipe(Effect.provide(Layer.merge(remote({ url }), resolver.layer)))
      expect(located.commit).toBe(second)
      expect(located.endpoint.addresses).toEqual(["127.0.0.1"])
    })
  )
})
