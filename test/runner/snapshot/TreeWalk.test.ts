import { describe, expect } from "bun:test"
import { Effect } from "effect"
import * as git from "isomorphic-git"
import * as fs from "node:fs"
import { it } from "../../support/Effect.ts"
import { build, repository, ways } from "./BuildHarness.ts"

/** Builds a tree with exactly these entries, including entries that Git would never write. */
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
    ["a path of 1,025 bytes", ["x".repeat(1025)]]
  ]
  for (const [name, entries] of names)
    it.live(`${name} makes the entire sync fail`, () =>
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

  it.live("a folder with a reserved name fails the sync, and the error contains the tree's id", () =>
    Effect.gen(function* () {
      const { gitdir, url } = yield* repository({ "a.tf": "1" })
      const blob = yield* blobOf(gitdir, "content")
      const inner = yield* rawTree(gitdir, [["100644", "config", blob]])
      for (const root of [[["40000", ".git", inner]], [["40000", "..", inner]]] as const) {
        yield* commitTree(gitdir, yield* rawTree(gitdir, root))
        const refusal = yield* Effect.flip(build(url))
        expect(refusal._tag).toBe("SnapshotPathRefused")
        expect(refusal.message).toMatch(/It is an entry of the tree [0-9a-f]{40}/)
      }
    })
  )

  const unstorable: ReadonlyArray<
    readonly [string, ReadonlyArray<readonly [mode: string, name: string | Uint8Array]>, RegExp]
  > = [
    ["a backslash", [["100644", "a\\b"]], /holds a backslash/],
    ["a line feed", [["100644", "a\nb"]], /holds a control character/],
    ["invalid UTF-8", [["100644", Uint8Array.of(0x61, 0xff)]], /is not valid UTF-8/],
    [
      "the same name twice",
      [
        ["100644", "a"],
        ["100644", "a"]
      ],
      /appears twice/
    ],
    [
      "names that differ by case",
      [
        ["100644", "README"],
        ["100644", "readme"]
      ],
      /differ only by case/
    ],
    [
      "names that differ by Unicode form",
      [
        ["100644", "\u00e4"],
        ["100644", "a\u0308"]
      ],
      /differ only by case or Unicode form/
    ],
    [
      "a file and a folder that differ by case",
      [
        ["100644", "A"],
        ["40000", "a"]
      ],
      /"docs\/A" and "docs\/a" differ/
    ],
    [
      "folders that differ by case",
      [
        ["40000", "A"],
        ["40000", "a"]
      ],
      /differ only by case/
    ],
    [
      "a link and a folder of the same name",
      [
        ["120000", "a"],
        ["40000", "a"]
      ],
      /appears twice/
    ]
  ]
  for (const [name, entries, reason] of unstorable)
    for (const [way, native] of ways)
      it.live(`${way} omits ${name} located far from the module, and reports the omission`, () =>
        Effect.gen(function* () {
          const { gitdir, url } = yield* repository({ "a.tf": "1" })
          const blob = yield* blobOf(gitdir, "content")
          const inner = yield* rawTree(gitdir, [["100644", "config", blob]])
          const docs = yield* rawTree(
            gitdir,
            entries.map(([mode, entry]) => [mode, entry, mode === "40000" ? inner : blob] as const)
          )
          yield* commitTree(
            gitdir,
            yield* rawTree(gitdir, [
              ["100644", "main.tf", blob],
              ["40000", "docs", docs]
            ])
          )
          const built = yield* build(url, { native })
          expect(built.fileCount).toBe(1)
          expect(built.omitted.map(({ kind }) => kind)).toEqual(entries.map(() => "special"))
          expect(built.warnings).toHaveLength(1)
          expect(built.warnings[0]).toMatch(reason)
        })
      )

  it.live("objects that git fsck rejects give the same snapshot with and without the installed git", () =>
    Effect.gen(function* () {
      const { gitdir, url } = yield* repository({ "a.tf": "1" })
      const blob = yield* blobOf(gitdir, "content")
      const inner = yield* rawTree(gitdir, [["100644", "x", blob]])
      const tree = yield* rawTree(gitdir, [
        ["040000", "z", inner],
        ["100644", "a.tf", blob]
      ])
      const oid = yield* commitTree(gitdir, tree)
      const built = yield* Effect.forEach(ways, ([, native]) => build(url, { native }))
      expect(built.map(({ fileCount, resolvedCommit }) => [fileCount, resolvedCommit])).toEqual([
        [2, oid],
        [2, oid]
      ])
      expect(built[0]?.archiveDigest).toBe(built[1]?.archiveDigest ?? "")
    })
  )

  it.live("both Git implementations report a broken object with the same fault", () =>
    Effect.gen(function* () {
      const { gitdir, url } = yield* repository({ "a.tf": "1" })
      const blob = yield* blobOf(gitdir, "content")
      const asTree = yield* rawTree(gitdir, [["40000", "folder", blob]])
      const cut = yield* Effect.promise(() =>
        git.writeObject({ fs, gitdir, type: "tree", object: Buffer.from("100644 a\0short"), format: "content" })
      )
      for (const [tree, expected, ofGit] of [
        [
          asTree,
          `The object ${blob} of the repository is a blob where a tree is expected`,
          `Object ${blob} not a tree`
        ],
        [cut, `The object ${cut} of the repository is a tree with an entry that is cut off`, "too-short tree object"]
      ] as const) {
        yield* commitTree(gitdir, tree)
        const program = Bun.which("git") ?? ""
        for (const native of [false, { program, required: false }]) {
          expect((yield* Effect.flip(build(url, { native }))).message).toContain(expected)
        }
        expect((yield* Effect.flip(build(url, { native: true }))).message).toContain(ofGit)
      }
    })
  )

  it.live("paths of exactly 1,024 bytes, odd modes and unknown kinds are either kept or listed as omitted", () =>
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

  it.live("a tree that contains itself repeatedly is stopped at the entry limit", () =>
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
