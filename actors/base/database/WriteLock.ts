import { Context, Effect } from "effect"

/**
 * True if a statement does not need the write lock of a database with several writers: the statement changes a single row
 * and checks all its conditions itself, and no decision depends on that row together with other rows. The embedded database
 * ignores this setting.
 */
export const WithoutWriteLock = Context.Reference<boolean>("svc/actors/base/database/WithoutWriteLock", {
  defaultValue: () => false
})

/** Runs a single statement without the write lock. Inside a transaction it has no effect. */
export const withoutWriteLock = <A, E, R>(statement: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.provideService(statement, WithoutWriteLock, true)
