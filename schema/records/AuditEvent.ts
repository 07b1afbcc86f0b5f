import { Schema } from "effect"
import { AuditEventId, CapsuleId, RunId, WorkspaceId } from "./Ids.ts"
import { Timestamp } from "./Primitives.ts"

export class AuditActor extends Schema.Opaque<AuditActor>()(
  Schema.Struct({
    kind: Schema.Literals(["user", "token", "service", "webhook"]),
    subject: Schema.optionalKey(Schema.String),
    tokenId: Schema.optionalKey(Schema.String)
  })
) {}

/** An entry of the append-only operation history. `data` never contains the value of a variable, Output or credential. */
export class AuditEvent extends Schema.Opaque<AuditEvent>()(
  Schema.Struct({
    id: AuditEventId,
    workspaceId: WorkspaceId,
    actor: AuditActor,
    /** The name of the action, with dots, such as `run.approve`. */
    action: Schema.String,
    target: Schema.Struct({ kind: Schema.String, id: Schema.String }),
    runId: Schema.optionalKey(RunId),
    data: Schema.Record(Schema.String, Schema.Json),
    requestId: Schema.optionalKey(Schema.String),
    createdAt: Timestamp,
    /** The Capsule that the action concerns. */
    capsuleId: Schema.optionalKey(CapsuleId)
  }).annotate({ identifier: "AuditEvent" })
) {}
