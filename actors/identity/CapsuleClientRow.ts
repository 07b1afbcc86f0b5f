import { Schema } from "effect"
import { CapsuleId, RunId, WorkspaceId } from "../../schema/records/Ids.ts"
import { Timestamp } from "../../schema/records/Primitives.ts"
import { type RowOf, table } from "../database/Table.ts"

/** OAuth clients of Capsules. */
export const CapsuleClientRow = table("oidc_capsule_clients", {
  client_id: Schema.String,
  workspace_id: WorkspaceId,
  capsule_id: CapsuleId,
  redirect_uri: Schema.String,
  scopes: Schema.String,
  activation_digest: Schema.NullOr(Schema.String),
  status: Schema.String,
  created_at: Timestamp,
  updated_at: Timestamp
})
export type CapsuleClientRow = RowOf<typeof CapsuleClientRow.columns>

/** The identity that a plan was made with. */
export const PlanPinRow = table("oidc_plan_pins", {
  plan_run_id: RunId,
  workspace_id: WorkspaceId,
  capsule_id: CapsuleId,
  endpoint_origin: Schema.String,
  authority_digest: Schema.String,
  created_at: Timestamp
})
export type PlanPinRow = RowOf<typeof PlanPinRow.columns>
