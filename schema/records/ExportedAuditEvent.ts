import { Schema } from "effect"
import { AuditEvent } from "./AuditEvent.ts"
import { CapsuleId, WorkspaceId } from "./Ids.ts"

/**
 * One line of an export: the event, its position in the chain and the chain's digest at that position. `workspaceId` is `null`
 * for the installation and its accounts.
 */
export const ExportedAuditEvent = Schema.Struct({
  position: Schema.Int,
  ...AuditEvent.fields,
  workspaceId: Schema.NullOr(WorkspaceId),
  capsuleId: Schema.optionalKey(CapsuleId),
  mac: Schema.String
}).annotate({ identifier: "ExportedAuditEvent" })
