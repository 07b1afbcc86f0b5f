import { Context, Effect } from "effect"

/**
 * True for a statement that does not need the write lock of a database with several writers: it changes a single row, checks
 * all its conditions itself, and no decision reads that row together with other rows. The embedded database ignores this.
 */
export const WithoutWriteLock = Context.Reference<boolean>("svc/actors/base/database/WithoutWriteLock", {
  defaultValue: () => false
})

/** Runs a single statement without the write lock. Inside a transaction it has no effect. */
export const withoutWriteLock = <A, E, R>(statement: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.provideService(statement, WithoutWriteLock, true)
