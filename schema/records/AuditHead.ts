import { Schema } from "effect"
import { WorkspaceId } from "./Ids.ts"
import { Timestamp } from "./Primitives.ts"

/** The head of one chain of audit events. `workspaceId` is `null` for the chain of the installation and its accounts. */
export class AuditChainHead extends Schema.Opaque<AuditChainHead>()(
  Schema.Struct({
    workspaceId: Schema.NullOr(WorkspaceId),
    /** Of the newest event; 0 where there is none. */
    position: Schema.Int,
    /** Events that are held: retention may have removed the oldest. */
    count: Schema.Int,
    /** Keyed digest of the newest event and of everything before it. */
    mac: Schema.String
  }).annotate({ identifier: "AuditChainHead" })
) {}

/**
 * The heads of the chains of audit events at one time. Stored elsewhere, it later proves that nothing before it was changed.
 */
export class AuditHead extends Schema.Opaque<AuditHead>()(
  Schema.Struct({
    kind: Schema.Literal("svc.audit-head@v1"),
    installationId: Schema.optionalKey(Schema.String),
    /** Names the key of the digests; it never changes within an installation. */
    keyId: Schema.String,
    createdAt: Timestamp,
    chains: Schema.Array(AuditChainHead)
  }).annotate({ identifier: "AuditHead" })
) {}
