import { mkdir, readdir, readlink, realpath, rm, stat, symlink } from "node:fs/promises"
import { dirname, isAbsolute, join, sep } from "node:path"
import { Effect, Ref } from "effect"
import { lockedProviders } from "./ProviderLock.ts"
import type { ProviderStore } from "./ProviderStore.ts"
import { fileOperation, isInPlace, type RunFileFailed } from "./RunFiles.ts"

const architectures: ReadonlyMap<string, string> = new Map([
  ["x64", "amd64"],
  ["ia32", "386"]
])

/** The tool's name for its platform, used in the paths of packages. */
const packagePlatform = `${process.platform}_${architectures.get(process.arch) ?? process.arch}`

/** Below the root module's folder: a package is `<host>/<namespace>/<type>/<version>/<platform>`. */
const installedFolder = join(".terraform", "providers")
const packageDepth = 5

const isBelow = (path: string, folder: string) => path.startsWith(`${folder}${sep}`)

const realPath = (path: string) => Effect.tryPromise(() => realpath(path)).pipe(Effect.orElseSucceed(() => undefined))

const isFolder = (path: string) =>
  Effect.tryPromise(() => stat(path)).pipe(
    Effect.map((entry) => entry.isDirectory()),
    Effect.orElseSucceed(() => false)
  )

export interface RunProvidersRequest {
  /** The sandbox root, and the root module's folder below it. */
  readonly root: string
  readonly module: string
  /** The folder of earlier installations; the same path inside the sandbox. */
  readonly store: ProviderStore | undefined
  /** Every Run may install from it; the same path inside the sandbox. */
  readonly mirror: string | undefined
}

/** The provider packages of one Run: only packages from its lock, or packages that its own installation chose. */
export interface RunProviders {
  /** The packages outside the Run's folder that its programs may read. */
  readonly visible: Effect.Effect<ReadonlyArray<string>>
  /**
   * Links the packages of the Run's lock that are on this machine into the Run's folder, as an installation would. Returns false
   * if the lock is not in the form that the tool writes or a package is missing: the tool then has to install.
   *
   * This function verifies nothing. Before it starts any plugin, the tool compares each package with the hashes in the lock, and
   * the lock of an apply with the reviewed lock inside the plan file.
   */
  readonly link: (lockText: string) => Effect.Effect<boolean, RunFileFailed>
  /** Moves what the tool has installed to the store. None of the Run's programs may be running. */
  readonly settle: Effect.Effect<void, RunFileFailed>
}

/** The packages that the tool has installed below its folder for providers; folders on the way must not be links. */
const installedIn = async (
  folder: string
): Promise<ReadonlyArray<{ readonly path: string; readonly isLink: boolean }>> => {
  let parents = [folder]
  for (let depth = 1; depth < packageDepth; depth++) {
    const entries = await Promise.all(parents.map((parent) => readdir(parent, { withFileTypes: true })))
    parents = entries.flat().flatMap((entry) => (entry.isDirectory() ? [join(entry.parentPath, entry.name)] : []))
  }
  const packages = await Promise.all(parents.map((parent) => readdir(parent, { withFileTypes: true })))
  return packages
    .flat()
    .filter((entry) => entry.isDirectory() || entry.isSymbolicLink())
    .map((entry) => ({ path: join(entry.parentPath, entry.name), isLink: entry.isSymbolicLink() }))
}

const doing = "link the providers"

const makeLink = (target: string, link: string) =>
  fileOperation(doing, async () => {
    await mkdir(dirname(link), { recursive: true, mode: 0o700 })
    await symlink(target, link)
  })

export const makeRunProviders = Effect.fnUntraced(function* ({ mirror, module, root, store }: RunProvidersRequest) {
  const visible = yield* Ref.make<ReadonlyArray<string>>([])
  const show = (path: string) => Ref.update(visible, (paths) => (paths.includes(path) ? paths : [...paths, path]))
  const folder = join(root, module, installedFolder)

  /** True for a package of the mirror; the sandbox cannot see the target of a link in the mirror. */
  const isMirrored = Effect.fnUntraced(function* (path: string) {
    if (mirror === undefined || !isBelow(path, mirror)) return false
    const [realMirror, realPackage] = yield* Effect.all([realPath(mirror), realPath(path)])
    if (realMirror === undefined || realPackage === undefined || !isBelow(realPackage, realMirror)) return false
    return yield* isFolder(realPackage)
  })

  const link = Effect.fnUntraced(function* (lockText: string) {
    const providers = lockedProviders(lockText)
    if (providers === undefined) return false
    let missing = 0
    for (const { address, hashes, version } of providers) {
      const name = join(address, version, packagePlatform)
      const mirrored = mirror === undefined ? undefined : join(mirror, name)
      const found =
        mirrored !== undefined && (yield* isMirrored(mirrored))
          ? mirrored
          : yield* store?.find(hashes) ?? Effect.undefined
      if (found === undefined) {
        missing += 1
        continue
      }
      yield* makeLink(found, join(folder, name))
      yield* show(found)
    }
    return missing === 0
  })

  const settle = Effect.gen(function* () {
    // A module of OpenTofu may execute a program during the installation.
    if (!(yield* isInPlace(root, join(module, installedFolder)))) return
    const earlier = yield* Ref.get(visible)
    for (const { isLink, path } of yield* fileOperation(doing, () => installedIn(folder))) {
      if (isLink) {
        const target = yield* fileOperation(doing, () => readlink(path))
        if (earlier.includes(target) || (isAbsolute(target) && (yield* isMirrored(target)))) yield* show(target)
        continue
      }
      const kept = yield* store?.keep(path) ?? Effect.undefined
      if (kept === undefined) continue
      yield* fileOperation(doing, () => rm(path, { recursive: true, force: true }))
      yield* makeLink(kept, path)
      yield* show(kept)
    }
  })

  const providers: RunProviders = { visible: Ref.get(visible), link, settle }
  return providers
})
