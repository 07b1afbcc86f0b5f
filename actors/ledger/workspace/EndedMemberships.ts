import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { now } from "../../base/Identity.ts"
import { rowShape } from "../../base/database/Table.ts"
import { MembershipRow } from "./MembershipRow.ts"

const OwnedAlone = rowShape({ handle: Schema.String })

/** The Workspaces, by handle, that would be left without an active owner if this person left; archived ones need none. */
export const ownedAlone = Effect.fn("ownedAlone")(function* (subject: string) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* OwnedAlone.rows(sql)`SELECT w.handle FROM memberships m JOIN workspaces w ON w.id = m.workspace_id
    WHERE m.subject = ${subject} AND m.role = 'owner' AND m.status = 'active' AND w.archived_at IS NULL
      AND NOT EXISTS (SELECT 1 FROM memberships o JOIN users u ON u.subject = o.subject
        WHERE o.workspace_id = m.workspace_id AND o.subject <> ${subject} AND o.role = 'owner' AND o.status = 'active'
          AND u.status = 'active')
    ORDER BY w.handle`
  return rows.map(({ handle }) => handle)
}, Effect.orDie)

/** Ends every membership of a deleted account, in the caller's transaction. */
export const endMemberships = Effect.fn("endMemberships")(function* (subject: string) {
  const sql = yield* SqlClient.SqlClient
  const at = yield* now
  yield* sql`UPDATE memberships SET ${MembershipRow.changes(sql, { status: "suspended", left_at: at, updated_at: at })}
    WHERE subject = ${subject} AND status <> 'suspended'`
}, Effect.orDie)
