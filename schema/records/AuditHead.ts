import { Schema } from "effect"
import { WorkspaceId } from "./Ids.ts"
import { Timestamp } from "./Primitives.ts"

/** The head of one chain of audit events. `workspaceId` is `null` for the chain of the installation and its accounts. */
export class AuditChainHead extends Schema.Opaque<AuditChainHead>()(
  Schema.Struct({
    workspaceId: Schema.NullOr(WorkspaceId),
    /** Position of the newest event; 0 if there is none. */
    position: Schema.Int,
    /** Number of stored events. Retention may have removed the oldest ones. */
    count: Schema.Int,
    /** Keyed digest of the newest event and all events before it. */
    mac: Schema.String
  }).annotate({ identifier: "AuditChainHead" })
) {}

/** The heads of all audit chains at one time. A copy kept elsewhere can later prove that no earlier event was changed. */
export class AuditHead extends Schema.Opaque<AuditHead>()(
  Schema.Struct({
    kind: Schema.Literal("svc.audit-head@v1"),
    installationId: Schema.optionalKey(Schema.String),
    /** Id of the key that is used to compute the digests. An installation never changes this key. */
    keyId: Schema.String,
    createdAt: Timestamp,
    chains: Schema.Array(AuditChainHead)
  }).annotate({ identifier: "AuditHead" })
) {}
