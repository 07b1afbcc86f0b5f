import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { TransactionKey } from "../../runner/thread/OutsideTransaction.ts"

/** The client, with transactions that are visible to code which does not know the client: see `outsideTransaction`. */
export const namedTransactions = (sql: SqlClient.SqlClient): SqlClient.SqlClient => {
  const { transactionService } = sql
  const withTransaction: SqlClient.SqlClient["withTransaction"] = (effect) =>
    sql.withTransaction(Effect.provideService(effect, TransactionKey, transactionService))
  return new Proxy(sql, {
    get: (target, key, receiver) => (key === "withTransaction" ? withTransaction : Reflect.get(target, key, receiver))
  })
}
