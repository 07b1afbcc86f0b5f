import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Subject, WorkspaceId } from "../../../schema/records/Ids.ts"
import { MemberStatus, Role } from "../../../schema/records/Workspace.ts"
import { Audit } from "../../base/audit/Audit.ts"
import { Flag, type RowOf, rowShape, table } from "../../base/database/Table.ts"
import { now } from "../../base/Identity.ts"
import { admitMember, changeMember } from "../../ledger/workspace/MembershipRow.ts"
import {
  type HeldMembership,
  type ProvenClaims,
  type ProvisioningChange,
  provisioningDecision
} from "./ProvisioningDecision.ts"
import type { ProvisioningRule } from "./ProvisioningRules.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"

/** Memberships that the upstream sign-in rules manage. Memberships that people granted have no row here. */
export const ProvisionedMembership = table("provisioned_memberships", {
  workspace_id: WorkspaceId,
  subject: Subject,
  /** `null` after the rules have ended the membership. From then on, only the rules can restore it. */
  role: Schema.NullOr(Role),
  updated_at: Timestamp
})
type ProvisionedMembership = RowOf<typeof ProvisionedMembership.columns>

const Held = rowShape({
  workspace_id: WorkspaceId,
  archived: Flag,
  role: Schema.NullOr(Role),
  status: Schema.NullOr(MemberStatus),
  has_left: Flag,
  other_owners: Schema.Int,
  is_mapped: Flag,
  mapped: Schema.NullOr(Role)
})

const toHeld = (row: RowOf<typeof Held.columns>): HeldMembership => ({
  workspaceId: row.workspace_id,
  archived: row.archived === 1,
  ...(row.role === null || row.status === null
    ? {}
    : {
        member: {
          role: row.role,
          status: row.status,
          left: row.has_left === 1,
          lastOwner: row.role === "owner" && row.other_owners === 0
        }
      }),
  ...(row.is_mapped === 1 ? { mapped: row.mapped } : {})
})

/**
 * Returns the Workspaces in the current rules and in the rules of an earlier sign-in, with the person's membership in each.
 */
const heldBy = Effect.fnUntraced(function* (subject: string, rules: ReadonlyArray<ProvisioningRule>) {
  const sql = yield* SqlClient.SqlClient
  const named = rules.flatMap(({ workspaces = [] }) => workspaces.map(({ workspaceId }) => workspaceId))
  const rows = yield* Held.rowsOnce(sql)`SELECT w.id AS workspace_id,
      CASE WHEN w.archived_at IS NULL THEN 0 ELSE 1 END AS archived, m.role, m.status,
      CASE WHEN m.left_at IS NULL THEN 0 ELSE 1 END AS has_left,
      (SELECT COUNT(*) FROM memberships o JOIN users u ON u.subject = o.subject
        WHERE o.workspace_id = w.id AND o.subject <> ${subject}
          AND o.role = 'owner' AND o.status = 'active' AND u.status = 'active') AS other_owners,
      CASE WHEN p.subject IS NULL THEN 0 ELSE 1 END AS is_mapped, p.role AS mapped
    FROM workspaces w
    LEFT JOIN memberships m ON m.workspace_id = w.id AND m.subject = ${subject}
    LEFT JOIN provisioned_memberships p ON p.workspace_id = w.id AND p.subject = ${subject}
    WHERE p.subject IS NOT NULL OR ${named.length === 0 ? sql`1 = 0` : sql.in("w.id", [...new Set(named)])}
    ORDER BY w.id`
  return rows.map(toHeld)
}, Effect.orDie)

const record = Effect.fnUntraced(function* (workspaceId: WorkspaceId, subject: Subject, role: Role | null) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`INSERT INTO provisioned_memberships ${ProvisionedMembership.values(sql, {
    workspace_id: workspaceId,
    subject,
    role,
    updated_at: yield* now
  })} ON CONFLICT (workspace_id, subject) DO UPDATE SET role = excluded.role, updated_at = excluded.updated_at`
}, Effect.orDie)

const release = Effect.fnUntraced(function* (workspaceId: WorkspaceId, subject: Subject) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`DELETE FROM provisioned_memberships WHERE workspace_id = ${workspaceId} AND subject = ${subject}`
}, Effect.orDie)

const apply = Effect.fnUntraced(function* (subject: Subject, change: ProvisioningChange, requestId?: string) {
  const { workspaceId } = change
  const note = Effect.fnUntraced(function* (data: { readonly role: Role } | { readonly status: MemberStatus }) {
    const audit = yield* Audit
    yield* audit.append({
      workspaceId,
      actor: { kind: "service" },
      action: "member.provision",
      target: { kind: "member", id: subject },
      data,
      requestId
    })
  })
  switch (change.kind) {
    case "admit":
      yield* admitMember({ workspaceId, subject, role: change.role })
      yield* record(workspaceId, subject, change.role)
      return yield* note({ role: change.role })
    case "set_role":
      yield* changeMember({ workspaceId, subject }, { role: change.role })
      yield* record(workspaceId, subject, change.role)
      return yield* note({ role: change.role })
    case "end":
      yield* changeMember({ workspaceId, subject }, { status: "suspended" })
      yield* record(workspaceId, subject, null)
      return yield* note({ status: "suspended" })
    case "release":
      return yield* release(workspaceId, subject)
    case "keep_last_owner":
      return yield* Effect.logWarning(
        `The sign-in rules no longer make ${subject} owner of ${workspaceId}, which has no other: the role stays.`
      )
  }
})

/** Returns true if the rules give an account to a person with these claims. */
export const isAdmitted = (rules: ReadonlyArray<ProvisioningRule>, claims: ProvenClaims): boolean =>
  provisioningDecision(rules, claims, []).admitted

/** Updates the person's memberships according to the rules. Runs in the caller's transaction. */
export const provision = Effect.fn("provision")(function* (
  subject: Subject,
  rules: ReadonlyArray<ProvisioningRule>,
  claims: ProvenClaims,
  requestId?: string
) {
  const { changes } = provisioningDecision(rules, claims, yield* heldBy(subject, rules))
  yield* Effect.forEach(changes, (change) => apply(subject, change, requestId), { discard: true })
})
