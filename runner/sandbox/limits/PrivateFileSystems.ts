import { closeSync, constants, openSync, statfsSync, statSync } from "node:fs"
import { Effect, Result, type Scope } from "effect"
import { bytesOfFile } from "./FolderSize.ts"
import type { RunBounds } from "./LimitExceeded.ts"

/** The mount points of a sandbox's in-memory file systems, whose sizes are among the Run's limits. */
const privateFolders = [
  { path: "/tmp", limit: "tmp_limit", size: "tmpBytes" },
  { path: "/dev/shm", limit: "shm_limit", size: "shmBytes" }
] as const

type PrivateLimit = (typeof privateFolders)[number]["limit"]

const memoryFileSystem = 0x01021994

const attempt = <A>(evaluate: () => A): A | undefined => Result.getOrUndefined(Result.try(evaluate))

const deviceOf = (path: string) => attempt(() => statSync(path).dev)

const isOwn = (path: string, hostPath: string) =>
  attempt(() => statfsSync(path).type === memoryFileSystem && deviceOf(path) !== deviceOf(hostPath)) === true

interface Fill {
  /** Size of the contents and the files themselves. */
  readonly bytes: number
  /** True if no more blocks or files fit, regardless of the size. */
  readonly isFull: boolean
}

const fillOf = (fd: number): Fill =>
  attempt(() => {
    const { bavail, bfree, blocks, bsize, ffree, files } = statfsSync(`/proc/self/fd/${fd}`)
    return {
      bytes: (blocks - bfree) * bsize + (files - ffree) * bytesOfFile,
      isFull: (blocks > 0 && bavail === 0) || (files > 0 && ffree === 0)
    }
  }) ?? { bytes: 0, isFull: false }

interface Held {
  readonly fd: number
  readonly device: number
  /** A level may be unable to set this size on its file systems. */
  readonly maxBytes: number
}

export interface PrivateFileSystems {
  /**
   * Finds the file systems through a process that can access them. During the setup of its sandbox, other file systems may be
   * mounted at these paths briefly.
   */
  readonly look: (pid: number) => Effect.Effect<void>
  /** The memory that their contents use; it is memory of the Run that belongs to none of its processes. */
  readonly heldBytes: Effect.Effect<number>
  /**
   * The first full file system. All have open handles, so that this still works after the process that filled a file system has
   * exited.
   */
  readonly full: Effect.Effect<PrivateLimit | undefined>
}

/** Watches one program's private file systems until the Scope closes. Closing the Scope releases them. */
export const privateFileSystems = (
  own: Pick<RunBounds, "tmpBytes" | "shmBytes">
): Effect.Effect<PrivateFileSystems, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => new Map<PrivateLimit, Held>()),
      (held) => Effect.sync(() => held.forEach(({ fd }) => closeSync(fd)))
    ),
    (held) => ({
      look: (pid) =>
        Effect.sync(() => {
          for (const { limit, path, size } of privateFolders) {
            const inside = `/proc/${pid}/root${path}`
            const earlier = held.get(limit)
            const device = deviceOf(inside)
            if (device === undefined || device === earlier?.device || !isOwn(inside, path)) continue
            const fd = attempt(() =>
              openSync(inside, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
            )
            if (fd === undefined) continue
            if (earlier !== undefined) closeSync(earlier.fd)
            held.set(limit, { fd, device, maxBytes: own[size] })
          }
        }),
      heldBytes: Effect.sync(() => Array.from(held.values()).reduce((sum, { fd }) => sum + fillOf(fd).bytes, 0)),
      full: Effect.sync(
        () =>
          Array.from(held).find(([, { fd, maxBytes }]) => {
            const { bytes, isFull } = fillOf(fd)
            return isFull || bytes >= maxBytes
          })?.[0]
      )
    })
  )
