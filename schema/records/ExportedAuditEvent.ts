import { Schema } from "effect"
import { AuditEvent } from "./AuditEvent.ts"
import { WorkspaceId } from "./Ids.ts"

/**
 * A line of an export: the event, its position in the chain and the digest of the chain there. `workspaceId` is `null` for the
 * installation and its accounts.
 */
export const ExportedAuditEvent = Schema.Struct({
  position: Schema.Int,
  ...AuditEvent.fields,
  workspaceId: Schema.NullOr(WorkspaceId),
  mac: Schema.String
}).annotate({ identifier: "ExportedAuditEvent" })
