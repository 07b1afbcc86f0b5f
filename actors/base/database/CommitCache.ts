import { Context, type Effect } from "effect"

/**
 * Caches values from the database until any process commits. Meant for data that every request needs, such as the caller's
 * identity and rights. If only time passes, the cache is not cleared, so a cached value must contain its expiry, which
 * callers must check.
 */
export interface CommitCacheShape {
  /**
   * Caches the result of `find` for each key. `find` may only read the database, through `ReadSql`. Failures and `undefined`
   * are not cached.
   */
  readonly untilCommit: <A, E, R>(
    find: (key: string) => Effect.Effect<A, E, R>
  ) => (key: string) => Effect.Effect<A, E, R>
  /** Clears the cache. Call it after a change outside the database. */
  readonly forget: () => void
}

/** By default, nothing is cached, because only the embedded database counts commits. */
export const CommitCache = Context.Reference<CommitCacheShape>("svc/actors/base/database/CommitCache", {
  defaultValue: () => ({ untilCommit: (find) => find, forget: () => {} })
})
