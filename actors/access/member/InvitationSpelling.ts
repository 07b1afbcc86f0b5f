import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { withStoredSpelling } from "../../../schema/records/EmailAddress.ts"
import { InvitationRow } from "./InvitationRow.ts"

/** Rewrites invited addresses that an earlier release stored with a domain in another script. Runs with the migrations. */
export const respellInvitations = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* InvitationRow.some(sql, "id", "email")`SELECT id, email FROM invitations
    WHERE octet_length(email) > length(email)`
  for (const { email, id } of rows) {
    if (email === null) continue
    const changed = InvitationRow.changes(sql, { email: withStoredSpelling(email) })
    yield* sql`UPDATE invitations SET ${changed} WHERE id = ${id}`
  }
})
