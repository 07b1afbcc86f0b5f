import { Schema } from "effect"
import { CapsuleId, LeftOverStateId, RunId, StateVersionId, WorkspaceId } from "../../../schema/records/Ids.ts"
import { LeftOverReason } from "../../../schema/records/LeftOverState.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { type RowOf, table } from "../../base/database/Table.ts"

/** States left behind by applies and not accepted by their settlements. */
export const LeftOverStateRow = table("left_over_states", {
  id: LeftOverStateId,
  workspace_id: WorkspaceId,
  capsule_id: CapsuleId,
  run_id: RunId,
  reason: LeftOverReason,
  digest: Schema.String,
  size_bytes: Schema.Int,
  /** `NULL`, like `serial`, when it is not a complete state file. */
  lineage: Schema.NullOr(Schema.String),
  serial: Schema.NullOr(Schema.Int),
  /** Also `NULL` when the tool encrypted it. */
  resource_count: Schema.NullOr(Schema.Int),
  /** Sealed; `NULL` once it has been adopted or discarded. */
  state: Schema.NullOr(Schema.String),
  /** Also `NULL` when they were unknown. */
  sealed_secrets: Schema.NullOr(Schema.String),
  build_digest: Schema.NullOr(Schema.String),
  build_size_bytes: Schema.NullOr(Schema.Int),
  state_version_id: Schema.NullOr(StateVersionId),
  state_generation: Schema.Int,
  execution_authority_epoch: Schema.Int,
  created_at: Timestamp,
  adopted_at: Schema.NullOr(Timestamp),
  adopted_by: Schema.NullOr(Schema.String),
  discarded_at: Schema.NullOr(Timestamp),
  discarded_by: Schema.NullOr(Schema.String)
})
export type LeftOverStateRow = RowOf<typeof LeftOverStateRow.columns>

/** The columns for lists, without sealed values. */
export const ListedLeftOver = LeftOverStateRow.without("state", "sealed_secrets", "build_digest", "build_size_bytes")
export type ListedLeftOver = RowOf<typeof ListedLeftOver.columns>
