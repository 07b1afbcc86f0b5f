import { Schema } from "effect"
import { CapsuleId, RunId, Subject, WorkspaceId } from "../../../schema/records/Ids.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { type RowOf, table } from "../../base/database/Table.ts"

/** One-time tickets that open an application's setup. */
export const SetupTicketRow = table("setup_tickets", {
  secret_hash: Schema.String,
  workspace_id: WorkspaceId,
  capsule_id: CapsuleId,
  run_id: RunId,
  subject: Subject,
  product: Schema.String,
  created_at: Timestamp,
  expires_at: Timestamp,
  used_at: Schema.NullOr(Timestamp)
})
export type SetupTicketRow = RowOf<typeof SetupTicketRow.columns>
