import { Clock, Context, Effect, References, Scheduler, Tracer } from "effect"
import { SqlClient } from "effect/sql"

/** What a transaction itself reads from its context; everything else is for the statements in it. */
const ownKeys: ReadonlyArray<Context.Key<unknown, unknown>> = [
  Clock.Clock,
  Scheduler.Scheduler,
  Tracer.Tracer,
  Tracer.ParentSpan,
  References.TracerEnabled,
  References.TracerTimingEnabled,
  References.CurrentLoggers,
  References.CurrentLogLevel,
  References.MinimumLogLevel,
  SqlClient.BeginTransaction
]

const ownContext = (whole: Context.Context<never>) => {
  let own: Context.Context<never> = Context.empty()
  for (const key of ownKeys) {
    const value = Context.getOrUndefined(whole, key)
    if (value !== undefined) own = Context.addUnsafe<never, never, unknown>(own, key.key, value)
  }
  return own
}

/** Adds what a transaction has provided to the context around it. */
const within = <R>(whole: Context.Context<R>, own: Context.Context<never>, inner: Context.Context<never>) => {
  const before = own.mapUnsafe
  let context = whole
  for (const [key, value] of inner.mapUnsafe) {
    if (before.get(key) !== value) context = Context.addUnsafe<R, never, unknown>(context, key, value)
  }
  return context
}

/**
 * Makes the transactions of this client cheap. `withTransaction` copies the whole context three times to provide the open
 * transaction in it, and a command's context holds hundreds of services. With this, it copies only what it reads itself.
 */
export const withSmallTransactionContext = (client: SqlClient.SqlClient): SqlClient.SqlClient => {
  const { transactionService, withTransaction } = client
  return Object.assign(client, {
    withTransaction: <A, E, R>(effect: Effect.Effect<A, E, R>) =>
      Effect.contextWith((whole: Context.Context<R>) => {
        // A savepoint provides what it needs to the transaction around it.
        if (Context.getOrUndefined(whole, transactionService) !== undefined) return withTransaction(effect)
        const own = ownContext(whole)
        const inWhole = Effect.updateContext(effect, (inner: Context.Context<never>) => within(whole, own, inner))
        return Effect.setContext(withTransaction(inWhole), own)
      })
  })
}
