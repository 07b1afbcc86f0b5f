import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { isSqlError, type SqlError } from "effect/sql/SqlError"

const isOwnFailure = <E>(error: E): error is Exclude<E, SqlError> => !isSqlError(error)

/**
 * Runs `effect` in one transaction: committed on success, rolled back on any failure. Faults of the database itself are
 * defects, since no caller could fix them.
 */
export const transaction =
  (sql: SqlClient.SqlClient) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, Exclude<E | SqlError, SqlError>, R> =>
    Effect.catch(sql.withTransaction(effect), (error) => (isOwnFailure(error) ? Effect.fail(error) : Effect.die(error)))
