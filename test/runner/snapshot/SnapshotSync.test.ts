import { describe, expect } from "bun:test"
import { Duration, Effect, Fiber, Layer, Redacted, Result } from "effect"
import { spawn } from "node:child_process"
import * as fs from "node:fs"
import { fileURLToPath } from "node:url"
import { GitCredentials } from "../../../runner/git/GitCredentials.ts"
import { serveRepository, type ServeOptions } from "../../../src/testing/git-server/GitServer.ts"
import { type CommitFiles, commitFiles, createRepository } from "../../../src/testing/git-server/RepositoryWriter.ts"
import { SyncProcessCommand } from "../../../runner/snapshot/SyncProcessCommand.ts"
import { SnapshotStore } from "../../../runner/snapshot/SnapshotStore.ts"
import { CredentialOrigin } from "../../../schema/records/CredentialOrigin.ts"
import { flushPacket } from "../../../runner/git/PktLine.ts"
import { it } from "../../support/Effect.ts"
import { httpServer } from "../../support/HttpServer.ts"
import { temporaryFolder } from "../../support/TemporaryFolder.ts"
import { advertisement, listing } from "../git/support/RemoteFixture.ts"
import { type SyncCall, syncLayer, syncOnce, type SyncSettings } from "./SyncHarness.ts"

const mixed: CommitFiles = {
  "main.tf": "terraform {}\r\n",
  ".gitattributes": "*.tf text eol=lf\nsecret.txt export-ignore\nversion.txt export-subst\n",
  "secret.txt": "ignored by archives\n",
  "version.txt": "$Format:%H$\n",
  "run.sh": { kind: "executable", content: "#!/bin/sh\n" },
  link: { kind: "symlink", target: "/etc/passwd" },
  vendor: { kind: "submodule", commit: "1".repeat(40) },
  "modules/app/main.tf": 'variable "a" {}\n',
  "modules/app/big.bin": new Uint8Array(3_000_000).fill(7),
  [`deep/${"long-folder-name/".repeat(12)}file-\u00e4.txt`]: "deep\n",
  "empty.txt": "",
  "pointer.bin": "version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 1\n",
  ".well-known/svc.json": '{"kind":"Repository"}'
}

const served = Effect.fnUntraced(function* (files: CommitFiles, options: Partial<ServeOptions> = {}) {
  const folder = yield* temporaryFolder
  const gitdir = `${folder}/repository`
  yield* createRepository({ gitdir })
  const commit = yield* commitFiles({ gitdir, files })
  const { url, origin } = yield* serveRepository({ ...options, gitdir })
  return { folder, gitdir, commit, url, origin, store: `${folder}/snapshots` }
})

const sync = (
  at: { readonly url: string; readonly origin: string; readonly store: string },
  call: Partial<SyncCall> = {},
  settings: Partial<SyncSettings> = {}
) =>
  syncOnce({ url: at.url, ...call }).pipe(
    Effect.provide(syncLayer({ origin: at.origin, folder: at.store, ...settings }))
  )

/** Reads from /proc. Returns an empty string if the process has exited in the meantime. */
const ofProcess = (read: () => string) => Result.getOrElse(Result.try(read), () => "")

/** Returns the command lines of the processes whose working directory is in a folder. */
const processesIn = (folder: string) =>
  fs
    .readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => ofProcess(() => fs.readlinkSync(`/proc/${pid}/cwd`)).startsWith(folder))
    .map((pid) => ofProcess(() => fs.readFileSync(`/proc/${pid}/cmdline`, "utf8")))

const turn = Effect.promise(() => new Promise((done) => setImmediate(done)))

/** Replaces the fetch process with a script. */
const instead = (script: string) =>
  Layer.succeed(SyncProcessCommand, { program: process.execPath, args: ["-e", script] })

