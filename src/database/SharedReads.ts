import type { DatabaseSync } from "node:sqlite"
import { Effect, Exit, Result } from "effect"
import { hasProperty } from "effect/Predicate"
import type { Commits } from "../../actors/base/database/Commits.ts"
import type { CommitCacheShape } from "../../actors/base/database/CommitCache.ts"
import type { ReadSnapshotShape } from "../../actors/base/database/ReadSnapshot.ts"

// Maximum number of cached entries of each kind, more than the number of credentials in use at a time.
const maxRemembered = 4096

/**
 * Manages the read transaction of a read-only connection. Locking the file costs more than most reads, so all reads in one turn
 * of the event loop share one lock. The transaction begins with the first read and ends at the end of the turn, or earlier
 * if this process writes something. If the transaction were open during a commit, SQLite could not empty its log, and would
 * try again after every following commit. Cached values are validated against SQLite's own count of commits by other
 * connections, which is read before a value is used and when the transaction begins. This connection never writes, so the
 * count covers every change.
 */
export const sharedReads = (database: DatabaseSync, commits: Commits["Service"] | undefined) => {
  const control = {
    begin: database.prepare("BEGIN"),
    version: database.prepare("PRAGMA data_version"),
    rollback: database.prepare("ROLLBACK")
  }
  const forget: Array<() => void> = []
  let isOpen = false
  // True if the cached values have been compared with the commit count and need no further comparison.
  let isHeld = false
  // True if a single comparison is enough for the rest of this turn of the event loop.
  let isTurn = false
  let version: unknown
  let epoch = 0

  const endReads = () => {
    isHeld = isHeld && isTurn
    if (!isOpen) return
    isOpen = false
    // Roll back, which cannot fail because nothing was written. An open transaction would make the connection return old data
    // forever.
    control.rollback.get()
  }

  const end = () => {
    isTurn = false
    endReads()
  }

  const renewForTurn = () => {
    end()
    isTurn = true
    setImmediate(end)
  }

  const forgetAll = () => {
    epoch++
    for (const clear of forget) clear()
  }

  const compareVersion = () => {
    const row = control.version.get()
    const current = hasProperty(row, "data_version") ? row.data_version : undefined
    if (current === version && current !== undefined) return
    version = current
    forgetAll()
  }

  const begin = () => {
    if (isOpen) return
    // Avoid `run`, which would query the number of changes on every read.
    control.begin.get()
    isOpen = true
    queueMicrotask(endReads)
    compareVersion()
  }

  /** Validates the cached values. This does not need a transaction. */
  const hold = () => {
    if (isOpen || isHeld) return
    compareVersion()
    isHeld = true
    if (!isTurn) queueMicrotask(endReads)
  }

  const untilCommit: CommitCacheShape["untilCommit"] = <A, E, R>(find: (key: string) => Effect.Effect<A, E, R>) => {
    const remembered = new Map<string, Exit.Exit<A>>()
    forget.push(() => remembered.clear())
    const findAnew = (key: string) => {
      const since = epoch
      return Effect.map(find(key), (found) => {
        // Cache the value. It was read either from this state, or from a newer state that has not been checked yet. In the
        // latter case, the next check removes the value.
        if (since === epoch && found !== undefined) {
          if (remembered.size >= maxRemembered) remembered.clear()
          remembered.set(key, Exit.succeed(found))
        }
        return found
      })
    }
    return (key) =>
      Effect.suspend((): Effect.Effect<A, E, R> => {
        // Ignore a database fault here, because the read itself reports it.
        const isTrue = Result.isSuccess(Result.try(hold))
        return (isTrue ? remembered.get(key) : undefined) ?? findAnew(key)
      })
  }

  const unlisten = [commits?.listen(end), commits?.beforeWrites(endReads)]
  const close = () => {
    for (const remove of unlisten) remove?.()
    end()
  }
  const snapshot: ReadSnapshotShape = { renew: end, renewForTurn }
  const memory: CommitCacheShape = { untilCommit, forget: forgetAll }
  return { before: begin, memory, snapshot, close }
}
