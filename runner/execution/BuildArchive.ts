import { chmod, lstat, readdir } from "node:fs/promises"
import { join, posix } from "node:path"
import { Effect } from "effect"
import { create, extract } from "tar"
import { isCanonicalRelativePath } from "../../schema/manifest/CanonicalPath.ts"
import { sha256OfFile } from "./Digest.ts"
import { fileOperation, RunFileFailed } from "./RunFiles.ts"
import type { BuildArchive } from "./RunPlace.ts"

const mostEntries = 50_000
const mostBytes = 1024 ** 3

/** Returns true for files that the tool reads as configuration, inputs, lock or state. */
const isModuleFile = (name: string) =>
  /\.(?:tf|tofu)(?:\.json)?$|\.tfvars(?:\.json)?$|\.tfstate/.test(name) || name.startsWith(".terraform")

/**
 * Returns true for a module file in a module's folder, and for any file in a subfolder that the tool reads as part of the
 * module.
 */
const isOfModule = (path: string, moduleFolders: ReadonlySet<string>) => {
  for (let part = path; part !== "."; part = posix.dirname(part)) {
    if (isModuleFile(posix.basename(part)) && moduleFolders.has(posix.dirname(part))) return true
  }
  return false
}

interface Entry {
  readonly path: string
  readonly isFolder: boolean
  readonly sizeBytes: number
}

const describe = Effect.fnUntraced(function* (root: string, path: string) {
  const entry = yield* fileOperation(`find the build output ${JSON.stringify(path)}`, () => lstat(join(root, path)))
  if (entry.isDirectory()) return { path, isFolder: true, sizeBytes: 0 } satisfies Entry
  if (entry.isFile()) return { path, isFolder: false, sizeBytes: entry.size } satisfies Entry
  return yield* new RunFileFailed({
    message: `The build output ${JSON.stringify(path)} is a link or a special file. Outputs must be regular files and folders.`
  })
})

/**
 * Lists every entry of the declared outputs. Also checks the parent folders of each output, because a parent folder that is
 * a link could point outside the tree.
 */
const listOutputs = Effect.fnUntraced(function* (root: string, outputs: ReadonlyArray<string>) {
  const found = new Map<string, Entry>()
  let bytes = 0
  const open = [...outputs]
  for (const output of outputs) {
    if (!isCanonicalRelativePath(output)) {
      return yield* new RunFileFailed({ message: `The build output path ${JSON.stringify(output)} is not canonical.` })
    }
    const segments = output.split("/").slice(0, -1)
    for (const [index] of segments.entries()) yield* describe(root, segments.slice(0, index + 1).join("/"))
  }
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (found.has(path)) continue
    const entry = yield* describe(root, path)
    found.set(path, entry)
    bytes += entry.sizeBytes
    if (found.size > mostEntries || bytes > mostBytes) {
      return yield* new RunFileFailed({
        message: `The build outputs hold more than ${mostEntries} entries or ${mostBytes} bytes.`
      })
    }
    if (!entry.isFolder) continue
    const folder = path
    const names = yield* fileOperation(`list the build output ${JSON.stringify(folder)}`, () =>
      readdir(join(root, folder))
    )
    open.push(...names.map((name) => posix.join(folder, name)))
  }
  return [...found.values()].sort((left, right) => (left.path < right.path ? -1 : 1))
})

/** Makes the archiver treat hard links as separate files, so that it stores the contents of each file. */
class NoLinks extends Map<`${number}:${number}`, string> {
  override get(): undefined {
    return undefined
  }
}

/**
 * Packs the declared outputs of a build. Equal outputs produce equal bytes. Refuses links and special files. In folders of
 * the module graph (`moduleFolders`, relative to the tree), also refuses files that would change the configuration that the
 * scan reviewed.
 */
export const createBuildArchive = Effect.fnUntraced(function* (request: {
  readonly root: string
  readonly outputs: ReadonlyArray<string>
  readonly moduleFolders: ReadonlySet<string>
  readonly target: string
}): Effect.fn.Return<BuildArchive, RunFileFailed> {
  const { root, target } = request
  const entries = yield* listOutputs(root, request.outputs)
  const forbidden = entries.find(({ path }) => isOfModule(path, request.moduleFolders))
  if (forbidden !== undefined) {
    return yield* new RunFileFailed({
      message: `The build output ${JSON.stringify(forbidden.path)} would change the reviewed module. A build may not write configuration.`
    })
  }
  yield* fileOperation("pack the build outputs", async () => {
    await create(
      {
        cwd: root,
        file: target,
        portable: true,
        mtime: new Date(0),
        strict: true,
        noDirRecurse: true,
        linkCache: new NoLinks()
      },
      entries.map(({ path }) => `./${path}`)
    )
    await chmod(target, 0o600)
  })
  const { size } = yield* fileOperation("measure the build archive", () => lstat(target))
  return { path: target, digest: yield* sha256OfFile(target, "read the build archive"), sizeBytes: size }
})

/** Extracts the outputs into a fresh tree. Fails if the archive does not have the given digest. */
export const extractBuildArchive = Effect.fnUntraced(function* (archive: BuildArchive, target: string) {
  const digest = yield* sha256OfFile(archive.path, "read the build archive")
  if (digest !== archive.digest) {
    return yield* new RunFileFailed({
      message: `The build archive has the digest ${digest} but ${archive.digest} was reviewed. Plan again.`
    })
  }
  yield* fileOperation("unpack the build outputs", () =>
    extract({
      file: archive.path,
      cwd: target,
      strict: true,
      preserveOwner: false,
      filter: (_, entry) => "type" in entry && (entry.type === "File" || entry.type === "Directory")
    })
  )
})
