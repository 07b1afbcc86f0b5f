import { describe, expect } from "bun:test"
import { Effect } from "effect"
import * as git from "isomorphic-git"
import * as fs from "node:fs"
import { it } from "../../support/Effect.ts"
import { build, repository } from "./BuildHarness.ts"

/** A tree of exactly these entries, even ones that Git would never write. */
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

  it.live("a folder with a reserved name, or one that collides with a file, also makes it fail", () =>
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

  it.live("a tree that contains itself repeatedly is cut off at the entry limit", () =>
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
