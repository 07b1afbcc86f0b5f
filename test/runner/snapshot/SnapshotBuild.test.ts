import { describe, expect } from "bun:test"
import { Effect } from "effect"
import * as git from "isomorphic-git"
import * as fs from "node:fs"
import type { GitLimits } from "../../../runner/git/GitPolicy.ts"
import { type CommitFiles, commitFiles, tagCommit } from "../../../src/testing/git-server/RepositoryWriter.ts"
import { it } from "../../support/Effect.ts"
import { serveByHttpBackend } from "../../support/GitServer.ts"
import { temporaryFolder } from "../../support/TemporaryFolder.ts"
import { build, type BuildCall, repository, ways } from "./BuildHarness.ts"

describe("Snapshot digests", () => {
  it.live("a snapshot's digest covers content, mode, links and submodules, and is equal for equal trees", () =>
    Effect.gen(function* () {
      const base: CommitFiles = { "a.tf": "a", "b/c.tf": "c" }
      const trees: ReadonlyArray<CommitFiles> = [
        base,
        { ...base, "a.tf": "b" },
        { ...base, "a.tf": { kind: "executable", content: "a" } },
        { ...base, link: { kind: "symlink", target: "x" } },
        { ...base, link: { kind: "symlink", target: "y" } },
        { ...base, sub: { kind: "submodule", commit: "1".repeat(40) } },
        { ...base, sub: { kind: "submodule", commit: "2".repeat(40) } }
      ]
      const digests: Array<string> = []
      for (const files of trees) {
        const { gitdir, url } = yield* repository(files)
        const built = yield* build(url)
        digests.push(built.archiveDigest)
        expect((yield* build(url, { native: true })).archiveDigest).toBe(built.archiveDigest)
        const again = yield* commitFiles({ gitdir, files, message: "Same tree", timestamp: 1 })
        expect(again).not.toBe(built.resolvedCommit)
        expect(yield* build(url)).toMatchObject({ resolvedCommit: again, archiveDigest: built.archiveDigest })
      }
      expect(new Set(digests).size).toBe(trees.length)
    })
  )
})

for (const [name, native] of ways)
  describe(`Commits fetched by ${name}`, () => {
    const of = (url: string, call: BuildCall = {}) => build(url, { ...call, native })
    const tag = (url: string, call: BuildCall = {}) =>
      of(url, call).pipe(
        Effect.flip,
        Effect.map((error) => error._tag)
      )

    it.live(
      "a fetch finds a commit by branch, tag, tag of a tag or id, whether or not the server lists the commit",
      () =>
        Effect.gen(function* () {
          const { gitdir, commit: first, url } = yield* repository({ "a.tf": "1" })
          const second = yield* commitFiles({ gitdir, files: { "a.tf": "2" } })
          yield* tagCommit({ gitdir, name: "light", target: first })
          const inner = yield* tagCommit({ gitdir, name: "noted", target: first, message: "Noted" })
          yield* tagCommit({ gitdir, name: "twice", target: inner, targetType: "tag", message: "Twice" })
          const unlisted = yield* commitFiles({ gitdir, files: { "a.tf": "3" }, branch: "gone" })
          yield* Effect.promise(() => git.deleteRef({ fs, gitdir, ref: "refs/heads/gone" }))
          for (const [ref, expected] of [
            ["HEAD", second],
            ["main", second],
            ["light", first],
            ["noted", first],
            ["twice", first],
            [first, first],
            [inner, first],
            [unlisted, unlisted]
          ] as const)
            expect((yield* of(url, { ref })).resolvedCommit).toBe(expected)
          expect(yield* tag(url, { ref: "1".repeat(40) })).toBe("GitRefNotFound")
        })
    )

    it.live("a fetched object must be a commit", () =>
      Effect.gen(function* () {
        const { gitdir, url } = yield* repository({ "a.tf": "1" })
        const blob = yield* Effect.promise(() => git.writeBlob({ fs, gitdir, blob: Buffer.from("blob") }))
        yield* tagCommit({ gitdir, name: "light", target: blob })
        yield* tagCommit({ gitdir, name: "noted", target: blob, targetType: "blob", message: "Blob" })
        expect(yield* tag(url, { ref: "light" })).toBe("GitProtocolBroken")
        expect(yield* tag(url, { ref: "noted" })).toBe("GitProtocolBroken")
      })
    )

    it.live("paths in a fetched folder are relative to the folder, and the manifest comes from the root", () =>
      Effect.gen(function* () {
        const { url } = yield* repository({
          "modules/app/main.tf": "app",
          "modules/app/sub/x.tf": "x",
          "modules/links/only": { kind: "symlink", target: "../app" },
          linked: { kind: "symlink", target: "modules/app" },
          ".well-known/svc.json": "{}"
        })
        const app = yield* of(url, { path: "modules/app" })
        expect(app).toMatchObject({ fileCount: 2, omitted: [], repositoryManifest: { status: "present" } })
        const { url: alone } = yield* repository({ "main.tf": "app", "sub/x.tf": "x" })
        expect((yield* of(alone)).archiveDigest).toBe(app.archiveDigest)
        expect(yield* tag(url, { path: "modules/none" })).toBe("SnapshotPathNotFound")
        expect(yield* tag(url, { path: "modules/app/main.tf" })).toBe("SnapshotPathNotFound")
        expect(yield* tag(url, { path: "linked" })).toBe("SnapshotPathNotFound")
        expect(yield* tag(url, { path: "linked/sub" })).toBe("SnapshotPathNotFound")
        expect(yield* tag(url, { path: "modules/links" })).toBe("SnapshotEmpty")
      })
    )

    it.live("a fetch returns a manifest only if it is a small regular file", () =>
      Effect.gen(function* () {
        const found = (files: CommitFiles) =>
          Effect.flatMap(repository({ "a.tf": "", ...files }), ({ url }) => of(url)).pipe(
            Effect.map((snapshot) => snapshot.repositoryManifest)
          )
        const exact = "x".repeat(128 * 1024)
        expect(yield* found({})).toEqual({ status: "absent" })
        expect(yield* found({ ".well-known/svc.json": exact })).toMatchObject({ status: "present" })
        expect((yield* found({ ".well-known/svc.json": `${exact}x` })).status).toBe("refused")
        expect((yield* found({ ".well-known/svc.json": { kind: "symlink", target: "../a.tf" } })).status).toBe(
          "refused"
        )
        expect((yield* found({ ".well-known/svc.json/x": "" })).status).toBe("refused")
        expect((yield* found({ ".well-known": { kind: "symlink", target: "other" } })).status).toBe("refused")
        expect((yield* found({ ".well-known": "a file" })).status).toBe("absent")
      })
    )

    it.live("a fetch accepts a value at every limit, and rejects the next larger value", () =>
      Effect.gen(function* () {
        const { url } = yield* repository({ "a/b/c.tf": "123456", "d.tf": "1234" })
        const hit = (over: Partial<GitLimits>) =>
          of(url, { limits: over }).pipe(
            Effect.flip,
            Effect.map((error) => (error._tag === "GitLimitExceeded" ? error.limit : error._tag))
          )
        yield* of(url, { limits: { files: 4, depth: 3, totalBytes: 10 } })
        expect(yield* hit({ files: 3 })).toBe("files")
        expect(yield* hit({ depth: 2 })).toBe("depth")
        expect(yield* hit({ totalBytes: 9 })).toBe("totalBytes")
        expect(yield* hit({ packBytes: 100 })).toBe("packBytes")
        const { url: large } = yield* repository({ "a.bin": new Uint8Array(2000) })
        yield* of(large, { limits: { fileBytes: 2000 } })
        expect(yield* of(large, { limits: { fileBytes: 1999 } }).pipe(Effect.flip)).toMatchObject({
          limit: "fileBytes"
        })
      })
    )

    it.live("a fetch rejects an empty repository", () =>
      Effect.gen(function* () {
        const { url } = yield* repository(undefined)
        expect(yield* tag(url)).toBe("GitRepositoryEmpty")
        const { url: linksOnly } = yield* repository({ a: { kind: "symlink", target: "b" } })
        expect(yield* tag(linksOnly)).toBe("SnapshotEmpty")
      })
    )
  })

