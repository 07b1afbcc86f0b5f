import { Effect, Struct } from "effect"
import { SqlClient } from "effect/sql"
import type { CapsuleId, RunId, Subject, WorkspaceId } from "../../../schema/records/Ids.ts"
import type { AttentionKind } from "../../../schema/records/AttentionItem.ts"
import { type Role, roleAtLeast } from "../../../schema/records/Workspace.ts"
import { ApprovalRuleRow } from "../../access/approval/ApprovalRows.ts"
import { planApproval } from "../../access/approval/PlanApproval.ts"
import { ownStanding, type Reader } from "../../access/approval/RunApprovalReads.ts"
import { currentRights } from "../../access/team/CurrentRights.ts"
import { rowShape } from "../../base/database/Table.ts"
import { CapsuleRow } from "../../ledger/capsule/CapsuleRow.ts"
import { RunRow } from "../../ledger/run/RunRow.ts"
import { MembershipRow } from "../../ledger/workspace/MembershipRow.ts"
import type { OpenItem } from "./AttentionDecision.ts"

/** The lowest role that can act on an entry. The approval rules apply to a plan or change that is waiting for approval. */
export const actingRole: Readonly<Record<Exclude<AttentionKind, "waiting_approval" | "waiting_change">, Role>> = {
  unknown_safety: "member",
  failed: "member",
  uncertain_ground: "owner",
  approved: "admin",
  waiting_credential: "admin",
  check_failed: "member",
  update_held: "member",
  lane_failed: "member",
  work_stuck: "admin",
  origins_unconfirmed: "admin",
  connection_expired: "admin",
  connection_unrenewed: "admin",
  connection_unrevoked: "admin",
  notices_stopped: "admin",
  automation_paused: "admin",
  drifted: "member",
  stale: "member",
  update_open: "member",
  connection_expiring: "admin"
}

/** Maximum number of plans for which the approval rules are evaluated. If there are more plans, only the role is checked. */
const mostRuledPlans = 200

const PlaceRow = rowShape(Struct.pick(CapsuleRow.columns, ["id", "project_id", "environment"]))
const PlanRow = rowShape(
  Struct.pick(RunRow.columns, [
    "id",
    "type",
    "purpose",
    "capsule_id",
    "source_snapshot_id",
    "created_by",
    "trigger_kind"
  ])
)

/** Returns the person's role for each Capsule. Roles from teams depend on the Project and the environment. */
const rolesOf = Effect.fnUntraced(function* (
  workspaceId: WorkspaceId,
  subject: Subject,
  capsuleIds: ReadonlyArray<CapsuleId>
) {
  const sql = yield* SqlClient.SqlClient
  const places =
    capsuleIds.length === 0
      ? []
      : yield* PlaceRow.rows(sql)`SELECT id, project_id, environment FROM capsules WHERE ${sql.in("id", capsuleIds)}`
  const byPlace = new Map<string, Role | undefined>()
  const roles = new Map<CapsuleId, Role | undefined>()
  for (const { environment, id, project_id } of places) {
    const key = `${project_id} ${environment}`
    if (!byPlace.has(key)) {
      const rights = yield* currentRights({ workspaceId, projectId: project_id, environment }, [subject])
      byPlace.set(key, rights.get(subject)?.role)
    }
    roles.set(id, byPlace.get(key))
  }
  return roles
}, Effect.orDie)

/** Returns the plans for which the person's approval would count, alone or together with the approvals of others. */
const countingPlans = Effect.fnUntraced(function* (runIds: ReadonlyArray<RunId>, reader: Reader) {
  const sql = yield* SqlClient.SqlClient
  const plans =
    runIds.length === 0
      ? []
      : yield* PlanRow.rows(sql)`SELECT id, type, purpose, capsule_id, source_snapshot_id, created_by, trigger_kind
          FROM runs
          WHERE ${sql.in("id", runIds)}`
  const counting = new Set<RunId>()
  for (const plan of plans) {
    const { status } = yield* ownStanding(yield* planApproval(plan), reader)
    if (status === "counts" || status === "not_needed") counting.add(plan.id)
  }
  return counting
}, Effect.orDie)

/** Returns the keys of the entries that are waiting for somebody else, because the person cannot act on them. */
export const othersTurns = Effect.fn("othersTurns")(function* (
  workspaceId: WorkspaceId,
  entries: ReadonlyArray<OpenItem>,
  reader: Reader
) {
  const sql = yield* SqlClient.SqlClient
  const [membership] = yield* Effect.orDie(MembershipRow.some(sql, "role")`SELECT role FROM memberships
    WHERE workspace_id = ${workspaceId} AND subject = ${reader.subject} AND status = 'active'`)
  const roles = yield* rolesOf(
    workspaceId,
    reader.subject,
    entries.flatMap(({ capsules }) => capsules.slice(0, 1).map(({ id }) => id))
  )
  const roleFor = ({ capsules: [capsule] }: OpenItem) =>
    (capsule === undefined ? undefined : roles.get(capsule.id)) ?? membership?.role
  const reaches = (entry: OpenItem, needed: Role) => {
    const role = roleFor(entry)
    return role !== undefined && roleAtLeast(role, needed)
  }
  const waiting = entries.flatMap((entry) =>
    entry.kind === "waiting_approval" && entry.runId !== undefined && reaches(entry, "admin") ? [entry.runId] : []
  )
  const rules = yield* Effect.orDie(
    ApprovalRuleRow.some(sql, "id")`SELECT id FROM approval_rules WHERE workspace_id = ${workspaceId} LIMIT 1`
  )
  const ruled = rules.length === 0 ? [] : waiting.slice(0, mostRuledPlans)
  const counting = yield* countingPlans(ruled, reader)
  const isOwn = (entry: OpenItem): boolean => {
    // Members cannot act on an entry whose turn is `operator`.
    if (entry.kind === "waiting_change") return entry.waitsForOthers !== true
    if (entry.turn === "operator") return false
    if (entry.turn !== undefined) return reaches(entry, entry.turn)
    if (entry.kind !== "waiting_approval") return reaches(entry, actingRole[entry.kind])
    if (!reaches(entry, "admin")) return false
    return entry.runId === undefined || !ruled.includes(entry.runId) || counting.has(entry.runId)
  }
  return new Set(entries.flatMap((entry) => (isOwn(entry) ? [] : [entry.key])))
})
