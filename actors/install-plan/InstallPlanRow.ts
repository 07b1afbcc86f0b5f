import { Schema } from "effect"
import { CreateInstallPlan } from "../../schema/api/InstallPlansApi.ts"
import { Finding } from "../../schema/records/CompatibilityReport.ts"
import { InstallPlan, type InstallPlanPhase, nextActionOf } from "../../schema/records/InstallPlan.ts"
import { CommandContext } from "../../schema/protocol/Command.ts"
import { present } from "../run/RunRow.ts"

export interface InstallPlanRow {
  readonly id: string
  readonly workspace_id: string
  readonly phase: InstallPlanPhase
  readonly request: string
  readonly private_variables: string | null
  readonly actor: string
  readonly source_id: string | null
  readonly sync_run_id: string | null
  readonly check_run_id: string | null
  readonly source_snapshot_id: string | null
  readonly compatibility_report_id: string | null
  readonly install_config_id: string | null
  readonly capsule_id: string | null
  readonly plan_run_id: string | null
  readonly diagnostics: string
  readonly created_at: string
  readonly updated_at: string
}

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
