import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { MemberStatus } from "../../../schema/records/Workspace.ts"
import { now } from "../../base/Identity.ts"
import { type RestoredRecords, ReviewItem, HeldRecord } from "../../base/RestoredRecords.ts"
import { MembershipRow } from "./MembershipRow.ts"
import { rowShape } from "../../base/database/Table.ts"

/** Memberships that a restore brought back. */
export const restoredMemberships = Effect.map(SqlClient.SqlClient, (sql): RestoredRecords => {
  const set = Effect.fnUntraced(function* (id: string, status: MemberStatus) {
    yield* sql`UPDATE memberships SET ${MembershipRow.changes(sql, { status, updated_at: yield* now })}
      WHERE id = ${id} AND status = 'unconfirmed'`
  }, Effect.orDie)

  return {
    kind: "membership",
    hold: Effect.gen(function* () {
      const held = yield* rowShape(HeldRecord.fields).rows(sql)`SELECT id, status AS "previousStatus" FROM memberships
        WHERE status = 'active' ORDER BY id`
      yield* sql`UPDATE memberships SET status = 'unconfirmed' WHERE status = 'active'`
      // An invitation that may have been withdrawn since the backup must not become valid again.
      yield* sql`UPDATE memberships SET ${MembershipRow.changes(sql, { status: "suspended", updated_at: yield* now })}
        WHERE status = 'invited'`
      return held
    }).pipe(Effect.orDie),
    pending: Effect.orDie(rowShape(ReviewItem.fields).rows(
      sql
    )`SELECT m.id, 'membership' AS kind, w.id AS "workspaceId", w.handle AS workspace,
        u.email || ' as ' || m.role AS description, r.previous_status AS "previousStatus", m.updated_at AS "changedAt"
      FROM restore_review r JOIN memberships m ON m.id = r.record_id AND m.status = 'unconfirmed'
      JOIN workspaces w ON w.id = m.workspace_id JOIN users u ON u.subject = m.subject
      WHERE r.decision IS NULL ORDER BY w.handle, u.email, m.id`),
    confirm: (id) => set(id, "active"),
    remove: (id) => set(id, "suspended")
  }
})
