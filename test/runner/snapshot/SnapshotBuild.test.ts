import { describe, expect } from "bun:test"
import { NodeServices } from "@effect/platform-node"
import { Effect, Layer, Result } from "effect"
import * as git from "isomorphic-git"
import * as fs from "node:fs"
import { type GitLimits, GitPolicy } from "../../../runner/git/GitPolicy.ts"
import { parseGitRef } from "../../../runner/git/GitRef.ts"
import { GitRemote } from "../../../runner/git/GitRemote.ts"
import { serveRepository } from "../../../runner/git/GitServer.ts"
import { parseGitUrl } from "../../../runner/git/GitUrl.ts"
import { InstalledGit } from "../../../runner/git/InstalledGit.ts"
import { type CommitFiles, commitFiles, createRepository, tagCommit } from "../../../runner/git/RepositoryWriter.ts"
import { runSyncJob } from "../../../runner/snapshot/SyncWorker.ts"
import { it } from "../../support/Effect.ts"
import { serveByHttpBackend } from "../../support/GitServer.ts"
import { httpServer } from "../../support/HttpServer.ts"
import { temporaryFolder } from "../../support/TemporaryFolder.ts"

const limits = { packBytes: 50_000_000, files: 1000, fileBytes: 10_000_000, totalBytes: 50_000_000, depth: 20 }

interface BuildCall {
  readonly ref?: string
  readonly path?: string
  readonly native?: boolean
  readonly limits?: Partial<typeof limits>
}

const repository = Effect.fnUntraced(function* (files: CommitFiles | undefined) {
  const gitdir = `${yield* temporaryFolder}/repository`
  yield* createRepository({ gitdir })
  const commit = files === undefined ? "" : yield* commitFiles({ gitdir, files })
  const { url } = yield* serveRepository({ gitdir })
  return { gitdir, commit, url }
})

/** What the process of a sync does, in this process. */
const build = (url: string, call: BuildCall = {}) =>
  Effect.gen(function* () {
    const remote = yield* GitRemote
    const ref = Result.getOrThrow(parseGitRef(call.ref ?? "HEAD"))
    const located = yield* remote.locate({
      url: Result.getOrThrow(parseGitUrl(url, { allowOrigins: [new URL(url).origin] })),
      ref
    })
    const native = yield* (yield* InstalledGit).usable
    if (native === undefined) return yield* Effect.die("these tests need an installed git")
    return yield* runSyncJob(
      {
        endpoint: located.endpoint,
        oid: located.oid,
        commit: located.commit,
        ref,
        path: call.path ?? ".",
        limits: { ...limits, ...call.limits, idleMillis: 10_000 },
        ...(call.native === true ? { native: { program: native.program, required: true } } : {}),
        folder: yield* temporaryFolder
      },
      () => {}
    )
  }).pipe(
    Effect.provide(
      Layer.mergeAll(GitRemote.layer, InstalledGit.layer).pipe(
        Layer.provide(GitPolicy.layerWith({ allowOrigins: [new URL(url).origin], native: "required" })),
        Layer.provideMerge(NodeServices.layer)
      )
    )
  )

const ways = [
  ["isomorphic-git", false],
  ["native git", true]
] as const

/** A tree of exactly these entries, also ones that no Git would write. */
const rawTree = (
  gitdir: string,
  entries: ReadonlyArray<readonly [mode: string, name: string | Uint8Array, oid: string]>
) =>
  Effect.promise(async () => {
    const parts = entries.flatMap(([mode, name, oid]) => [
      Buffer.from(`${mode} `),
      Buffer.from(name),
      Buffer.of(0),
      Buffer.from(oid, "hex")
    ])
    return git.writeObject({ fs, gitdir, type: "tree", object: Buffer.concat(parts), format: "content" })
  })

const commitTree = (gitdir: string, tree: string) =>
  Effect.promise(async () => {
    const author = { name: "a", email: "a@b", timestamp: 1, timezoneOffset: 0 }
    const value = await git.writeCommit({
      fs,
      gitdir,
      commit: { tree, parent: [], author, committer: author, message: "m\n" }
    })
    await git.writeRef({ fs, gitdir, ref: "refs/heads/main", value, force: true })
    return value
  })