describe("SnapshotSync", () => {
  it.live("a sync makes the same snapshot with and without native git, over every protocol", () =>
    Effect.gen(function* () {
      const at = yield* served(mixed)
      const lines: Array<string> = []
      const onProgress = (line: string) => Effect.sync(() => void lines.push(line))
      const library = yield* sync(at, { onProgress })
      const native = yield* sync(at, {}, { native: "required" })
      const old = yield* serveRepository({ gitdir: at.gitdir, protocolV2: false })
      const v1 = yield* sync({ ...at, ...old })
      expect(native).toEqual(library)
      expect(v1).toEqual(library)
      expect(library).toMatchObject({
        resolvedCommit: at.commit,
        fullRef: "refs/heads/main",
        // The digest must never change. Otherwise, svc would treat every stored snapshot as new.
        archiveDigest: "sha256:acb8e3b059016bc6982785713fd9ea41c7e68e1c590f18c63a3f1cde4b85f759",
        fileCount: 11,
        omitted: [
          { path: "link", kind: "symlink" },
          { path: "vendor", kind: "submodule" }
        ],
        warnings: ["Git LFS is not supported: these files hold only a pointer: pointer.bin."],
        repositoryManifest: { status: "present", bytes: new Uint8Array(Buffer.from('{"kind":"Repository"}')) }
      })
      expect(lines[0]).toBe(`Resolved refs/heads/main to commit ${at.commit}.`)
      expect(lines.at(-1)).toBe(`Archived 11 files, ${library.archiveSizeBytes} bytes.`)
      expect(fs.readdirSync(`${at.store}/tmp`)).toEqual([])

      yield* Effect.gen(function* () {
        const snapshots = yield* SnapshotStore
        const tree = yield* snapshots.open(library.archiveDigest)
        expect(tree.files.map((file) => file.path)).toEqual(tree.files.map((file) => file.path).toSorted())
        for (const [path, entry] of Object.entries(mixed)) {
          if (typeof entry !== "string" && !(entry instanceof Uint8Array)) continue
          expect(Buffer.from(yield* tree.read(path)).equals(Buffer.from(entry))).toBe(true)
        }
      }).pipe(Effect.provide(syncLayer({ origin: at.origin, folder: at.store })))
    })
  )

  it.live("a sync reports refs that cannot be used, with both Git implementations and over every protocol", () =>
    Effect.gen(function* () {
      const at = yield* served({ "a.tf": "" })
      fs.appendFileSync(
        `${at.gitdir}/packed-refs`,
        `${at.commit} refs/heads/main\u202eelif\n${at.commit} refs/heads/main\u3000コピー\n`
      )
      const old = yield* serveRepository({ gitdir: at.gitdir, protocolV2: false })
      for (const call of [at, { ...at, ...old }])
        for (const native of ["off", "required"] as const) {
          const { warnings } = yield* sync(call, { ref: "main" }, { native })
          expect(warnings).toEqual([
            'These refs of the repository have names that cannot be used, and were skipped: "refs/heads/main\u202eelif".'
          ])
          expect((yield* sync(call, { ref: "main\u3000コピー" }, { native })).resolvedCommit).toBe(at.commit)
        }
    })
  )

  it.live("a sync repeats a temporarily rejected fetch at most once, with both Git implementations", () =>
    Effect.gen(function* () {
      const store = yield* temporaryFolder
      for (const native of ["off", "auto", "required"] as const)
        for (const status of [429, 503]) {
          const server = yield* httpServer((request, response) => {
            if (request.method === "GET") advertisement(...listing, flushPacket)(request, response)
            else response.writeHead(status, { "retry-after": "0" }).end()
          })
          const error = yield* Effect.flip(sync({ ...server, store }, {}, { native }))
          expect([native, error._tag, error.message.includes(String(status))]).toEqual([native, "GitUnreachable", true])
          expect(server.requests.filter((line) => line.startsWith("POST")).length).toBeLessThanOrEqual(2)
        }
    })
  )

  it.live("a sync returns results that are larger than a pipe buffer", () =>
    Effect.gen(function* () {
      const links = Object.fromEntries(
        Array.from({ length: 3000 }, (_, index) => [
          `links/a-rather-long-name-${index}`,
          { kind: "symlink", target: "x" } as const
        ])
      )
      const at = yield* served({ "a.tf": "", ...links })
      expect((yield* sync(at)).omitted).toHaveLength(3000)
    })
  )

  it.live("a sync fetches exactly the expected commit", () =>
    Effect.gen(function* () {
      const at = yield* served({ "a.tf": "" })
      expect((yield* sync(at, { expectedCommit: at.commit })).resolvedCommit).toBe(at.commit)
      const moved = yield* Effect.flip(sync(at, { expectedCommit: "1".repeat(40) }))
      expect(moved).toMatchObject({ _tag: "GitRefMoved", expectedCommit: "1".repeat(40) })
    })
  )

  it.live("a sync follows a ref that moves during the fetch", () =>
    Effect.gen(function* () {
      const at = yield* served({ "a.tf": "1" }, { onlyListed: true })
      let moved: string | undefined
      const onProgress = () =>
        Effect.suspend(() => {
          if (moved !== undefined) return Effect.void
          moved = ""
          return commitFiles({ gitdir: at.gitdir, files: { "a.tf": "2" } }).pipe(
            Effect.map((commit) => {
              moved = commit
            })
          )
        })
      const synced = yield* sync(at, { onProgress })
      expect(synced.resolvedCommit).not.toBe(at.commit)
      expect(synced.resolvedCommit).toBe(`${moved}`)
    })
  )

  it.live("a sync signs in without disclosing the credentials", () =>
    Effect.gen(function* () {
      const token = "svc-canary-4f1d9c"
      const at = yield* served({ "a.tf": "" }, { authorization: Redacted.make(`Bearer ${token}`) })
      const lines: Array<string> = []
      const commandLines: Array<string> = []
      const onProgress = (line: string) =>
        Effect.sync(() => {
          lines.push(line)
          commandLines.push(...processesIn(at.store))
        })
      const credentials = GitCredentials.bearer(Redacted.make(token), [CredentialOrigin.make(at.origin)])
      for (const native of ["off", "required"] as const)
        expect((yield* sync(at, { credentials, onProgress }, { native })).resolvedCommit).toBe(at.commit)
      expect(commandLines.filter((line) => line !== "").length).toBeGreaterThan(0)
      expect([...lines, ...commandLines].join()).not.toContain(token)
      expect((yield* Effect.flip(sync(at)))._tag).toBe("GitAuthenticationFailed")
    })
  )

  it.live("a sync kills a process that uses too much memory, and cleans up after it", () =>
    Effect.gen(function* () {
      const at = yield* served({ "a.tf": "" })
      const hungry = "const kept = []; setInterval(() => kept.push(Buffer.alloc(20_000_000, 1)), 5)"
      const error = yield* sync(at, {}, { limits: { rssBytes: 300_000_000 } }).pipe(
        Effect.provide(instead(hungry)),
        Effect.flip
      )
      expect(error).toMatchObject({ _tag: "GitLimitExceeded", limit: "rssBytes" })
      expect(processesIn(at.store)).toEqual([])
      expect(fs.readdirSync(`${at.store}/tmp`)).toEqual([])
    })
  )

  it.live("a sync kills a process that has not exited by the deadline", () =>
    Effect.gen(function* () {
      const at = yield* served({ "a.tf": "" })
      const error = yield* sync(at, {}, { limits: { deadline: Duration.millis(500) } }).pipe(
        Effect.provide(instead("setInterval(() => {}, 1000)")),
        Effect.flip
      )
      expect(error._tag).toBe("GitTimedOut")
      expect(processesIn(at.store)).toEqual([])
      expect(fs.readdirSync(`${at.store}/tmp`)).toEqual([])
    })
  )

  it.live("an interrupted sync process exits", () =>
    Effect.gen(function* () {
      const at = yield* served({ "a.tf": "" })
      const fiber = yield* sync(at).pipe(Effect.provide(instead("setInterval(() => {}, 1000)")), Effect.forkScoped)
      while (processesIn(at.store).length === 0) yield* turn
      yield* Fiber.interrupt(fiber)
      expect(processesIn(at.store)).toEqual([])
      expect(fs.readdirSync(`${at.store}/tmp`)).toEqual([])
    })
  )

  for (const [name, script] of [
    ["nothing", ""],
    ["nonsense", "console.log('{}')"],
    ["an error", "process.exit(3)"]
  ] as const)
    it.live(`a sync fails if its process returns ${name}`, () =>
      Effect.gen(function* () {
        const at = yield* served({ "a.tf": "" })
        const error = yield* sync(at).pipe(Effect.provide(instead(script)), Effect.flip)
        expect(error._tag).toBe("SnapshotSyncFailed")
      })
    )

  for (const [way, native] of [
    ["", {}],
    [", native git included", { native: { program: Bun.which("git") ?? "git", required: true } }]
  ] as const)
    it.live(`a sync process exits once no caller is waiting for it${way}`, () =>
      Effect.gen(function* () {
        const folder = yield* temporaryFolder
        const silent = yield* httpServer(() => {})
        const job = {
          endpoint: { url: silent.url, addresses: ["127.0.0.1"] },
          oid: "1".repeat(40),
          commit: "1".repeat(40),
          ref: "HEAD",
          path: ".",
          folder,
          ...native,
          limits: { packBytes: 1e6, files: 10, fileBytes: 1e6, totalBytes: 1e6, depth: 10, idleMillis: 60_000 }
        }
        const program = fileURLToPath(new URL("../../../runner/git/SyncMain.ts", import.meta.url))
        const child = spawn(process.execPath, [program], {
          cwd: folder,
          detached: true,
          stdio: ["pipe", "ignore", "ignore"]
        })
        const ended = new Promise((done) => child.on("exit", done))
        child.stdin.write(`${JSON.stringify(job)}\n`)
        while (silent.requests.length === 0) yield* turn
        expect(processesIn(folder)).not.toEqual([])
        child.stdin.end()
        yield* Effect.promise(() => ended)
        while (processesIn(folder).length > 0) yield* turn
      })
    )

  it.live("a sync rejects paths that are not canonical", () =>
    Effect.gen(function* () {
      const at = yield* served({ "a/b.tf": "" })
      for (const path of ["", "..", "/a", "a/", "a//b", "./a", "a\\b", "a/../a", ".git"])
        expect((yield* Effect.flip(sync(at, { path })))._tag).toBe("SnapshotPathNotFound")
    })
  )
})
