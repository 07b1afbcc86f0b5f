import { Schema } from "effect"
import { CapsuleId, RunId, WorkspaceId } from "../../../schema/records/Ids.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { type RowOf, table } from "../../base/database/Table.ts"

/** Secrets that svc generated for an input, sealed. */
export const GeneratedSecretRow = table("generated_secrets", {
  id: Schema.String,
  workspace_id: WorkspaceId,
  capsule_id: CapsuleId,
  target: Schema.String,
  bytes: Schema.Int,
  encoding: Schema.String,
  sealed_value: Schema.String,
  created_at: Timestamp
})
export type GeneratedSecretRow = RowOf<typeof GeneratedSecretRow.columns>

/** Deliveries that a plan was created with, sealed. */
export const RunDeliveryRow = table("run_deliveries", {
  run_id: RunId,
  workspace_id: WorkspaceId,
  capsule_id: CapsuleId,
  sealed_values: Schema.String,
  authority_digest: Schema.String,
  created_at: Timestamp
})
export type RunDeliveryRow = RowOf<typeof RunDeliveryRow.columns>
