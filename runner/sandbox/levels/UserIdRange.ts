import { closeSync, mkdirSync, openSync } from "node:fs"
import { join } from "node:path"
import { Effect, Result, type Scope } from "effect"

/**
 * Consecutive unprivileged user ids that no other server on this machine uses, followed by one id for their common group.
 */
export interface UserIdRange {
  readonly first: number
  readonly count: number
}

/** Folder in which the servers on this machine record the ranges that they have taken. Like the locks, it is cleared at boot. */
const defaultFolder = "/run/svc-user-ids"
/** The highest id below the id of `nobody`. */
const highestId = 65_533
const exclusiveWithoutWaiting = 2 | 4

/**
 * Lists the possible ranges on a machine, starting with the requested range. Each range has one additional id, for the group
 * that contains all users of the range.
 */
export const rangesFrom = ({ count, first }: UserIdRange): ReadonlyArray<UserIdRange> =>
  Array.from({ length: Math.max(1, Math.floor((highestId + 1 - first) / (count + 1))) }, (_, index) => ({
    first: first + index * (count + 1),
    count
  }))

/**
 * Reserves a range of ids for this server until the scope closes. Two servers with the same range would kill each other's
 * Runs. The kernel releases the lock when the process exits. Returns `undefined` if every range is taken or the folder
 * cannot be used.
 */
export const takeUserIds = Effect.fnUntraced(function* (
  wanted: UserIdRange,
  folder = defaultFolder
): Effect.fn.Return<UserIdRange | undefined, never, Scope.Scope> {
  // Loaded on demand, because loading it would slow down every startup.
  const { linuxCalls } = yield* Effect.promise(() => import("../confinement/LinuxCalls.ts"))
  const take = (range: UserIdRange) =>
    Effect.sync(() =>
      Result.getOrUndefined(
        Result.try(() => {
          mkdirSync(folder, { recursive: true, mode: 0o700 })
          const file = openSync(join(folder, String(range.first)), "a", 0o600)
          if (linuxCalls().attempt("flock", file, exclusiveWithoutWaiting) === 0) return { file, range }
          closeSync(file)
          return undefined
        })
      )
    )
  for (const range of rangesFrom(wanted)) {
    const taken = yield* Effect.acquireRelease(take(range), (lock) =>
      Effect.sync(() => {
        if (lock !== undefined) closeSync(lock.file)
      })
    )
    if (taken !== undefined) return taken.range
  }
  return undefined
})
