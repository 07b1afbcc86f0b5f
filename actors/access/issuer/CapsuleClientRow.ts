import { Schema } from "effect"
import { CapsuleId, RunId, WorkspaceId } from "../../../schema/records/Ids.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { jsonText } from "../../base/database/JsonText.ts"
import { type RowOf, table } from "../../base/database/Table.ts"

/** Paths below a Capsule's origin. Rows written before the column existed have none. */
export const PathsJson = jsonText(Schema.Array(Schema.String))

/** OAuth clients of Capsules. */
export const CapsuleClientRow = table("oidc_capsule_clients", {
  client_id: Schema.String,
  workspace_id: WorkspaceId,
  capsule_id: CapsuleId,
  redirect_uri: Schema.String,
  /** Where people may be sent after signing out, besides the origin itself. */
  post_logout_paths: Schema.NullOr(PathsJson),
  scopes: Schema.String,
  activation_digest: Schema.NullOr(Schema.String),
  /** SHA-256 of the secret that the Capsule's resource server uses for introspection, if its module asks for one. */
  introspection_hash: Schema.NullOr(Schema.String),
  status: Schema.String,
  created_at: Timestamp,
  updated_at: Timestamp
})
export type CapsuleClientRow = RowOf<typeof CapsuleClientRow.columns>

/** The identity with which a plan was created. */
export const PlanPinRow = table("oidc_plan_pins", {
  plan_run_id: RunId,
  workspace_id: WorkspaceId,
  capsule_id: CapsuleId,
  endpoint_origin: Schema.String,
  post_logout_paths: Schema.NullOr(PathsJson),
  authority_digest: Schema.String,
  created_at: Timestamp
})
export type PlanPinRow = RowOf<typeof PlanPinRow.columns>
