import { Effect, Result } from "effect"
import { type GitError, GitLimitExceeded } from "../git/GitError.ts"
import { type GitObjectSource, parseTree, readVerified, type TreeEntry } from "../git/GitObjects.ts"
import type { OmittedRecord } from "./ArchiveFormat.ts"
import { SnapshotEmpty, SnapshotPathNotFound, SnapshotPathRefused } from "./SnapshotError.ts"
import {
  comparePaths,
  describeRefusedName,
  hostileName,
  namesByForm,
  printableName,
  TreePathRegistry,
  unstorableName
} from "./TreePath.ts"

export interface WalkedFile {
  readonly path: string
  readonly oid: string
  readonly executable: boolean
}

export interface WalkedTree {
  /** Sorted by the bytes of their path. */
  readonly files: ReadonlyArray<WalkedFile>
  readonly omitted: ReadonlyArray<OmittedRecord>
  /** The reasons why entries that Git allows were omitted, for people. */
  readonly unstorable: ReadonlyArray<string>
}

interface WalkLimits {
  readonly files: number
  readonly depth: number
}

const readEntries = Effect.fnUntraced(function* (
  source: GitObjectSource,
  tree: string
): Effect.fn.Return<ReadonlyArray<TreeEntry>, GitError> {
  return yield* Effect.fromResult(parseTree(tree, yield* readVerified(source, tree, "tree")))
})

/** The tree of a folder below `root`; `.` is the root itself. Links are not followed. */
export const findFolder = Effect.fnUntraced(function* (
  source: GitObjectSource,
  root: string,
  path: string
): Effect.fn.Return<string, GitError | SnapshotPathNotFound> {
  let tree = root
  if (path === ".") return tree
  for (const segment of path.split("/")) {
    const entry = (yield* readEntries(source, tree)).find((candidate) => candidate.name === segment)
    if (entry === undefined || entry.kind !== "tree")
      return yield* new SnapshotPathNotFound({
        path,
        message:
          entry === undefined
            ? `The commit has no folder ${path}.`
            : `${path} is not a folder of the commit: part of it is a file, a link or a submodule.`
      })
    tree = entry.oid
  }
  return tree
})

/**
 * Finds one entry by its path from `root`; undefined if it does not exist. If an entry along the path is not a folder, the result
 * is that entry.
 */
export const findEntry = Effect.fnUntraced(function* (
  source: GitObjectSource,
  root: string,
  segments: ReadonlyArray<string>
): Effect.fn.Return<TreeEntry | undefined, GitError> {
  let tree = root
  for (const [index, segment] of segments.entries()) {
    const entry = (yield* readEntries(source, tree)).find((candidate) => candidate.name === segment)
    if (entry === undefined || index === segments.length - 1 || entry.kind !== "tree") return entry
    tree = entry.oid
  }
  return undefined
})

/**
 * Lists everything below a tree. Regular files are kept; links, submodules and unknown kinds are listed as omitted. Omitted too
 * are entries whose names cannot be stored, and all entries of a folder whose names differ only by case or Unicode form, because
 * svc cannot choose between them. Such a folder is omitted as a whole. A name that Git never writes fails the whole walk.
 */
export const walkTree = Effect.fn("walkTree")(function* (
  source: GitObjectSource,
  request: { readonly tree: string; readonly path: string; readonly limits: WalkLimits }
): Effect.fn.Return<WalkedTree, GitError | SnapshotPathRefused | SnapshotEmpty> {
  const { limits } = request
  const paths = new TreePathRegistry()
  const files: Array<WalkedFile> = []
  const omitted: Array<OmittedRecord> = []
  const unstorable: Array<string> = []
  let seen = 0

  /** Records the entries of one folder that cannot be stored, and returns the others. */
  const storable = (entries: ReadonlyArray<TreeEntry>, prefix: string): ReadonlyArray<TreeEntry> => {
    const omit = (entry: TreeEntry) =>
      omitted.push({ path: `${prefix}${entry.name}`, kind: "special", mode: entry.mode, oid: entry.oid })
    return [...namesByForm(entries).values()].flatMap((group) => {
      const [entry, ...others] = group
      if (entry === undefined) return []
      const reason = unstorableName(entry.name)
      if (others.length === 0 && reason === undefined) return [entry]
      for (const each of group) omit(each)
      const [first = "", second = ""] = group.map(({ name }) => printableName(`${prefix}${name}`))
      unstorable.push(
        others.length === 0
          ? `${first} ${reason}`
          : first === second
            ? `${first} appears twice`
            : `${first} and ${second} differ only by case or Unicode form`
      )
      return []
    })
  }

  const visit = Effect.fnUntraced(function* (
    tree: string,
    prefix: string,
    depth: number
  ): Effect.fn.Return<void, GitError | SnapshotPathRefused> {
    if (depth > limits.depth)
      return yield* new GitLimitExceeded({
        limit: "depth",
        maximum: limits.depth,
        message: `The repository nests folders deeper than the ${limits.depth} levels this service accepts.`
      })
    const entries = yield* readEntries(source, tree)
    seen += entries.length
    if (seen > limits.files)
      return yield* new GitLimitExceeded({
        limit: "files",
        maximum: limits.files,
        message: `The repository holds more than the ${limits.files} entries this service accepts. Sync a folder of it instead.`
      })
    for (const { name } of entries) {
      const reason = hostileName(name)
      if (reason !== undefined)
        return yield* new SnapshotPathRefused({
          message: `${describeRefusedName(name, reason)} It is an entry of the tree ${tree}.`
        })
    }
    for (const entry of storable(entries, prefix)) {
      const path = `${prefix}${entry.name}`
      if (entry.kind === "tree") {
        yield* visit(entry.oid, `${path}/`, depth + 1)
        continue
      }
      const added = paths.add(path)
      if (Result.isFailure(added)) return yield* new SnapshotPathRefused({ message: added.failure })
      if (entry.kind === "file" || entry.kind === "executable")
        files.push({ path, oid: entry.oid, executable: entry.kind === "executable" })
      else omitted.push({ path, kind: entry.kind, mode: entry.mode, oid: entry.oid })
    }
  })

  yield* visit(request.tree, "", 1)
  if (files.length === 0)
    return yield* new SnapshotEmpty({
      path: request.path,
      message:
        request.path === "."
          ? "The commit holds no regular files."
          : `The folder ${request.path} of the commit holds no regular files.`
    })
  const byPath = (a: { readonly path: string }, b: { readonly path: string }) => comparePaths(a.path, b.path)
  return { files: files.sort(byPath), omitted: omitted.sort(byPath), unstorable }
})
