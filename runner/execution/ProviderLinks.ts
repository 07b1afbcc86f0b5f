import { mkdir, realpath, stat, symlink } from "node:fs/promises"
import { dirname, join, sep } from "node:path"
import { Effect } from "effect"
import { lockedProviders } from "./ProviderLock.ts"
import { fileOperation } from "./RunFiles.ts"

const architectures: ReadonlyMap<string, string> = new Map([
  ["x64", "amd64"],
  ["ia32", "386"]
])

/** The tool's name for its platform, and a package's folder for it. */
const packagePlatform = `${process.platform}_${architectures.get(process.arch) ?? process.arch}`

const isBelow = (path: string, folder: string) => path.startsWith(`${folder}${sep}`)

const realPath = (path: string) => Effect.tryPromise(() => realpath(path)).pipe(Effect.orElseSucceed(() => undefined))

export interface LinkRequest {
  /** The root module's folder, before any module code runs. */
  readonly folder: string
  readonly lockText: string
  /** Where installed packages are kept; the same path inside the sandbox. */
  readonly cache: string
  readonly mirror: string | undefined
}

/**
 * Gives an apply the packages that its plan was created with, as an installation would: links into the cache. Returns false, and
 * writes nothing, if the lock is not in the form the tool writes or a package is missing: the tool then has to install.
 *
 * Nothing is verified here. Before it starts any plugin, the tool compares each package with the hashes in the lock, and the lock
 * with the one inside the plan file, which is the reviewed one. Fails with `RunFileFailed`.
 */
export const linkProviders = Effect.fnUntraced(function* ({ cache, folder, lockText, mirror }: LinkRequest) {
  const providers = lockedProviders(lockText)
  if (providers === undefined) return false
  const seen = yield* Effect.forEach(
    [cache, mirror].filter((root) => root !== undefined),
    realPath
  )
  const visible = seen.filter((root) => root !== undefined)
  const packages = providers.map(({ address, version }) => join(address, version, packagePlatform))
  for (const name of packages) {
    // A mirrored package is itself a link, and inside the sandbox only this Run's mirror is visible.
    const real = yield* realPath(join(cache, name))
    if (real === undefined || !visible.some((root) => isBelow(real, root))) return false
    const isFolder = yield* Effect.tryPromise(() => stat(real)).pipe(
      Effect.map((entry) => entry.isDirectory()),
      Effect.orElseSucceed(() => false)
    )
    if (!isFolder) return false
  }
  yield* fileOperation("link the providers", async () => {
    for (const name of packages) {
      const link = join(folder, ".terraform", "providers", name)
      await mkdir(dirname(link), { recursive: true, mode: 0o700 })
      await symlink(join(cache, name), link)
    }
  })
  return true
})
