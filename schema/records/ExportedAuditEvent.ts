import { Schema } from "effect"
import { AuditEvent } from "./AuditEvent.ts"
import { WorkspaceId } from "./Ids.ts"

/**
 * One line of an export: an event, its position in the chain, and the chain's digest at that position. `workspaceId` is `null`
 * for the installation and its accounts.
 */
export const ExportedAuditEvent = Schema.Struct({
  position: Schema.Int,
  ...AuditEvent.fields,
  workspaceId: Schema.NullOr(WorkspaceId),
  mac: Schema.String
}).annotate({ identifier: "ExportedAuditEvent" })
