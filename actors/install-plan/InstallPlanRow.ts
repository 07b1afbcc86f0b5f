import { Schema } from "effect"
import { CreateInstallPlan } from "../../schema/api/InstallPlansApi.ts"
import { Finding } from "../../schema/records/CompatibilityReport.ts"
import { InstallPlan, InstallPlanPhase, nextActionOf } from "../../schema/records/InstallPlan.ts"
import { CommandContext } from "../../schema/protocol/Command.ts"
import { present } from "../run/RunRow.ts"
import {
  CapsuleId,
  CompatibilityReportId,
  InstallConfigId,
  InstallPlanId,
  RunId,
  SourceId,
  SourceSnapshotId,
  WorkspaceId
} from "../../schema/records/Ids.ts"
import { Timestamp } from "../../schema/records/Primitives.ts"
import { type RowOf, table } from "../database/Table.ts"

/** Installations on their way. */
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
  diagnostics: Schema.String,
  created_at: Timestamp,
  updated_at: Timestamp
})
export type InstallPlanRow = RowOf<typeof InstallPlanRow.columns>

const { variables: _private, ...publicFields } = CreateInstallPlan.fields

/** The request without its private values, as the coordinator keeps it. */
export const StoredRequest = Schema.Struct(publicFields)
export type StoredRequest = typeof StoredRequest.Type
export const StoredRequestJson = Schema.fromJsonString(StoredRequest)
export const StoredActorJson = Schema.fromJsonString(CommandContext)
const DiagnosticsJson = Schema.fromJsonString(Schema.Array(Finding))

const decodePlan = Schema.decodeUnknownSync(InstallPlan)
const decodeDiagnostics = Schema.decodeUnknownSync(DiagnosticsJson)

/** At most this many diagnostics are kept; a module with more problems has enough to show. */
export const maxDiagnostics = 50

/** The public projection: bounded references and diagnostics. Records of the initial commit are named once they exist. */
export const toInstallPlan = (row: InstallPlanRow): InstallPlan =>
  decodePlan({
    id: row.id,
    workspaceId: row.workspace_id,
    phase: row.phase,
    nextAction: nextActionOf(row.phase),
    diagnostics: decodeDiagnostics(row.diagnostics),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    ...present({
      sourceId: row.source_id,
      syncRunId: row.sync_run_id,
      compatibilityCheckRunId: row.check_run_id,
      sourceSnapshotId: row.source_snapshot_id,
      compatibilityReportId: row.compatibility_report_id,
      installConfigId: row.install_config_id,
      capsuleId: row.capsule_id,
      planRunId: row.plan_run_id
    })
  })
