import { expect } from "bun:test"
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"
import { folderTree } from "../../../runner/scan/FolderTree.ts"
import { it } from "../../support/Effect.ts"

const temporaryFolder = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "folder-tree-"))),
  (folder) => Effect.promise(() => rm(folder, { recursive: true }))
)

it.live("a folder lists regular files in byte order of their paths, and reports omitted entries", () =>
  Effect.gen(function* () {
    const root = yield* temporaryFolder
    yield* Effect.promise(async () => {
      await mkdir(join(root, "b/c"), { recursive: true })
      await mkdir(join(root, ".git"))
      await mkdir(join(root, "empty"))
      await writeFile(join(root, ".git/config"), "secret")
      await writeFile(join(root, "b/.git"), "gitdir: elsewhere")
      await writeFile(join(root, "b/c/x.tf"), "xyz")
      await writeFile(join(root, "b.sh"), "")
      await chmod(join(root, "b.sh"), 0o755)
      await writeFile(join(root, "é.tf"), "")
      await symlink("/etc", join(root, "b/link"))
      await symlink("x.tf", join(root, "b/c/y.tf"))
    })
    const tree = yield* folderTree(root)
    expect(tree.files).toEqual([
      { path: "b.sh", sizeBytes: 0, executable: true },
      { path: "b/c/x.tf", sizeBytes: 3, executable: false },
      { path: "é.tf", sizeBytes: 0, executable: false }
    ])
    expect(tree.omitted).toEqual([
      { path: "b/c/y.tf", kind: "symlink" },
      { path: "b/link", kind: "symlink" }
    ])
    expect(new TextDecoder().decode(yield* tree.read("b/c/x.tf"))).toBe("xyz")
  })
)

it.live("a folder reads only files that it has listed, and does not follow links that appear later", () =>
  Effect.gen(function* () {
    const root = yield* temporaryFolder
    yield* Effect.promise(() => writeFile(join(root, "a.tf"), ""))
    const tree = yield* folderTree(root)
    for (const path of ["../a.tf", "/etc/passwd", "b.tf", "./a.tf"]) {
      expect(yield* Effect.flip(tree.read(path))).toMatchObject({ _tag: "SourceFileUnreadable", path })
    }
    yield* Effect.promise(async () => {
      await rm(join(root, "a.tf"))
      await symlink("/etc/passwd", join(root, "a.tf"))
    })
    expect(yield* Effect.flip(tree.read("a.tf"))).toMatchObject({ _tag: "SourceFileUnreadable" })
  })
)

it.live("listing a folder that does not exist fails", () =>
  Effect.gen(function* () {
    const root = yield* temporaryFolder
    const failure = yield* Effect.flip(folderTree(join(root, "missing")))
    expect(failure).toMatchObject({ _tag: "FolderUnreadable", path: "." })
    expect(failure.message).toContain("ENOENT")
  })
)
