import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Commits } from "../../actors/base/database/Commits.ts"

/** Tracks the largest number of statements in one committed transaction of the tested service. */
export const largestTransaction = () => {
  const seen = { statements: 0 }
  const layer = Layer.effect(
    SqlClient.SqlClient,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      let statements = 0
      // While a transaction is open, no other fiber uses the writing connection.
      const stop = (yield* Commits).beforeWrites(() => {
        statements += 1
      })
      yield* Effect.addFinalizer(() => Effect.sync(stop))
      const counted = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
        Effect.suspend(() => {
          statements = 0
          return Effect.tap(effect, () =>
            Effect.sync(() => {
              seen.statements = Math.max(seen.statements, statements)
            })
          )
        })
      const withTransaction: SqlClient.SqlClient["withTransaction"] = (effect) =>
        Effect.contextWith((context) =>
          context.mapUnsafe.has(sql.transactionService.key)
            ? sql.withTransaction(effect)
            : sql.withTransaction(counted(effect))
        )
      return new Proxy(sql, {
        get: (target, key, receiver) =>
          key === "withTransaction" ? withTransaction : Reflect.get(target, key, receiver)
      })
    })
  )
  return { seen, layer }
}
