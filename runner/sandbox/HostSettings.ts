import { randomUUID } from "node:crypto"
import { existsSync, statSync } from "node:fs"
import { copyFile, mkdir, rename, rm } from "node:fs/promises"
import { dirname, join } from "node:path"
import { Effect, Semaphore } from "effect"

/** Files below /etc that programs often need and that contain no secrets. Missing files are skipped. */
export const settingsFiles = [
  "group",
  "host.conf",
  "hosts",
  "ld.so.cache",
  "localtime",
  "mime.types",
  "nsswitch.conf",
  "passwd",
  "pki/tls/cacert.pem",
  "pki/tls/cert.pem",
  "pki/tls/openssl.cnf",
  "protocols",
  "resolv.conf",
  "services",
  "ssl/ca-bundle.pem",
  "ssl/cert.pem",
  "ssl/openssl.cnf"
]

/**
 * Folders below /etc that programs often need and that contain no secrets. Some of these folders are next to private keys,
 * so never add a parent folder.
 */
export const settingsFolders = [
  "alternatives",
  "crypto-policies",
  "pki/ca-trust",
  "pki/tls/certs",
  "pki/trust",
  "ssl/certs"
]

/** Contents of /etc in a sandbox: a folder with copies, and host folders mounted over it. */
export interface SandboxEtc {
  readonly folder: string
  readonly overlaid: ReadonlyArray<string>
}

export interface HostSettings {
  /** Updates the copies. Returns `undefined` if that fails, for example because the disk is full. */
  readonly current: Effect.Effect<SandboxEtc | undefined>
}

/**
 * Checks the files synchronously before each sandbox opens, because forty promises would take longer than the mounts that
 * the copies save.
 */
const entryOf = (path: string) => statSync(path, { bigint: true, throwIfNoEntry: false })

const versionOf = (path: string) => {
  const entry = entryOf(path)
  return entry?.isFile() === true ? `${entry.ino}.${entry.mtimeNs}.${entry.size}` : undefined
}

/**
 * Keeps copies of the host's public settings in `folder`, so that a sandbox can mount all of them at once; separate mounts would
 * take longer than the rest of the setup. A change on the host is copied before the next sandbox opens, and is then also
 * visible in running sandboxes. Several processes may share the folder.
 */
export const keepHostSettings = Effect.fnUntraced(function* (folder: string, host = "/etc") {
  const copying = yield* Semaphore.make(1)
  const copied = new Map<string, string>()
  let isWarned = false

  const warnOnce = (cause: unknown) => {
    if (isWarned) return Effect.void
    isWarned = true
    const reason = cause instanceof Error ? cause.message : String(cause)
    return Effect.logWarning(
      `The host's settings could not be copied into ${folder}, so every sandbox mounts them separately, which takes longer: ${reason}`
    )
  }

  const outdated = Effect.try(() =>
    settingsFiles.flatMap((name) => {
      const version = versionOf(join(host, name))
      const isKept = version === copied.get(name) && (version !== undefined) === existsSync(join(folder, name))
      return isKept ? [] : [{ name, version }]
    })
  )

  const renew = ({ name, version }: { readonly name: string; readonly version: string | undefined }) =>
    Effect.tryPromise(async () => {
      const target = join(folder, name)
      copied.delete(name)
      if (version === undefined) return rm(target, { force: true })
      const fresh = join(folder, `.${randomUUID()}`)
      await mkdir(dirname(target), { recursive: true, mode: 0o755 })
      await copyFile(join(host, name), fresh)
      await rename(fresh, target)
      copied.set(name, version)
    })

  const overlaid = Effect.try(() => settingsFolders.filter((name) => entryOf(join(host, name))?.isDirectory() === true))

  // Create the mount points now, because they cannot be created once the copies are mounted read-only.
  const makePlaces = (names: ReadonlyArray<string>) =>
    Effect.tryPromise(async () => {
      for (const name of names) {
        if (!existsSync(join(folder, name))) await mkdir(join(folder, name), { recursive: true, mode: 0o755 })
      }
    })

  const refresh = Effect.gen(function* () {
    yield* Effect.forEach(yield* outdated, renew, { discard: true })
    const names = yield* overlaid
    yield* makePlaces(names)
    return { folder, overlaid: names }
  })

  const settings: HostSettings = {
    current: refresh.pipe(
      Effect.catch(({ cause }) => Effect.as(warnOnce(cause), undefined)),
      copying.withPermit
    )
  }
  return settings
})