const blobOf = (gitdir: string, text: string) =>
  Effect.promise(() => git.writeBlob({ fs, gitdir, blob: Buffer.from(text) }))

describe("digest of a snapshot", () => {
  it.live("is the same for the same tree, and differs with content, mode, links and submodules", () =>
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
  describe(`a commit fetched by ${name}`, () => {
    const of = (url: string, call: BuildCall = {}) => build(url, { ...call, native })
    const tag = (url: string, call: BuildCall = {}) =>
      of(url, call).pipe(
        Effect.flip,
        Effect.map((error) => error._tag)
      )

    it.live("may be named by branch, tag, tag of a tag or commit, listed or not", () =>
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

    it.live("must be a commit", () =>
      Effect.gen(function* () {
        const { gitdir, url } = yield* repository({ "a.tf": "1" })
        const blob = yield* blobOf(gitdir, "blob")
        yield* tagCommit({ gitdir, name: "light", target: blob })
        yield* tagCommit({ gitdir, name: "noted", target: blob, targetType: "blob", message: "Blob" })
        expect(yield* tag(url, { ref: "light" })).toBe("GitProtocolBroken")
        expect(yield* tag(url, { ref: "noted" })).toBe("GitProtocolBroken")
      })
    )

    it.live("gives a folder with paths relative to it, and the manifest of the root", () =>
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

    it.live("hands on a manifest only when it is a small regular file", () =>
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

    it.live("stays within every limit, at the limit and one over", () =>
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

    it.live("has no repository that is empty", () =>
      Effect.gen(function* () {
        const { url } = yield* repository(undefined)
        expect(yield* tag(url)).toBe("GitRepositoryEmpty")
        const { url: linksOnly } = yield* repository({ a: { kind: "symlink", target: "b" } })
        expect(yield* tag(linksOnly)).toBe("SnapshotEmpty")
      })
    )
  })

describe("a repository behind git http-backend", () => {
  it.live("gives the same snapshot either way, for branches, tags and commits", () =>
    Effect.gen(function* () {
      const { gitdir, commit: first, url: own } = yield* repository({ "main.tf": "one\r\n", ".gitattributes": "* text eol=lf export-ignore\n" })
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

describe("a damaged pack", () => {
  /** Passes everything on to a Git server, except that packs are changed. */
  const tampering = (origin: string, change: (pack: Buffer) => Buffer) =>
    httpServer((request, response) => {
      const parts: Array<Buffer> = []
      request.on("data", (part: Buffer) => parts.push(part))
      request.on("end", () => {
        const { "git-protocol": protocol, "content-type": type } = request.headers
        void fetch(`${origin}${request.url}`, {
          method: request.method ?? "GET",
          headers: { "git-protocol": String(protocol ?? ""), "content-type": type ?? "" },
          ...(request.method === "POST" ? { body: Buffer.concat(parts) } : {})
        }).then(async (answer) => {
          const body = Buffer.from(await answer.arrayBuffer())
          response.setHeader("content-type", answer.headers.get("content-type") ?? "")
          response.end(body.includes("PACK") ? change(body) : body)
        })
      })
    })

  for (const [name, change] of [
    ["cut off", (pack: Buffer) => pack.subarray(0, pack.length - 60)],
    ["with a wrong checksum", (pack: Buffer) => pack.fill((pack[pack.length - 6] ?? 0) ^ 1, pack.length - 6, pack.length - 5)],
    ["with other contents", (pack: Buffer) => pack.fill(0x55, pack.indexOf("PACK") + 40, pack.indexOf("PACK") + 60)]
  ] as const)
    for (const [way, native] of ways)
      it.live(`${name} is no snapshot, fetched by ${way}`, () =>
        Effect.gen(function* () {
          const { url: own } = yield* repository({ "a.tf": "a", "b.tf": "b" })
          const { url } = yield* tampering(new URL(own).origin, change)
          const error = yield* Effect.flip(build(url, { native }))
          expect(["GitProtocolBroken", "GitNativeUnavailable"]).toContain(error._tag)
        })
      )
})

describe("hostile trees", () => {
  const names: ReadonlyArray<readonly [string, ReadonlyArray<string | Uint8Array>]> = [
    ["a dot segment", ["."]],
    ["a traversal", [".."]],
    ["a slash", ["a/b"]],
    ["an empty name", [""]],
    [".git", [".git"]],
    [".GIT", [".GIT"]],
    [".git with ignorable characters", [".g\u200cit"]],
    [".git with trailing dots", [".git. ."]],
    [".git as a stream", [".git::$INDEX_ALLOCATION"]],
    ["its short name", ["GIT~1"]],
    ["a backslash", ["a\\b"]],
    ["a line feed", ["a\nb"]],
    ["invalid UTF-8", [Uint8Array.of(0x61, 0xff)]],
    ["the same name twice", ["a", "a"]],
    ["names that differ by case", ["README", "readme"]],
    ["names that differ by Unicode form", ["\u00e4", "a\u0308"]],
    ["a path of 1,025 bytes", ["x".repeat(1025)]]
  ]
  for (const [name, entries] of names)
    it.live(`${name} makes the whole sync fail`, () =>
      Effect.gen(function* () {
        const { gitdir, url } = yield* repository({ "a.tf": "1" })
        const blob = yield* blobOf(gitdir, "content")
        yield* commitTree(
          gitdir,
          yield* rawTree(
            gitdir,
            entries.map((entry) => ["100644", entry, blob] as const)
          )
        )
        expect((yield* Effect.flip(build(url)))._tag).toBe("SnapshotPathRefused")
      })
    )

  it.live("a folder with a reserved name, and a folder that collides with a file, fail too", () =>
    Effect.gen(function* () {
      const { gitdir, url } = yield* repository({ "a.tf": "1" })
      const blob = yield* blobOf(gitdir, "content")
      const inner = yield* rawTree(gitdir, [["100644", "config", blob]])
      for (const root of [
        [["40000", ".git", inner]],
        [["40000", "..", inner]],
        [
          ["100644", "A", blob],
          ["40000", "a", inner]
        ],
        [
          ["40000", "A", inner],
          ["40000", "a", inner]
        ],
        [
          ["120000", "a", blob],
          ["40000", "a", inner]
        ]
      ] as const) {
        yield* commitTree(gitdir, yield* rawTree(gitdir, root))
        expect((yield* Effect.flip(build(url)))._tag).toBe("SnapshotPathRefused")
      }
    })
  )

  it.live("a path of exactly 1,024 bytes, odd modes and unknown kinds are kept or listed", () =>
    Effect.gen(function* () {
      const { gitdir, url } = yield* repository({ "a.tf": "1" })
      const blob = yield* blobOf(gitdir, "content")
      yield* commitTree(
        gitdir,
        yield* rawTree(gitdir, [
          ["100664", "group.tf", blob],
          ["100600", "odd", blob],
          ["100644", "x".repeat(1024), blob]
        ])
      )
      expect(yield* build(url)).toMatchObject({ fileCount: 2, omitted: [{ path: "odd", kind: "special" }] })
    })
  )

  it.live("a tree that repeats itself is cut at the limit of entries", () =>
    Effect.gen(function* () {
      const { gitdir, url } = yield* repository({ "a.tf": "1" })
      const blob = yield* blobOf(gitdir, "content")
      let tree = yield* rawTree(gitdir, [["100644", "f", blob]])
      const names = Array.from({ length: 10 }, (_, index) => `d${index}`)
      for (let level = 0; level < 10; level++)
        tree = yield* rawTree(
          gitdir,
          names.map((name) => ["40000", name, tree] as const)
        )
      yield* commitTree(gitdir, tree)
      expect(yield* Effect.flip(build(url))).toMatchObject({ _tag: "GitLimitExceeded", limit: "files" })
    })
  )
})
