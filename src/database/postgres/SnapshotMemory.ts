import { Effect, Exit } from "effect"
import type { SqlClient } from "effect/sql"
import { Schema } from "effect"
import type { Commits } from "../../../actors/base/database/Commits.ts"
import type { CommitCacheShape } from "../../../actors/base/database/CommitCache.ts"
import { rowShape } from "../../../actors/base/database/Table.ts"

// Maximum number of cached entries of each kind. Equal to the maximum for the embedded database.
const maxRemembered = 4096

const Snapshot = rowShape({ snapshot: Schema.String })

/**
 * Caches values until any node commits. The text form of PostgreSQL's current snapshot changes with every commit, so the
 * same text means the same rows. The text is queried at most once per turn of the event loop. The result is used only for
 * requests that arrived before the query.
 */
export const snapshotMemory = Effect.fn("snapshotMemory")(function* (
  sql: SqlClient.SqlClient,
  commits: Commits["Service"]
) {
  const forget: Array<() => void> = []
  let epoch = 0
  let known: string | undefined
  let look: Effect.Effect<boolean> | undefined

  const forgetAll = () => {
    epoch++
    for (const clear of forget) clear()
  }

  const endTurn = () => {
    look = undefined
  }

  const read = Effect.matchEffect(Snapshot.rows(sql)`SELECT CAST(pg_current_snapshot() AS TEXT) AS snapshot`, {
    // Ignore this failure, because the next read fails as well and reports that the database is unreachable.
    onFailure: () => Effect.succeed(false),
    onSuccess: ([row]) =>
      Effect.sync(() => {
        if (row === undefined || row.snapshot !== known) forgetAll()
        known = row?.snapshot
        return known !== undefined
      })
  })

  /** Compares the snapshots once for all requests in the same turn of the event loop. */
  const hold = Effect.suspend(() => {
    if (look !== undefined) return look
    return Effect.flatMap(Effect.cached(Effect.uninterruptible(read)), (shared) => {
      look = shared
      setImmediate(endTurn)
      return shared
    })
  })

  yield* Effect.acquireRelease(
    Effect.sync(() =>
      commits.listen(() => {
        endTurn()
        forgetAll()
      })
    ),
    (remove) => Effect.sync(remove)
  )

  const untilCommit: CommitCacheShape["untilCommit"] = <A, E, R>(find: (key: string) => Effect.Effect<A, E, R>) => {
    const remembered = new Map<string, Exit.Exit<A>>()
    forget.push(() => remembered.clear())
    const findAnew = (key: string) =>
      Effect.suspend(() => {
        const since = epoch
        return Effect.map(find(key), (found) => {
          // Do not cache a value that was read while the state changed, because it may be older than the new state.
          if (since === epoch && found !== undefined) {
            if (remembered.size >= maxRemembered) remembered.clear()
            remembered.set(key, Exit.succeed(found))
          }
          return found
        })
      })
    return (key) =>
      Effect.flatMap(hold, (isCurrent): Effect.Effect<A, E, R> => {
        const kept = isCurrent ? remembered.get(key) : undefined
        return kept ?? findAnew(key)
      })
  }

  const memory: CommitCacheShape = { untilCommit, forget: forgetAll }
  return memory
})
