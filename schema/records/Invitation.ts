import { Schema } from "effect"
import { InvitationId, Subject, WorkspaceId } from "./Ids.ts"
import { Timestamp } from "./Primitives.ts"
import { Role } from "./Workspace.ts"

/**
 * How an account's address was verified: the operator set it, or a link mailed to it was opened. Addresses verified by the
 * upstream provider are kept with the identity.
 */
export const AddressProof = Schema.Literals(["operator", "mail"])
export type AddressProof = typeof AddressProof.Type

/** Only a `pending` invitation can be accepted. `expired` is a pending invitation past its expiry. */
export const InvitationStatus = Schema.Literals(["pending", "accepted", "declined", "revoked", "expired"])
export type InvitationStatus = typeof InvitationStatus.Type

export class Invitation extends Schema.Opaque<Invitation>()(
  Schema.Struct({
    id: InvitationId,
    /** Absent when the invitation is only to the server. */
    workspaceId: Schema.optionalKey(WorkspaceId),
    role: Schema.optionalKey(Role),
    /** Only an account that has verified this address may accept. */
    email: Schema.optionalKey(Schema.String),
    /** Only this account may accept. */
    subject: Schema.optionalKey(Subject),
    status: InvitationStatus,
    /** Absent if the operator sent it. */
    invitedBy: Schema.optionalKey(Subject),
    acceptedBy: Schema.optionalKey(Subject),
    createdAt: Timestamp,
    expiresAt: Timestamp,
    endedAt: Schema.optionalKey(Timestamp)
  }).annotate({ identifier: "Invitation" })
) {}

/** What a person joins by using the link. */
export class InvitationPreview extends Schema.Opaque<InvitationPreview>()(
  Schema.Struct({
    workspace: Schema.optionalKey(Schema.Struct({ handle: Schema.String, displayName: Schema.String })),
    role: Schema.optionalKey(Role),
    /** Who the invitation is for. */
    email: Schema.optionalKey(Schema.String),
    /** Name of the person who sent the invitation; absent if the operator did. */
    invitedBy: Schema.optionalKey(Schema.String),
    expiresAt: Timestamp,
    /** Whether the link may be used to create an account; otherwise its holder signs in to an existing one. */
    signUp: Schema.Boolean
  }).annotate({ identifier: "InvitationPreview" })
) {}
