import { isInService } from "../../../schema/records/CapsuleLifecycle.ts"
import { Effect, Schema, Struct } from "effect"
import { SqlClient } from "effect/sql"
import { RunGroupMemberRow, type RunGroupRow } from "./RunGroupRow.ts"
import type { Member, Standing } from "./WaveDecision.ts"
import { CapsuleRow } from "../../ledger/capsule/CapsuleRow.ts"
import { type RowOf, rowShape } from "../../base/database/Table.ts"
import { DependencyEdgeRow } from "../../ledger/consumption/DependencyRow.ts"
import { RunRow } from "../../ledger/run/RunRow.ts"
import { type RunId } from "../../../schema/records/Ids.ts"

const { capsule_id, code, decision, message, wave } = RunGroupMemberRow.columns

const MemberRow = rowShape({
  capsule_id,
  name: CapsuleRow.columns.name,
  status: CapsuleRow.columns.status,
  wave,
  decision,
  code,
  message
})
type MemberRow = RowOf<typeof MemberRow.columns>

/** A plan of the group, and the apply that used the plan. */
const PlanRow = rowShape({
  ...Struct.pick(RunRow.columns, ["id", "status", "created_at", "error_code", "error_message"]),
  capsule_id: CapsuleRow.columns.id,
  apply_id: Schema.NullOr(RunRow.columns.id),
  apply_status: Schema.NullOr(RunRow.columns.status),
  apply_error_code: RunRow.columns.error_code,
  apply_error_message: RunRow.columns.error_message
})
type PlanRow = RowOf<typeof PlanRow.columns>

interface Reason {
  readonly code: string
  readonly message: string
}

/** A Capsule of a group, with the status of its plan and apply. */
export interface GroupMember extends Member {
  readonly name: string
  readonly wave: number
  readonly planRunId: RunId | undefined
  readonly applyRunId: RunId | undefined
  readonly reason: Reason | undefined
}

const reasonOf = (code: string | null, message: string | null): Reason | undefined =>
  code === null ? undefined : { code, message: message ?? code }

type Found = Pick<GroupMember, "standing" | "reason">

const found = (standing: Standing, reason?: Reason): Found => ({ standing, reason })

const ofApply = (plan: PlanRow): Found => {
  switch (plan.apply_status) {
    case "succeeded":
      return found("applied")
    case "cancelled":
      return found("cancelled", { code: "cancelled", message: "Its apply was cancelled. Plan it again to go on." })
    case "failed":
      return found("failed", reasonOf(plan.apply_error_code, plan.apply_error_message))
    default:
      return found("applying")
  }
}

const ofPlan = (plan: PlanRow): Found => {
  if (plan.apply_id !== null) return ofApply(plan)
  switch (plan.status) {
    case "queued":
    case "running":
      return found("planning")
    case "waiting_approval":
      return found("waiting_approval")
    case "succeeded":
      return found("approved")
    case "superseded":
      return found("outdated")
    case "cancelled":
      return found("cancelled", { code: "cancelled", message: "Its plan was cancelled. Plan it again to go on." })
    case "expired":
      return found("failed", { code: "expired", message: "Its plan has expired. Plan it again to go on." })
    case "failed":
      return found("failed", reasonOf(plan.error_code, plan.error_message))
  }
}

const standingOf = (group: RunGroupRow, row: MemberRow, plan: PlanRow | undefined): Found => {
  const reason = reasonOf(row.code, row.message)
  if (row.decision === "left_out") return found("left_out", reason)
  const planned = plan === undefined ? undefined : ofPlan(plan)
  if (planned?.standing === "applied" || planned?.standing === "applying") return planned
  if (!isInService(row.status)) {
    return found("left_out", { code: `capsule_${row.status}`, message: `The Capsule is ${row.status}.` })
  }
  if (group.cancelled_at !== null && (planned === undefined || ["cancelled", "outdated"].includes(planned.standing))) {
    return found("cancelled", { code: "cancelled", message: group.cancel_reason ?? "The update was cancelled." })
  }
  if (planned !== undefined && planned.standing !== "outdated") return planned
  if (row.decision === "refused") return found("failed", reason)
  return planned ?? found("unplanned")
}

/** Returns the Capsules of a group in wave order, and the dependencies between them. */
export const groupMembers = Effect.fn("groupMembers")(function* (group: RunGroupRow) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* MemberRow.rows(sql)`SELECT m.capsule_id, c.name, c.status, m.wave, m.decision, m.code, m.message
    FROM run_group_members m JOIN capsules c ON c.id = m.capsule_id
    WHERE m.group_id = ${group.id} ORDER BY m.wave, c.created_at, c.id`
  const plans = yield* PlanRow.rows(
    sql
  )`SELECT p.id, p.capsule_id, p.status, p.created_at, p.error_code, p.error_message,
      a.id AS apply_id, a.status AS apply_status, a.error_code AS apply_error_code, a.error_message AS apply_error_message
    FROM runs p LEFT JOIN runs a ON a.id = p.used_by_run_id
    WHERE p.run_group_id = ${group.id} AND p.type = 'plan' ORDER BY p.created_at, p.id`
  const newest = new Map<string, PlanRow>()
  for (const plan of plans) {
    // If two plans were created at the same time, the plan that is not void is newer.
    const isOlder = plan.status === "superseded" && newest.get(plan.capsule_id)?.created_at === plan.created_at
    if (!isOlder) newest.set(plan.capsule_id, plan)
  }
  const edges = yield* DependencyEdgeRow.rows(
    sql
  )`SELECT DISTINCT d.producer_capsule_id AS producer, d.consumer_capsule_id AS consumer
    FROM dependencies d JOIN run_group_members p ON p.group_id = ${group.id} AND p.capsule_id = d.producer_capsule_id
    JOIN run_group_members c ON c.group_id = ${group.id} AND c.capsule_id = d.consumer_capsule_id`
  const members = rows.map((row): GroupMember => {
    const plan = newest.get(row.capsule_id)
    return {
      ...standingOf(group, row, plan),
      capsuleId: row.capsule_id,
      isBehind: row.status === "stale" || row.status === "error",
      name: row.name,
      wave: row.wave,
      planRunId: plan?.id,
      applyRunId: plan?.apply_id ?? undefined
    }
  })
  return { members, edges }
}, Effect.orDie)
