import { describe, expect } from "bun:test"
import { NodeServices } from "@effect/platform-node"
import { Effect, Layer, Redacted, Result, Schema, type Scope } from "effect"
import { GitCredentials } from "../../../runner/git/GitCredentials.ts"
import type { GitError } from "../../../runner/git/GitError.ts"
import { GitPolicy } from "../../../runner/git/GitPolicy.ts"
import { parseGitRef } from "../../../schema/git/GitRef.ts"
import { GitRemote } from "../../../runner/git/GitRemote.ts"
import { GitAddress } from "../../../schema/git/GitAddress.ts"
import { InstalledGit } from "../../../runner/git/InstalledGit.ts"
import type { SnapshotError } from "../../../runner/snapshot/SnapshotError.ts"
import { runSyncJob } from "../../../runner/snapshot/SyncWorker.ts"
import { it } from "../../support/Effect.ts"
import { serveByHttpBackend } from "../../support/GitServer.ts"
import { httpServer } from "../../support/HttpServer.ts"
import { temporaryFolder } from "../../support/TemporaryFolder.ts"
import { origins, repository } from "./support/RemoteFixture.ts"

const token = "svc-canary-91b2"
const header = `Bearer ${token}`
const credentialsFor = (...allowed: ReadonlyArray<string>) =>
  GitCredentials.bearer(Redacted.make(token), origins(...allowed))

/** Bypasses the parser, because the layers below must handle every address safely. */
const unchecked = (url: string) => GitAddress.make(url)

const limits = {
  packBytes: 50_000_000,
  files: 1000,
  fileBytes: 10_000_000,
  totalBytes: 50_000_000,
  depth: 20,
  idleMillis: 10_000
}

const services = (url: string) =>
  Layer.mergeAll(GitRemote.layer, InstalledGit.layer).pipe(
    Layer.provide(GitPolicy.layerWith({ allowOrigins: [new URL(url).origin], native: "required" })),
    Layer.provideMerge(NodeServices.layer)
  )

const list = (url: string, credentials: GitCredentials) =>
  Effect.gen(function* () {
    const remote = yield* GitRemote
    const ref = Result.getOrThrow(parseGitRef("HEAD"))
    return (yield* remote.resolve({ url: unchecked(url), ref, credentials })).commit
  }).pipe(Effect.provide(services(url)))

const newest = (url: string, credentials: GitCredentials) =>
  Effect.flatMap(GitRemote, (remote) => remote.newestStableTag({ url: unchecked(url), credentials })).pipe(
    Effect.provide(services(url))
  )

/** Fetches as the sync process does, with one of the two Git implementations. */
const fetchBy = (way: "native" | "library") => (url: string, credentials: GitCredentials, commit: string) =>
  Effect.gen(function* () {
    const native = yield* (yield* InstalledGit).usable
    if (native === undefined) return yield* Effect.die("these tests need an installed git")
    const job = {
      endpoint: { url: unchecked(url), addresses: ["127.0.0.1"] as const },
      oid: commit,
      commit,
      ref: "HEAD",
      path: ".",
      credentials,
      limits,
      ...(way === "native" ? { native: { program: native.program, required: true } } : {}),
      folder: yield* temporaryFolder
    }
    return (yield* runSyncJob(job, () => {})).resolvedCommit
  }).pipe(Effect.provide(services(url)))

type Way = (
  url: string,
  credentials: GitCredentials,
  commit: string
) => Effect.Effect<unknown, GitError | SnapshotError, Scope.Scope>

const ways: ReadonlyArray<readonly [string, Way]> = [
  ["the listing of refs", list],
  ["the newest version", newest],
  ["the fetch by isomorphic-git", fetchBy("library")],
  ["the fetch by native git", fetchBy("native")]
]

/** Starts two Git servers. The credentials belong to the first server. */
const servers = Effect.gen(function* () {
  const { gitdir, second } = yield* repository
  const trusted = yield* serveByHttpBackend(gitdir)
  const foreign = yield* serveByHttpBackend(gitdir)
  return { trusted, foreign, commit: second }
})

