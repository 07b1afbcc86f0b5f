import { Context, type Effect } from "effect"

/** Describes the value found for one key. */
export interface Remembering<A> {
  /** Its size in bytes, where sizes differ; a value without a size is not cached. */
  readonly weigh?: (found: A, key: string) => number | undefined
  /** The time (milliseconds) after which it is read again. Without it, only a commit invalidates the value. */
  readonly until?: (found: A) => number
}

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
    find: (key: string) => Effect.Effect<A, E, R>,
    remembering?: Remembering<A>
  ) => (key: string) => Effect.Effect<A, E, R>
  /** Forgets everything, for a change that is not in the database. */
  readonly forget: () => void
}

/** Without an embedded database commits are not counted, so nothing is cached. */
export const CommitCache = Context.Reference<CommitCacheShape>("svc/actors/base/database/CommitCache", {
  defaultValue: () => ({ untilCommit: (find) => find, forget: () => {} })
})
