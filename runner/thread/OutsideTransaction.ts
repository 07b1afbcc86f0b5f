import { Context, Effect } from "effect"

/** The key under which a fiber in a transaction has the transaction's connection. Every database for writing sets it. */
export const TransactionKey = Context.Reference<Context.Key<unknown, unknown> | undefined>(
  "svc/runner/thread/TransactionKey",
  { defaultValue: () => undefined }
)

const isWithin = (context: Context.Context<never>): boolean => {
  const key = Context.get(context, TransactionKey)
  return key !== undefined && context.mapUnsafe.get(key.key) !== undefined
}

/** True if the current fiber is in a database transaction. */
export const inTransaction: Effect.Effect<boolean> = Effect.contextWith((context: Context.Context<never>) =>
  Effect.succeed(isWithin(context))
)

/**
 * Replaces the effect by a defect inside a database transaction, where every other writer would wait for it. Use it for effects
 * that wait for a thread, a process or the network. Run such an effect before the transaction, and check in the transaction that
 * its subject has not changed.
 */
export const outsideTransaction =
  (what: string) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.contextWith((context: Context.Context<R>) =>
      isWithin(context) ? Effect.die(new Error(`${what} inside a database transaction`)) : effect
    )
