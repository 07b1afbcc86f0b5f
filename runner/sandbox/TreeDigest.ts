import { createHash } from "node:crypto"
import { readdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import { Effect } from "effect"

const digestOf = (files: Iterable<readonly [path: string, content: string | Uint8Array]>): string => {
  const hash = createHash("sha256")
  for (const [path, content] of [...files].sort(([one], [other]) => (one < other ? -1 : 1))) {
    const contentHash = createHash("sha256").update(content).digest("hex")
    hash.update(`${JSON.stringify(path)} ${contentHash}\n`)
  }
  return `sha256:${hash.digest("hex")}`
}

/** Computes the digest of a tree from its paths (separated by `/`) and contents. */
export const treeDigest = (files: Readonly<Record<string, string>>): string => digestOf(Object.entries(files))

/** Computes the digest of a folder. Returns `none` if the folder contains anything but files and folders, or cannot be read. */
export const folderDigest = (folder: string) =>
  Effect.tryPromise(async () => {
    const entries = await readdir(folder, { withFileTypes: true, recursive: true })
    if (entries.some((entry) => !entry.isFile() && !entry.isDirectory())) throw new Error("not only files")
    const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
    return digestOf(
      await Promise.all(files.map(async (file) => [file.slice(folder.length + 1), await readFile(file)] as const))
    )
  }).pipe(Effect.option)
