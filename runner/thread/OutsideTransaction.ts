import { Context, Effect } from "effect"

/** The key of the service that contains the connection for a fiber's transaction. Every write connection sets this key. */
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
 * Fails with a defect if the effect runs inside a database transaction, because every other writer would wait for the
 * effect. Use this for effects that wait for a thread, a process or the network. Run such effects before the transaction,
 * and check in the transaction that nothing has changed.
 */
export const outsideTransaction =
  (what: string) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.contextWith((context: Context.Context<R>) =>
      isWithin(context) ? Effect.die(new Error(`${what} inside a database transaction`)) : effect
    )
