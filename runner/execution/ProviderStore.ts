import { createHash, randomUUID } from "node:crypto"
import { cp, lstat, mkdir, readdir, rename, stat, writeFile } from "node:fs/promises"
import { join, relative, sep } from "node:path"
import { Effect } from "effect"
import { sha256, sha256OfFile } from "./Digest.ts"
import { fileOperation, removeTree, type RunFileFailed } from "./RunFiles.ts"

const packagesName = "packages"
const workspacesName = "workspaces"
const arrivalsName = "arrivals"

const digestPrefix = "sha256:"

/**
 * Returns the folder name for a hash from a lock, or `undefined` if it is not the hash of an unpacked package.
 */
const nameOf = (hash: string): string | undefined => {
  const bytes = hash.startsWith("h1:") ? Buffer.from(hash.slice(3), "base64") : undefined
  return bytes?.byteLength === 32 ? bytes.toString("hex") : undefined
}

const is = (path: string, kind: "isDirectory" | "isFile") =>
  Effect.tryPromise(() => lstat(path)).pipe(
    Effect.map((entry) => entry[kind]()),
    Effect.orElseSucceed(() => false)
  )

const doing = "keep an installed provider"

/**
 * Returns the files of a package, or `undefined` if it contains anything other than folders and files. Also returns
 * `undefined` for a hard-linked file, which another process could still change.
 */
const plainFiles = (folder: string) =>
  fileOperation(doing, async () => {
    const files: Array<string> = []
    for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
      if (entry.isDirectory()) continue
      const path = join(entry.parentPath, entry.name)
      if (!entry.isFile() || (await stat(path)).nlink !== 1) return undefined
      files.push(path)
    }
    return files
  })

/** Computes the store's name for an unpacked package. As in a lock, the name is a hash of the hashes of its files. */
const contentName = Effect.fnUntraced(function* (folder: string, files: ReadonlyArray<string>) {
  const named = files
    .map((path) => ({ path, name: relative(folder, path).split(sep).join("/") }))
    .toSorted((left, right) => Buffer.compare(Buffer.from(left.name), Buffer.from(right.name)))
  const hash = createHash("sha256")
  for (const { name, path } of named) {
    const digest = yield* sha256OfFile(path, doing)
    hash.update(`${digest.slice(digestPrefix.length)}  ${name}\n`)
  }
  return hash.digest("hex")
})

const failedWith =
  (...codes: ReadonlyArray<string>) =>
  ({ code }: RunFileFailed) =>
    code !== undefined && codes.includes(code)

const move = (from: string, to: string) =>
  fileOperation(doing, () => rename(from, to)).pipe(
    // Copy if a rename fails: the run folder may be on another disk.
    Effect.catchIf(failedWith("EXDEV"), () =>
      Effect.andThen(
        fileOperation(doing, () => cp(from, to, { recursive: true })),
        removeTree(from, doing)
      )
    )
  )

/** The provider packages that Runs of one Workspace have installed. */
export interface ProviderStore {
  /** Returns the folder of a package with one of these hashes, if this Workspace has installed it. */
  readonly find: (hashes: ReadonlyArray<string>) => Effect.Effect<string | undefined>
  /**
   * Moves an installed package out of a Run's folder, and returns its new path. Call it while none of the Run's programs is
   * running. Moves nothing and returns `undefined` if the package does not consist of plain files.
   */
  readonly keep: (installed: string) => Effect.Effect<string | undefined, RunFileFailed>
}

/**
 * Stores installed provider packages in `folder`, each once, keyed by the hash of its content. A Run gets a package only if
 * its lock contains the hash and a Run of the same Workspace has installed it. Nothing that a Run executes can write to this
 * folder.
 */
export const providerStore = (folder: string, workspaceId: string | undefined): ProviderStore => {
  const packages = join(folder, packagesName)
  const arrivals = join(folder, arrivalsName)
  const own = join(folder, workspacesName, sha256(workspaceId ?? "").slice(digestPrefix.length))
  return {
    find: Effect.fnUntraced(function* (hashes) {
      for (const name of hashes.map(nameOf)) {
        if (name === undefined || !(yield* is(join(own, name), "isFile"))) continue
        if (yield* is(join(packages, name), "isDirectory")) return join(packages, name)
      }
      return undefined
    }),
    keep: Effect.fnUntraced(function* (installed) {
      if ((yield* plainFiles(installed)) === undefined) return undefined
      const arrival = join(arrivals, randomUUID())
      yield* Effect.forEach(
        [packages, arrivals, own],
        (path) => fileOperation(doing, () => mkdir(path, { recursive: true, mode: 0o700 })),
        { discard: true }
      )
      yield* move(installed, arrival)
      // Hash the package only after moving it, because from then on the Run can no longer change it.
      const name = yield* contentName(arrival, (yield* plainFiles(arrival)) ?? [])
      const kept = join(packages, name)
      yield* fileOperation(doing, () => rename(arrival, kept)).pipe(
        Effect.catchIf(failedWith("ENOTEMPTY", "EEXIST"), () => removeTree(arrival, doing))
      )
      yield* fileOperation(doing, () => writeFile(join(own, name), "", { mode: 0o600 }))
      return kept
    })
  }
}

/**
 * Removes packages that an interrupted Run stored incompletely, and packages of earlier releases, which were stored by name and
 * shared by all Workspaces.
 */
export const clearProviderStore = (folder: string) =>
  Effect.tryPromise(() => readdir(folder)).pipe(
    Effect.flatMap(
      Effect.forEach(
        (name) =>
          name === packagesName || name === workspacesName
            ? Effect.void
            : removeTree(join(folder, name), "clear the provider cache"),
        { discard: true }
      )
    ),
    Effect.ignore
  )
