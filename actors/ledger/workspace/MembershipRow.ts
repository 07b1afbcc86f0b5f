import { Effect, Schema } from "effect"
import { MembershipId, Subject, WorkspaceId } from "../../../schema/records/Ids.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { MemberStatus, Role } from "../../../schema/records/Workspace.ts"
import { type RowOf, rowShape, table } from "../../base/database/Table.ts"
import { SqlClient } from "effect/sql"
import { newId, now } from "../../base/Identity.ts"
import { HeldRecord, type RestoredRecords, ReviewItem } from "../../base/RestoredRecords.ts"
import { markReportsOfAccount, markReportsOfWorkspace } from "../pull-request-report/ReportMarks.ts"

/** The members of each Workspace. */
export const MembershipRow = table("memberships", {
  id: MembershipId,
  workspace_id: WorkspaceId,
  subject: Subject,
  role: Role,
  status: MemberStatus,
  /** Time at which the person left. They can return only through a new invitation. */
  left_at: Schema.NullOr(Timestamp),
  created_at: Timestamp,
  updated_at: Timestamp,
  /**
   * A higher role that a link offered, stored until an owner confirms or dismisses the offer. Any change to the membership
   * removes the offer.
   */
  offered_role: Schema.NullOr(Role)
})
export type MembershipRow = RowOf<typeof MembershipRow.columns>

/**
 * Makes a person an active member, in the caller's transaction. Call it only after the person has agreed. A former member is
 * readmitted with the given role.
 */
export const admitMember = Effect.fn("admitMember")(function* (member: {
  readonly workspaceId: WorkspaceId
  readonly subject: string
  readonly role: Role
  /** A higher role that an owner must confirm. */
  readonly offeredRole?: Role | null
}) {
  const sql = yield* SqlClient.SqlClient
  const at = yield* now
  yield* sql`INSERT INTO memberships ${MembershipRow.values(sql, {
    id: yield* newId(MembershipId, "mbr"),
    workspace_id: member.workspaceId,
    subject: member.subject,
    role: member.role,
    status: "active",
    left_at: null,
    created_at: at,
    updated_at: at,
    offered_role: member.offeredRole ?? null
  })} ON CONFLICT (workspace_id, subject) DO UPDATE SET role = excluded.role, status = excluded.status,
    left_at = excluded.left_at, updated_at = excluded.updated_at, offered_role = excluded.offered_role`
  yield* markReportsOfWorkspace(sql, member.workspaceId)
}, Effect.orDie)

/** Updates an existing membership in the caller's transaction. Call it only after checking that the change is allowed. */
export const changeMember = Effect.fn("changeMember")(function* (
  member: { readonly workspaceId: WorkspaceId; readonly subject: string },
  change: { readonly role?: Role; readonly status?: MemberStatus }
) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`UPDATE memberships SET ${MembershipRow.changes(sql, {
    ...change,
    offered_role: null,
    updated_at: yield* now
  })}
    WHERE workspace_id = ${member.workspaceId} AND subject = ${member.subject}`
  yield* markReportsOfWorkspace(sql, member.workspaceId)
}, Effect.orDie)

const OwnedAlone = rowShape({ handle: Schema.String })

/**
 * Returns the handles of the Workspaces in which this person is the only active owner. Omits archived Workspaces, which need no
 * owner.
 */
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
  yield* sql`UPDATE memberships SET ${MembershipRow.changes(sql, {
    status: "suspended",
    left_at: at,
    updated_at: at,
    offered_role: null
  })}
    WHERE subject = ${subject} AND status <> 'suspended'`
  yield* markReportsOfAccount(sql, subject)
}, Effect.orDie)

/** Reviews memberships after a restore. */
export const restoredMemberships = Effect.map(SqlClient.SqlClient, (sql): RestoredRecords => {
  const set = Effect.fnUntraced(function* (id: string, status: MemberStatus) {
    const [changed] = yield* MembershipRow.some(sql, "workspace_id")`UPDATE memberships
      SET ${MembershipRow.changes(sql, { status, updated_at: yield* now })}
      WHERE id = ${id} AND status = 'unconfirmed' RETURNING workspace_id`
    if (changed !== undefined) yield* markReportsOfWorkspace(sql, changed.workspace_id)
  }, Effect.orDie)

  return {
    kind: "membership",
    hold: Effect.gen(function* () {
      const held = yield* rowShape(HeldRecord.fields).rows(sql)`SELECT id, status AS "previousStatus" FROM memberships
        WHERE status = 'active' ORDER BY id`
      yield* sql`UPDATE memberships SET status = 'unconfirmed' WHERE status = 'active'`
      // Removes roles that, at the time of the backup, were waiting for an owner's confirmation. These roles can be offered
      // again.
      yield* sql`UPDATE memberships SET offered_role = NULL WHERE offered_role IS NOT NULL`
      // Suspends invited members: their invitation may have been withdrawn after the backup, so the invitation must not
      // become valid again.
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
