import { Schema } from "effect"
import { AuditActor, AuditEvent } from "../../../schema/records/AuditEvent.ts"
import { AuditEventId, CapsuleId, RunId, WorkspaceId } from "../../../schema/records/Ids.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { jsonText } from "../database/StoredRecord.ts"
import { type RowOf, table } from "../database/Table.ts"

export const AuditDataJson = jsonText(AuditEvent.fields.data)

/** Audit events. */
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
  created_at: Timestamp,
  /** Position in the chain of its Workspace or of the installation; `null` until a position is assigned. */
  position: Schema.NullOr(Schema.Int),
  /** Keyed digest of the event and the previous link. */
  mac: Schema.NullOr(Schema.String)
})
export type AuditRow = RowOf<typeof AuditRow.columns>

/** Returns the fields of the public record, without the Workspace and the data. */
export const recordFields = (row: Omit<AuditRow, "workspace_id" | "capsule_id" | "data" | "position" | "mac">) => ({
  id: row.id,
  actor: {
    kind: row.actor_kind,
    ...(row.actor_subject === null ? {} : { subject: row.actor_subject }),
    ...(row.actor_token_id === null ? {} : { tokenId: row.actor_token_id })
  },
  action: row.action,
  target: { kind: row.target_kind, id: row.target_id },
  ...(row.run_id === null ? {} : { runId: row.run_id }),
  ...(row.request_id === null ? {} : { requestId: row.request_id }),
  createdAt: row.created_at
})
