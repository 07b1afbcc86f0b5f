import { Schema } from "effect"
import { WorkspaceId } from "./Ids.ts"
import { Timestamp } from "./Primitives.ts"

/** The head of one chain of audit events. `workspaceId` is `null` for the chain that covers the installation and its accounts. */
export class AuditChainHead extends Schema.Opaque<AuditChainHead>()(
  Schema.Struct({
    workspaceId: Schema.NullOr(WorkspaceId),
    /** Position of the newest event; 0 if there is none. */
    position: Schema.Int,
    /** Number of events stored: retention may have removed the oldest. */
    count: Schema.Int,
    /** Keyed digest of the newest event and of everything before it. */
    mac: Schema.String
  }).annotate({ identifier: "AuditChainHead" })
) {}

/**
 * The heads of all audit event chains at one point in time. Stored elsewhere, they can later prove that nothing before them has
 * been changed.
 */
export class AuditHead extends Schema.Opaque<AuditHead>()(
  Schema.Struct({
    kind: Schema.Literal("svc.audit-head@v1"),
    installationId: Schema.optionalKey(Schema.String),
    /** Identifies the key used for the digests; it never changes within an installation. */
    keyId: Schema.String,
    createdAt: Timestamp,
    chains: Schema.Array(AuditChainHead)
  }).annotate({ identifier: "AuditHead" })
) {}
