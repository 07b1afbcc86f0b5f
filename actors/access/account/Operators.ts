import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type ApiError, notFound } from "../../../schema/errors/ApiError.ts"
import type { Subject } from "../../../schema/records/Ids.ts"
import { ReadSql } from "../../base/database/ReadSql.ts"
import type { RowOf } from "../../base/database/Table.ts"
import { StoredUser } from "./UserRow.ts"

const shown = StoredUser.only("subject", "email", "display_name", "status")
export type OperatorRow = RowOf<typeof shown.columns>

/**
 * The operators of the installation, appointed with `svc admin`. The role grants nothing in any Workspace; a single table of
 * routes defines what operators may do over HTTP.
 */
export class Operators extends Context.Service<
  Operators,
  {
    readonly list: Effect.Effect<ReadonlyArray<OperatorRow>>
    /** Reads the database on every request, so a revocation takes effect immediately. */
    readonly isOperator: (subject: string) => Effect.Effect<boolean>
    /**
     * Makes a person an operator, in the caller's transaction. Repeating the call changes nothing. Fails with `not_found`
     * for an unknown subject.
     */
    readonly grant: (subject: Subject) => Effect.Effect<void, ApiError>
    /**
     * Revokes the role, in the caller's transaction. Repeating the call changes nothing. Fails with `not_found` for an
     * unknown subject.
     */
    readonly revoke: (subject: Subject) => Effect.Effect<void, ApiError>
  }
>()("svc/actors/access/account/Operators") {
  static readonly layer = Layer.effect(
    Operators,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const read = yield* ReadSql

      const put = Effect.fnUntraced(function* (subject: Subject, is_operator: 0 | 1) {
        const changed = yield* Effect.orDie(sql`UPDATE users SET ${StoredUser.changes(sql, { is_operator })}
          WHERE subject = ${subject} RETURNING subject`)
        if (changed.length === 0) return yield* notFound("Account")
      })

      return Operators.of({
        list: Effect.orDie(
          shown.rows(read)`SELECT subject, email, display_name, status FROM users WHERE is_operator = 1 ORDER BY email`
        ),
        isOperator: Effect.fn("Operators.isOperator")(function* (subject) {
          const rows = yield* read`SELECT 1 AS one FROM users
            WHERE subject = ${subject} AND is_operator = 1 AND status = 'active'`
          return rows.length > 0
        }, Effect.orDie),
        grant: (subject) => put(subject, 1),
        revoke: (subject) => put(subject, 0)
      })
    })
  )
}