describe("Failures of the installed git", () => {
  it.live("a fetch falls back to the bundled git, unless the operator requires the installed git", () =>
    Effect.gen(function* () {
      const { url } = yield* repository({ "main.tf": "" })
      const built = yield* build(url)
      const program = `${yield* temporaryFolder}/git`
      fs.writeFileSync(program, "#!/bin/sh\nexit 1\n", { mode: 0o755 })
      for (const broken of [program, `${program}-missing`]) {
        expect(yield* build(url, { native: { program: broken, required: false } })).toEqual(built)
        const error = yield* Effect.flip(build(url, { native: { program: broken, required: true } }))
        expect(error._tag).toBe("GitNativeUnavailable")
      }
    })
  )
})

describe("SHA-256 git", () => {
  it.live("an installed git that defaults to SHA-256 fetches a commit of a SHA-1 repository", () =>
    Effect.gen(function* () {
      const { url } = yield* repository({ "main.tf": "" })
      const program = `${yield* temporaryFolder}/git`
      fs.writeFileSync(program, '#!/bin/sh\nGIT_DEFAULT_HASH=sha256 exec git "$@"\n', { mode: 0o755 })
      expect(yield* build(url, { native: { program, required: true } })).toEqual(yield* build(url))
    })
  )
})

describe("Git http-backend", () => {
  it.live("both Git implementations make the same snapshot from git http-backend, for branches, tags and commits", () =>
    Effect.gen(function* () {
      const {
        gitdir,
        commit: first,
        url: own
      } = yield* repository({ "main.tf": "one\r\n", ".gitattributes": "* text eol=lf export-ignore\n" })
      yield* commitFiles({ gitdir, files: { "main.tf": "two", sub: { kind: "submodule", commit: "1".repeat(40) } } })
      yield* tagCommit({ gitdir, name: "v1.0.0", target: first, message: "One" })
      const { url } = yield* serveByHttpBackend(gitdir)
      for (const ref of ["HEAD", "main", "v1.0.0", first]) {
        const library = yield* build(url, { ref })
        expect(yield* build(url, { ref, native: true })).toEqual(library)
        expect(yield* build(own, { ref })).toEqual(library)
      }
      for (const native of [false, true])
        expect((yield* Effect.flip(build(url, { ref: "1".repeat(40), native })))._tag).toBe("GitRefNotFound")
    })
  )
})
