import { Schema } from "effect"
import { AuditActor, AuditEvent } from "../../schema/records/AuditEvent.ts"
import { AuditEventId, CapsuleId, RunId, WorkspaceId } from "../../schema/records/Ids.ts"
import { Timestamp } from "../../schema/records/Primitives.ts"
import { jsonText } from "../database/JsonText.ts"
import { type RowOf, table } from "../database/Table.ts"

export const AuditDataJson = jsonText(AuditEvent.fields.data)

/** The audit trail. */
export const AuditRow = table("audit_events", {
  id: AuditEventId,
  workspace_id: Schema.NullOr(WorkspaceId),
  actor_kind: AuditActor.fields.kind,
  actor_subject: Schema.NullOr(Schema.String),
  actor_token_id: Schema.NullOr(Schema.String),
  action: Schema.String,
  target_kind: Schema.String,
  target_id: Schema.String,
  capsule_id: Schema.NullOr(CapsuleId),
  run_id: Schema.NullOr(RunId),
  data: AuditDataJson,
  request_id: Schema.NullOr(Schema.String),
  created_at: Timestamp
})
export type AuditRow = RowOf<typeof AuditRow.columns>
