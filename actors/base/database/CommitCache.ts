import { Context, type Effect } from "effect"

/**
 * Values from the database that remain valid until this or another process commits. Meant for data that every request needs: the
 * caller's identity and rights. Expiry is not a commit: a cached value includes its expiry, and its users compare that with the
 * clock.
 */
export interface CommitCacheShape {
  /**
   * Caches the results of `find` for each key. `find` may only read the database, through `ReadSql`; failures and
   * `undefined` are not cached.
   */
  readonly untilCommit: <A, E, R>(
    find: (key: string) => Effect.Effect<A, E, R>
  ) => (key: string) => Effect.Effect<A, E, R>
  /** Forgets everything, for a change that is not in the database. */
  readonly forget: () => void
}

/** Without an embedded database commits are not counted, so nothing is cached. */
export const CommitCache = Context.Reference<CommitCacheShape>("svc/actors/base/database/CommitCache", {
  defaultValue: () => ({ untilCommit: (find) => find, forget: () => {} })
})
