import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { ApiError } from "../../../schema/errors/ApiError.ts"

/** The refusal for a restored membership. */
export const membershipUnconfirmed = new ApiError({
  code: "restore_unconfirmed",
  message:
    "The service was restored from a backup, and your membership of this Workspace is not confirmed yet. Ask the operator, who confirms it with `svc admin restore-review`."
})

/**
 * True if all of a person's memberships come from a restore; until one of them is confirmed, they do not receive new memberships
 * either.
 */
export const isUnconfirmed = Effect.fn("isUnconfirmed")(function* (subject: string) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql`SELECT 1 AS one FROM memberships WHERE subject = ${subject} AND status = 'unconfirmed'
    AND NOT EXISTS (SELECT 1 FROM memberships a WHERE a.subject = ${subject} AND a.status = 'active') LIMIT 1`
  return rows.length > 0
}, Effect.orDie)
