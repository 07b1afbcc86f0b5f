import { Schema } from "effect"
import {
  CapsuleId,
  CompatibilityReportId,
  RevisionPlanId,
  RunId,
  SourceSnapshotId,
  WorkspaceId
} from "../../../schema/records/Ids.ts"
import { RevisionPlanPhase } from "../../../schema/records/InstallPlan.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { type RowOf, table } from "../../base/database/Table.ts"
import { FindingsJson } from "../../ledger/run/FindingsJson.ts"

const SteppedPhase = Schema.Literals(
  RevisionPlanPhase.literals.filter((phase) => phase !== "applied" && phase !== "superseded")
)

/** Revision plans in progress. */
export const RevisionPlanRow = table("revision_plans", {
  id: RevisionPlanId,
  workspace_id: WorkspaceId,
  capsule_id: CapsuleId,
  ref: Schema.String,
  /** The progress of the coordinator's own steps; its plan's fate is read from the plan. */
  phase: SteppedPhase,
  actor: Schema.String,
  execution_authority_epoch: Schema.Int,
  sync_run_id: Schema.NullOr(RunId),
  check_run_id: Schema.NullOr(RunId),
  source_snapshot_id: Schema.NullOr(SourceSnapshotId),
  compatibility_report_id: Schema.NullOr(CompatibilityReportId),
  plan_run_id: Schema.NullOr(RunId),
  diagnostics: FindingsJson,
  created_at: Timestamp,
  updated_at: Timestamp
})
export type RevisionPlanRow = RowOf<typeof RevisionPlanRow.columns>
