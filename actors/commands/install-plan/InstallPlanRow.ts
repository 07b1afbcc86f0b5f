import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { CreateInstallPlan } from "../../../schema/api/InstallPlansApi.ts"
import { InstallPlan, InstallPlanPhase, nextActionOf } from "../../../schema/records/InstallPlan.ts"
import { CommandContext } from "../../../schema/commands/Command.ts"
import { type PlanEnd, readPlanEnd, voidFinding } from "../../ledger/run/PlanEnd.ts"
import { present } from "../../ledger/run/RunRow.ts"
import {
  CapsuleId,
  CompatibilityReportId,
  InstallConfigId,
  InstallPlanId,
  RunId,
  SourceId,
  SourceSnapshotId,
  StateUploadId,
  WorkspaceId
} from "../../../schema/records/Ids.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { type RowOf, table } from "../../base/database/Table.ts"
import { storedRecord } from "../../base/database/StoredRecord.ts"
import { FindingsJson } from "../../ledger/run/CoordinatorSteps.ts"

/** Install plans. */
export const InstallPlanRow = table("install_plans", {
  id: InstallPlanId,
  workspace_id: WorkspaceId,
  phase: InstallPlanPhase,
  request: Schema.String,
  private_variables: Schema.NullOr(Schema.String),
  actor: Schema.String,
  source_id: Schema.NullOr(SourceId),
  sync_run_id: Schema.NullOr(RunId),
  check_run_id: Schema.NullOr(RunId),
  source_snapshot_id: Schema.NullOr(SourceSnapshotId),
  compatibility_report_id: Schema.NullOr(CompatibilityReportId),
  install_config_id: Schema.NullOr(InstallConfigId),
  capsule_id: Schema.NullOr(CapsuleId),
  plan_run_id: Schema.NullOr(RunId),
  diagnostics: FindingsJson,
  state_upload_id: Schema.NullOr(StateUploadId),
  state_sha256: Schema.NullOr(Schema.String),
  created_at: Timestamp,
  updated_at: Timestamp
})
export type InstallPlanRow = RowOf<typeof InstallPlanRow.columns>

const { variables: _private, ...publicFields } = CreateInstallPlan.fields

/** The request as the coordinator stores it, without its private values. */
export const StoredRequest = Schema.Struct(publicFields)
export type StoredRequest = typeof StoredRequest.Type
export const StoredRequestJson = Schema.fromJsonString(StoredRequest)
export const StoredActorJson = Schema.fromJsonString(CommandContext)

const decodePlan = storedRecord(InstallPlan)

/** Maximum number of stored diagnostics. */
export const maxDiagnostics = 50

/** The outcome of the plan, and whether its Capsule can still be planned. */
export interface InstallEnd {
  readonly plan: PlanEnd | undefined
  /** True if the Capsule has never been applied and can still be planned. */
  readonly isCapsuleOpen: boolean
}

/**
 * Returns the finding for a void plan: the Capsule must be planned again, unless a new plan exists or the Capsule has ended.
 */
const voidEnd = (row: InstallPlanRow, { isCapsuleOpen, plan }: InstallEnd) => {
  const goOn = isCapsuleOpen ? `To go on, plan the Capsule ${row.capsule_id ?? ""} again.` : ""
  const finding = row.phase === "reviewable" ? voidFinding(plan, goOn) : undefined
  return finding === undefined
    ? undefined
    : { finding, nextAction: isCapsuleOpen ? ("plan_again" as const) : ("none" as const) }
}

/** Returns true if the Capsule was imported, in which case nothing was planned. */
const isImported = ({ phase, plan_run_id }: InstallPlanRow) => phase === "reviewable" && plan_run_id === null

/**
 * Returns the public projection, with a limited number of references and diagnostics. Refers to records of the initial commit
 * once they exist.
 */
export const toInstallPlan = (row: InstallPlanRow, became: InstallEnd): InstallPlan => {
  const end = voidEnd(row, became)
  const diagnostics = FindingsJson.read(row.diagnostics)
  return decodePlan({
    id: row.id,
    workspaceId: row.workspace_id,
    phase: row.phase,
    nextAction: end?.nextAction ?? (isImported(row) ? "none" : nextActionOf(row.phase)),
    diagnostics: end === undefined ? diagnostics : [...diagnostics, end.finding],
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    ...present({
      sourceId: row.source_id,
      sourceSnapshotId: row.source_snapshot_id,
      installConfigId: row.install_config_id,
      capsuleId: row.capsule_id,
      planRunId: row.plan_run_id
    })
  })
}

/** Returns the public projection with the outcome of the plan, read through `sql`. */
export const readInstallPlan = Effect.fn("readInstallPlan")(function* (sql: SqlClient.SqlClient, row: InstallPlanRow) {
  const plan = yield* readPlanEnd(sql, row.plan_run_id)
  const open = yield* sql`SELECT 1 AS one FROM capsules WHERE id = ${row.capsule_id ?? ""}
    AND (current_state_version_id IS NULL OR status = 'pending') AND status NOT IN ('destroyed', 'released')`
  return toInstallPlan(row, { plan, isCapsuleOpen: open.length > 0 })
}, Effect.orDie)
