import { Context, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import { readmitted } from "../Readmission.ts"

const isOwnFailure = <E>(error: E): error is Exclude<E, SqlError> => !isSqlError(error)

/**
 * Runs `effect` in one transaction: committed on success, rolled back on any failure. Faults of the database itself are
 * defects, since no caller could fix them. Within a request, the outermost transaction begins by checking again whether the caller
 * may still do this (`Readmission`).
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

/** `transaction` in the database of the context. */
export const transacted = <A, E, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, Exclude<E | SqlError, SqlError>, R | SqlClient.SqlClient> =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => transaction(sql)(effect))
