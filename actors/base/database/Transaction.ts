import { Context, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import { readmitted } from "../Readmission.ts"

const isOwnFailure = <E>(error: E): error is Exclude<E, SqlError> => !isSqlError(error)

/**
 * Runs `effect` in one transaction, which commits on success and rolls back on any failure. Database errors become defects,
 * because callers cannot fix them. In a request, the outermost transaction starts by checking the caller's permission again
 * (`Readmission`).
 */
export const transaction =
  (sql: SqlClient.SqlClient) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, Exclude<E | SqlError, SqlError>, R> =>
    Effect.catch(
      Effect.contextWith((context: Context.Context<R>) => {
        const isNested = Context.getOrUndefined(context, sql.transactionService) !== undefined
        return sql.withTransaction(isNested ? effect : readmitted(effect))
      }),
      (error) => (isOwnFailure(error) ? Effect.fail(error) : Effect.die(error))
    )

/** Like `transaction`, with the database from the context. */
export const transacted = <A, E, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, Exclude<E | SqlError, SqlError>, R | SqlClient.SqlClient> =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => transaction(sql)(effect))
