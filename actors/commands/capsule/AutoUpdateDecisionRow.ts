import { Schema } from "effect"
import { AutoUpdateVerdict } from "../../../schema/records/AutoUpdate.ts"
import { AutoUpdateDecisionId, CapsuleId, RunId, SourceSnapshotId } from "../../../schema/records/Ids.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { type RowOf, table } from "../../base/database/Table.ts"

/** The decision about a commit. */
export const AutoUpdateDecisionRow = table("auto_update_decisions", {
  id: AutoUpdateDecisionId,
  capsule_id: CapsuleId,
  source_snapshot_id: SourceSnapshotId,
  resolved_commit: Schema.String,
  decision: AutoUpdateVerdict,
  reason: Schema.String,
  message: Schema.String,
  run_id: Schema.NullOr(RunId),
  execution_authority_epoch: Schema.Int,
  state_generation: Schema.Int,
  created_at: Timestamp,
  updated_at: Timestamp
})
export type AutoUpdateDecisionRow = RowOf<typeof AutoUpdateDecisionRow.columns>
