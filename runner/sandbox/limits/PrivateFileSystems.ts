import { closeSync, constants, openSync, statfsSync, statSync } from "node:fs"
import { Effect, Result, type Scope } from "effect"

/** The mount points of a sandbox's in-memory file systems, whose sizes are among the Run's limits. */
const privateFolders = [
  { path: "/tmp", limit: "tmp_limit" },
  { path: "/dev/shm", limit: "shm_limit" }
] as const

type PrivateLimit = (typeof privateFolders)[number]["limit"]

const memoryFileSystem = 0x01021994

const attempt = <A>(evaluate: () => A): A | undefined => Result.getOrUndefined(Result.try(evaluate))

const deviceOf = (path: string) => attempt(() => statSync(path).dev)

const isOwn = (path: string, hostPath: string) =>
  attempt(() => statfsSync(path).type === memoryFileSystem && deviceOf(path) !== deviceOf(hostPath)) === true

const isFull = (fd: number) =>
  attempt(() => {
    const { bavail, blocks, ffree, files } = statfsSync(`/proc/self/fd/${fd}`)
    return (blocks > 0 && bavail === 0) || (files > 0 && ffree === 0)
  }) === true

interface Held {
  readonly fd: number
  readonly device: number
}

export interface PrivateFileSystems {
  /**
   * Finds the file systems through a process that sees them. While its sandbox is being set up, other file systems may be mounted
   * there briefly.
   */
  readonly look: (pid: number) => Effect.Effect<void>
  /**
   * The first file system that is full. All are held open, so that this still works after the process that filled one has exited.
   */
  readonly full: Effect.Effect<PrivateLimit | undefined>
}

/** Watches one program's private file systems until the Scope closes, which frees them. */
export const privateFileSystems: Effect.Effect<PrivateFileSystems, never, Scope.Scope> = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => new Map<PrivateLimit, Held>()),
    (held) => Effect.sync(() => held.forEach(({ fd }) => closeSync(fd)))
  ),
  (held) => ({
    look: (pid) =>
      Effect.sync(() => {
        for (const { limit, path } of privateFolders) {
          const inside = `/proc/${pid}/root${path}`
          const earlier = held.get(limit)
          const device = deviceOf(inside)
          if (device === undefined || device === earlier?.device || !isOwn(inside, path)) continue
          const fd = attempt(() => openSync(inside, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW))
          if (fd === undefined) continue
          if (earlier !== undefined) closeSync(earlier.fd)
          held.set(limit, { fd, device })
        }
      }),
    full: Effect.sync(() => Array.from(held).find(([, { fd }]) => isFull(fd))?.[0])
  })
)
