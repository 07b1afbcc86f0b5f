import { constants } from "node:fs"
import { lstat, open, readdir } from "node:fs/promises"
import { join, posix } from "node:path"
import { Effect, Schema } from "effect"
import { type OmittedEntry, type SourceFile, SourceFileUnreadable, type SourceTree } from "../snapshot/SourceTree.ts"

/** The folder, or an entry in it, could not be listed. */
export class FolderUnreadable extends Schema.TaggedError<FolderUnreadable>()("FolderUnreadable", {
  path: Schema.String,
  message: Schema.String
}) {}

/** Maximum number of entries, which is the same as for a synced repository. */
const maxEntries = 50_000

const reasonOf = (cause: unknown) => (cause instanceof Error && "code" in cause ? String(cause.code) : "unknown reason")

const list = (root: string, folder: string) =>
  Effect.tryPromise({
    try: () => readdir(join(root, folder), { withFileTypes: true }),
    catch: (cause) =>
      new FolderUnreadable({ path: folder, message: `The folder ${folder} cannot be listed (${reasonOf(cause)}).` })
  })

const describe = (root: string, path: string) =>
  Effect.tryPromise({
    try: () => lstat(join(root, path)),
    catch: (cause) => new FolderUnreadable({ path, message: `${path} cannot be looked at (${reasonOf(cause)}).` })
  })

/** Refuses links, because a link may have replaced the file after svc listed the folder. */
const readRegularFile = async (path: string) => {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  try {
    return new Uint8Array(await file.readFile())
  } finally {
    await file.close()
  }
}

const byPath = (left: { readonly path: string }, right: { readonly path: string }) =>
  Buffer.compare(Buffer.from(left.path), Buffer.from(right.path))

/**
 * Reads a folder on disk as if its current contents, except `.git`, links and special files, were a commit. Fails with
 * `FolderUnreadable` if the folder cannot be listed or is too large.
 */
export const folderTree = Effect.fn("folderTree")(function* (
  root: string
): Effect.fn.Return<SourceTree, FolderUnreadable> {
  const files: Array<SourceFile> = []
  const omitted: Array<OmittedEntry> = []
  const waiting = ["."]
  let entries = 0
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    for (const entry of yield* list(root, folder)) {
      if (entry.name === ".git") continue
      const path = posix.join(folder, entry.name)
      if (++entries > maxEntries) {
        return yield* new FolderUnreadable({
          path,
          message: `The folder holds more than ${maxEntries} entries. Scan a smaller one.`
        })
      }
      if (entry.isDirectory()) waiting.push(path)
      else if (entry.isFile()) {
        const { size, mode } = yield* describe(root, path)
        files.push({ path, sizeBytes: size, executable: (mode & 0o100) !== 0 })
      } else omitted.push({ path, kind: entry.isSymbolicLink() ? "symlink" : "special" })
    }
  }
  const known = new Set(files.map(({ path }) => path))
  const unreadable = (path: string, why: string) =>
    new SourceFileUnreadable({ path, message: `The file cannot be read (${why}).` })
  return {
    files: files.sort(byPath),
    omitted: omitted.sort(byPath),
    read: Effect.fnUntraced(function* (path: string) {
      if (!known.has(path)) return yield* unreadable(path, "it is not a regular file of the tree")
      return yield* Effect.tryPromise({
        try: () => readRegularFile(join(root, path)),
        catch: (cause) => unreadable(path, reasonOf(cause))
      })
    })
  }
})
