import { Context, type Effect } from "effect"

/** Of what one key's read found. */
export interface Remembering<A> {
  /** Its bytes, where sizes differ; what has no weight is not remembered. */
  readonly weigh?: (found: A, key: string) => number | undefined
  /** The time (milliseconds) from which on it is read anew. Without it, only a commit ends it. */
  readonly until?: (found: A) => number
}

/**
 * What was read from the database and need not be read again until something is committed there, by this process or by
 * another one. Meant for what every request asks: who is it, and what may they do. Expiry is no commit: what is remembered
 * carries its end, and whoever uses it compares that with the clock.
 */
export interface ReadMemoryShape {
  /**
   * Remembers what `find` succeeded with for each key. `find` may read the database only, through `ReadSql`; what it fails
   * with is not remembered, and neither is `undefined`.
   */
  readonly untilCommit: <A, E, R>(
    find: (key: string) => Effect.Effect<A, E, R>,
    remembering?: Remembering<A>
  ) => (key: string) => Effect.Effect<A, E, R>
  /** Forgets everything, for a change that is not in the database. */
  readonly forget: () => void
}

/** Without an embedded database nobody counts the commits, so nothing is remembered. */
export const ReadMemory = Context.Reference<ReadMemoryShape>("svc/database/ReadMemory", {
  defaultValue: () => ({ untilCommit: (find) => find, forget: () => {} })
})
