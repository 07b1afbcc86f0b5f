import { Context, type Effect } from "effect"

/**
 * What was read from the database and need not be read again until something is committed there, by this process or by
 * another one. Meant for what every request asks: who is it, and what may they do. Expiry is no commit: what is remembered
 * carries its end, and whoever uses it compares that with the clock.
 */
export interface ReadMemoryShape {
  /**
   * Remembers what `find` succeeded with for each key. `find` may read the database only, through `ReadSql`; what it fails
   * with is not remembered, and neither is `undefined`. Where sizes differ, `weigh` gives the bytes of what was found; what has
   * no weight is not remembered.
   */
  readonly untilCommit: <A, E, R>(
    find: (key: string) => Effect.Effect<A, E, R>,
    weigh?: (found: A) => number | undefined
  ) => (key: string) => Effect.Effect<A, E, R>
  /** Forgets everything, for a change that is not in the database. */
  readonly forget: () => void
}

/** Without an embedded database nobody counts the commits, so nothing is remembered. */
export const ReadMemory = Context.Reference<ReadMemoryShape>("svc/database/ReadMemory", {
  defaultValue: () => ({ untilCommit: (find) => find, forget: () => {} })
})
