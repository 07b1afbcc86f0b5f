import { Schema } from "effect"
import { Subject } from "../../../schema/records/Ids.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { type RowOf, table } from "../../base/database/Table.ts"

/** Consents that make it unnecessary to ask again; `workspace_id` is empty if there is no Workspace. */
export const ConsentRow = table("oidc_consents", {
  subject: Subject,
  client_id: Schema.String,
  workspace_id: Schema.String,
  scopes: Schema.String,
  updated_at: Timestamp
})
export type ConsentRow = RowOf<typeof ConsentRow.columns>