describe("Credential origins", () => {
  for (const [name, send] of ways.filter(([name]) => name !== "the newest version"))
    it.live(`${name} sends credentials to the origins of the credentials`, () =>
      Effect.gen(function* () {
        const { commit, foreign, trusted } = yield* servers
        const allowed = credentialsFor(trusted.origin, `${foreign.origin}/repository.git/`)
        expect(yield* send(trusted.url, allowed, commit)).toBe(commit)
        expect(yield* send(foreign.url, allowed, commit)).toBe(commit)
        for (const server of [trusted, foreign]) {
          expect(server.authorizations.length).toBeGreaterThan(0)
          expect(new Set(server.authorizations)).toEqual(new Set([header]))
        }
      })
    )

  for (const [name, send] of ways)
    it.live(`${name} sends no request with credentials to other origins`, () =>
      Effect.gen(function* () {
        const { commit, foreign, trusted } = yield* servers
        const elsewhere = [
          [foreign.url, [trusted.origin]],
          [foreign.url, []],
          // In these cases, the credentials are for the same server under another host name, without its port, or with
          // another scheme.
          [trusted.url, [`http://localhost:${trusted.port}`]],
          [trusted.url, ["http://127.0.0.1"]],
          [trusted.url, [`https://127.0.0.1:${trusted.port}`]],
          // The address contains the trusted origin or a token as its user name, which isomorphic-git sends in a separate header.
          [`http://127.0.0.1:${trusted.port}@127.0.0.1:${foreign.port}/repository.git`, [trusted.origin]],
          [`http://${token}:x@127.0.0.1:${foreign.port}/repository.git`, [foreign.origin]],
          [`${foreign.origin}/${trusted.origin}/repository.git`, [trusted.origin]]
        ] as const
        for (const [url, allowed] of elsewhere) {
          const error = yield* Effect.flip(send(url, credentialsFor(...allowed), commit))
          const expected = url.includes("@")
            ? ["GitCredentialsWithheld", "GitProtocolBroken"]
            : ["GitCredentialsWithheld"]
          expect(expected, url).toContain(error._tag)
          expect(error.message).not.toContain(token)
        }
        expect([...trusted.requests, ...foreign.requests]).toEqual([])
      })
    )

  for (const [name, send] of ways)
    it.live(`no spelling of a path makes ${name} send credentials outside their prefix`, () =>
      Effect.gen(function* () {
        const server = yield* httpServer((_request, response) => void response.writeHead(404).end())
        const credentials = credentialsFor(`${server.origin}/team/`)
        for (const path of [
          "/other/a.git",
          "/teams/a.git",
          "/team.git",
          "/Team/a.git",
          "/team/../other/a.git",
          "/team/%2e%2e/other/a.git",
          "/team/..%2fother/a.git",
          "/team%2f../other/a.git",
          "/team/..;/other/a.git",
          "/team/..\\other/a.git",
          "/team/%252e%252e/other/a.git",
          "/team/%c0%ae%c0%ae/other/a.git",
          "/team//../other/a.git",
          "//team/a.git",
          "/./team/../other/a.git"
        ]) {
          const error = yield* Effect.flip(send(`${server.origin}${path}`, credentials, "1".repeat(40)))
          expect(`${path} ${error._tag}`).toBe(`${path} GitCredentialsWithheld`)
        }
        expect(server.requests).toEqual([])
        yield* Effect.flip(send(`${server.origin}/team/a.git`, credentials, "1".repeat(40)))
        expect(server.authorizations).toEqual([header])
      })
    )

  for (const [name, send] of ways)
    for (const status of [301, 302, 303, 307, 308])
      it.live(`${name} does not forward credentials across a ${status} redirect`, () =>
        Effect.gen(function* () {
          const foreign = yield* httpServer((_request, response) => void response.end())
          let target = ""
          const trusted = yield* httpServer((_request, response) => {
            response.writeHead(status, { location: target }).end()
          })
          const credentials = credentialsFor(`${trusted.origin}/team/`)
          for (target of [
            `${foreign.origin}/team/a.git/info/refs?service=git-upload-pack`,
            `${trusted.origin}@127.0.0.1:${foreign.port}/team/a.git/info/refs`,
            `//127.0.0.1:${foreign.port}/team/a.git/info/refs`,
            // An address on the same server, but outside the prefix of the credentials.
            "/other/a.git/info/refs?service=git-upload-pack",
            "/team/../other/a.git/info/refs?service=git-upload-pack"
          ])
            expect((yield* Effect.flip(send(`${trusted.origin}/team/a.git`, credentials, "1".repeat(40))))._tag).toBe(
              "GitRedirectRefused"
            )
          expect(foreign.requests).toEqual([])
          expect(trusted.requests.filter((each) => !each.startsWith("GET /team/a.git/info/refs?"))).toEqual([])
          expect(trusted.requests).toHaveLength(5)
        })
      )
})

describe("Process credentials", () => {
  it.effect("credentials passed to a process keep their origins, and other processes cannot read their secret", () =>
    Effect.gen(function* () {
      const credentials = credentialsFor("https://git.example.com/team/")
      const encoded = yield* Schema.encodeEffect(GitCredentials.Handed)(credentials)
      const handed = yield* Schema.decodeEffect(GitCredentials.Handed)(encoded)
      expect(handed.origins).toEqual(credentials.origins)
      expect(handed.authorizationFor("https://git.example.com/other/a")._tag).toBe("Failure")
      const sent = yield* Effect.fromResult(handed.authorizationFor("https://git.example.com/team/a?service=x"))
      expect(Redacted.value(sent)).toBe(header)
      expect(`${JSON.stringify(credentials)} ${Bun.inspect(credentials)}`).not.toContain(token)
    })
  )
})
