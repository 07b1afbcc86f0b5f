import { Context, Effect } from "effect"

/**
 * True if a statement or a transaction does not need the write lock of a database with several writers: each statement checks
 * all its conditions itself, no decision depends on what it changes together with other rows, and it changes rows of a single
 * record, so it cannot wait for a transaction that waits for it. The embedded database ignores this setting.
 */
export const WithoutWriteLock = Context.Reference<boolean>("svc/actors/base/database/WithoutWriteLock", {
  defaultValue: () => false
})

/** Runs a single statement or a transaction without the write lock. Inside a transaction it has no effect. */
export const withoutWriteLock = <A, E, R>(writing: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.provideService(writing, WithoutWriteLock, true)
