import { describe, expect } from "bun:test"
import { NodeServices } from "@effect/platform-node"
import { Effect, Redacted, Stream } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import * as git from "isomorphic-git"
import http from "isomorphic-git/http/node"
import * as fs from "node:fs"
import { serveRepository } from "../../../../src/testing/git-server/GitServer.ts"
import { commitFiles, createRepository, tagCommit } from "../../../../src/testing/git-server/RepositoryWriter.ts"
import { it } from "../../../support/Effect.ts"
import { temporaryFolder } from "../../../support/TemporaryFolder.ts"

const nativeGit = (args: ReadonlyArray<string>, environment: Record<string, string> = {}) =>
  Effect.gen(function* () {
    const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
    const handle = yield* spawner.spawn(
      ChildProcess.make("git", args, {
        env: {
          PATH: process.env["PATH"] ?? "",
          GIT_CONFIG_GLOBAL: "/dev/null",
          GIT_CONFIG_NOSYSTEM: "1",
          GIT_TERMINAL_PROMPT: "0",
          ...environment
        }
      })
    )
    const output = yield* handle.all.pipe(Stream.decodeText(), Stream.mkString)
    return { output, code: Number(yield* handle.exitCode) }
  }).pipe(Effect.scoped, Effect.provide(NodeServices.layer), Effect.orDie)

const sample = Effect.gen(function* () {
  const folder = yield* temporaryFolder
  const gitdir = `${folder}/repository`
  yield* createRepository({ gitdir })
  const first = yield* commitFiles({ gitdir, files: { "main.tf": "# one\n" } })
  const second = yield* commitFiles({
    gitdir,
    files: { "main.tf": "# two\n", "modules/a/main.tf": "", "run.sh": { kind: "executable", content: "#!/bin/sh\n" } }
  })
  const tag = yield* tagCommit({ gitdir, name: "v1.0.0", target: first, message: "First" })
  return { folder, gitdir, first, second, tag }
})

describe("GitServer", () => {
  for (const version of ["0", "1", "2"])
    it.live(`native git makes full and shallow clones over protocol ${version}`, () =>
      Effect.gen(function* () {
        const { folder, gitdir, first, second, tag } = yield* sample
        const { url } = yield* serveRepository({ gitdir })
        const protocol = ["-c", `protocol.version=${version}`]
        const listed = yield* nativeGit([...protocol, "ls-remote", url])
        expect(listed.output.trim().split("\n")).toEqual([
          `${second}\tHEAD`,
          `${second}\trefs/heads/main`,
          `${tag}\trefs/tags/v1.0.0`,
          `${first}\trefs/tags/v1.0.0^{}`
        ])
        for (const [name, depth, commits] of [
          ["whole", [], 2],
          ["shallow", ["--depth=1"], 1]
        ] as const) {
          const cloned = yield* nativeGit([...protocol, "clone", "-q", ...depth, url, `${folder}/${name}`])
          expect(cloned).toEqual({ output: "", code: 0 })
          const log = yield* nativeGit(["-C", `${folder}/${name}`, "log", "--format=%H", "main"])
          expect(log.output.trim().split("\n")).toHaveLength(commits)
          const checked = yield* nativeGit(["-C", `${folder}/${name}`, "fsck", "--strict"])
          expect(checked.code).toBe(0)
        }
        expect(fs.readFileSync(`${folder}/shallow/main.tf`, "utf8")).toBe("# two\n")
      })
    )

  it.live("isomorphic-git lists and fetches from the demo server", () =>
    Effect.gen(function* () {
      const { folder, gitdir, first, second, tag } = yield* sample
      const { url } = yield* serveRepository({ gitdir })
      const refs = yield* Effect.promise(() => git.listServerRefs({ http, url, prefix: "refs/tags/", peelTags: true }))
      expect(refs).toEqual([{ ref: "refs/tags/v1.0.0", oid: tag, peeled: first }])
      const into = `${folder}/into`
      const fetched = yield* Effect.promise(async () => {
        await git.init({ fs, gitdir: into, bare: true })
        await git.addRemote({ fs, gitdir: into, remote: "origin", url })
        return git.fetch({
          fs,
          http,
          gitdir: into,
          url,
          ref: "refs/heads/main",
          depth: 1,
          singleBranch: true,
          tags: false
        })
      })
      expect(fetched.fetchHead).toBe(second)
    })
  )

  it.live("the Git server for tests requires the specified header", () =>
    Effect.gen(function* () {
      const { gitdir } = yield* sample
      const { url } = yield* serveRepository({ gitdir, authorization: Redacted.make("Bearer right") })
      const wrong = yield* nativeGit(["-c", "http.extraHeader=Authorization: Bearer wrong", "ls-remote", url])
      expect(wrong.code).not.toBe(0)
      const right = yield* nativeGit(["-c", "http.extraHeader=Authorization: Bearer right", "ls-remote", url])
      expect(right.code).toBe(0)
    })
  )

  it.live("the Git server for tests refuses requests that it does not support", () =>
    Effect.gen(function* () {
      const { gitdir } = yield* sample
      const { origin, url } = yield* serveRepository({ gitdir })
      const status = (path: string, init?: RequestInit) =>
        Effect.promise(() => fetch(path, init)).pipe(Effect.map((response) => response.status))
      expect(yield* status(`${origin}/other.git/info/refs?service=git-upload-pack`)).toBe(404)
      expect(yield* status(`${url}/info/refs?service=git-receive-pack`)).toBe(404)
      expect(yield* status(`${url}/git-upload-pack`, { method: "POST", body: "zzzz" })).toBe(400)
      const missing = `0032want ${"1".repeat(40)}\n00000009done\n`
      const refusal = yield* Effect.promise(() =>
        fetch(`${url}/git-upload-pack`, { method: "POST", body: missing }).then((response) => response.text())
      )
      expect(refusal).toBe(`004aERR upload-pack: not our ref ${"1".repeat(40)}\n`)
    })
  )

  it.live("an empty repository on the Git server for tests advertises nothing", () =>
    Effect.gen(function* () {
      const gitdir = `${yield* temporaryFolder}/repository`
      yield* createRepository({ gitdir })
      const { url } = yield* serveRepository({ gitdir })
      expect(yield* nativeGit(["ls-remote", url])).toEqual({ output: "", code: 0 })
    })
  )
})
