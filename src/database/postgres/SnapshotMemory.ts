import { Effect, Exit } from "effect"
import type { SqlClient } from "effect/sql"
import { Schema } from "effect"
import type { Commits } from "../../../actors/base/database/Commits.ts"
import type { CommitCacheShape } from "../../../actors/base/database/CommitCache.ts"
import { rowShape } from "../../../actors/base/database/Table.ts"

// Maximum number of cached entries of each kind, as for the embedded database.
const maxRemembered = 4096

const Snapshot = rowShape({ snapshot: Schema.String })

/**
 * Caches values until any node commits. PostgreSQL's text of the current snapshot changes with every commit of the server, so equal
 * texts mean equal rows. The text is read at most once per turn of the event loop, and only by requests that arrived before it was
 * asked for.
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
    // The read itself reports that the database cannot be reached.
    onFailure: () => Effect.succeed(false),
    onSuccess: ([row]) =>
      Effect.sync(() => {
        if (row === undefined || row.snapshot !== known) forgetAll()
        known = row?.snapshot
        return known !== undefined
      })
  })

  /** Compares the snapshots, together with everybody who asks in the same turn. */
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
          // A value that was read while another state became known may be older than that state.
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
