import { Context, Effect, Layer, Option, type Result } from "effect"
import { SqlClient } from "effect/sql"
import { Readmission } from "../../actors/base/Readmission.ts"

interface Watched {
  /** Returns true if a transaction that begins here belongs to the command. */
  readonly isOwn: (context: Context.Context<never>) => boolean
  readonly at: number
  readonly happens: Effect.Effect<unknown>
  transactions: number
}

/**
 * Commits a change just before a command's own transaction begins, after the command has made all its reads outside the
 * transaction.
 * - `layer`: the `SqlClient` through which the service under test writes
 * - `interrupted`: runs `command`, with `happens` just before its transaction number `at` (the first by default), and fails with
 *   a defect if the command ended before that transaction. Transactions of other fibers do not count
 * - `interruptedRequest`: like `interrupted`, but for the first transaction of an effect that sends a request to the
 *   service. The second value is true if the request began a transaction
 */
export const beforeTransaction = () => {
  const watched = new Set<Watched>()

  const layer = Layer.effect(
    SqlClient.SqlClient,
    Effect.map(SqlClient.SqlClient, (sql) => {
      const withTransaction: SqlClient.SqlClient["withTransaction"] = (effect) =>
        Effect.gen(function* () {
          const context = yield* Effect.context<never>()
          const isNested = Option.isSome(Context.getOption(context, sql.transactionService))
          for (const one of isNested ? [] : [...watched].filter(({ isOwn }) => isOwn(context))) {
            one.transactions += 1
            if (one.transactions === one.at) yield* one.happens
          }
          return yield* sql.withTransaction(effect)
        })
      return new Proxy(sql, {
        get: (target, key, receiver) =>
          key === "withTransaction" ? withTransaction : Reflect.get(target, key, receiver)
      })
    })
  )

  const watching = Effect.fnUntraced(function* <A, E, R, R2>(
    command: Effect.Effect<A, E, R>,
    happens: Effect.Effect<unknown, never, R2>,
    isOwn: Watched["isOwn"],
    at: number
  ) {
    const within = yield* Effect.context<R2>()
    const one: Watched = {
      isOwn,
      at,
      happens: Effect.suspend(() => {
        watched.delete(one)
        return Effect.updateContext(happens, (context: Context.Context<never>) => Context.merge(context, within))
      }),
      transactions: 0
    }
    watched.add(one)
    const result = yield* Effect.result(command)
    return { result, transactions: one.transactions, happened: !watched.delete(one) }
  })

  const interrupted = Effect.fnUntraced(function* <A, E, R, R2>(
    command: Effect.Effect<A, E, R>,
    happens: Effect.Effect<unknown, never, R2>,
    at = 1
  ): Effect.fn.Return<Result.Result<A, E>, never, R | R2> {
    // A command runs in the fiber of its actor, in which the caller's admission is available.
    const admission = Effect.suspend(() => Effect.void)
    const admitted = Effect.provideService(command, Readmission, admission)
    const isOwn = (context: Context.Context<never>) => Context.get(context, Readmission) === admission
    const { happened, result, transactions } = yield* watching(admitted, happens, isOwn, at)
    if (happened) return result
    return yield* Effect.die(new Error(`The command began ${transactions} transactions, not ${at}`))
  })

  const isOfRequest = (context: Context.Context<never>) => Context.get(context, Readmission) !== undefined
  const interruptedRequest = Effect.fnUntraced(function* <A, E, R, R2>(
    request: Effect.Effect<A, E, R>,
    happens: Effect.Effect<unknown, never, R2>
  ) {
    const { happened, result } = yield* watching(request, happens, isOfRequest, 1)
    return [yield* Effect.fromResult(result), happened] as const
  })

  return { layer, interrupted, interruptedRequest }
}
