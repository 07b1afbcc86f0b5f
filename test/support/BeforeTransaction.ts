import { Effect, Fiber, Layer, Option, type Result } from "effect"
import { SqlClient } from "effect/sql"

interface Watched {
  readonly fiber: Fiber.Fiber<unknown, unknown> | undefined
  readonly at: number
  readonly happens: Effect.Effect<unknown>
  transactions: number
}

/**
 * Commits a change at the last moment before a command's own transaction begins: after everything that the command reads ahead.
 *
 * - `layer`: the `SqlClient` through which the service under test writes
 * - `interrupted`: runs `command`, with `happens` just before its transaction number `at`, the first unless stated; fails with a
 *   defect if the command ended without having begun it. Transactions of other fibers do not count
 */
export const beforeTransaction = () => {
  const watched = new Set<Watched>()

  const layer = Layer.effect(
    SqlClient.SqlClient,
    Effect.map(SqlClient.SqlClient, (sql) => {
      const withTransaction: SqlClient.SqlClient["withTransaction"] = (effect) =>
        Effect.gen(function* () {
          const isNested = Option.isSome(yield* Effect.serviceOption(sql.transactionService))
          const fiber = Fiber.getCurrent()
          for (const one of isNested ? [] : [...watched].filter((each) => each.fiber === fiber)) {
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

  const interrupted = Effect.fnUntraced(function* <A, E, R, R2>(
    command: Effect.Effect<A, E, R>,
    happens: Effect.Effect<unknown, never, R2>,
    at = 1
  ): Effect.fn.Return<Result.Result<A, E>, never, R | R2> {
    const within = yield* Effect.context<R2>()
    const one: Watched = {
      fiber: Fiber.getCurrent(),
      at,
      happens: Effect.suspend(() => {
        watched.delete(one)
        return Effect.provideContext(happens, within)
      }),
      transactions: 0
    }
    watched.add(one)
    const result = yield* Effect.result(command)
    if (watched.delete(one)) {
      return yield* Effect.die(new Error(`The command began ${one.transactions} transactions, not ${at}`))
    }
    return result
  })

  return { layer, interrupted }
}
