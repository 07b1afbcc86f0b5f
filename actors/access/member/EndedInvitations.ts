import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { now } from "../../base/Identity.ts"
import { InvitationRow } from "./InvitationRow.ts"

/** Ends every invitation, in the caller's transaction: one that was withdrawn after the backup must not become valid again. */
export const endInvitations = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const at = yield* now
  yield* sql`UPDATE invitations SET ${InvitationRow.changes(sql, { status: "revoked", ended_at: at })}
    WHERE status = 'pending' AND expires_at > ${at}`
}).pipe(Effect.orDie, Effect.withSpan("endInvitations"))
