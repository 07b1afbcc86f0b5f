import { Schema } from "effect"
import { InvitationId, Subject, WorkspaceId } from "./Ids.ts"
import { Timestamp } from "./Primitives.ts"
import { Role } from "./Workspace.ts"

/**
 * The proof of an account's address: the operator set it, or somebody opened a link mailed to it. Addresses verified by the
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

/** The Workspace or server that a person joins by using the link. */
export class InvitationPreview extends Schema.Opaque<InvitationPreview>()(
  Schema.Struct({
    workspace: Schema.optionalKey(Schema.Struct({ handle: Schema.String, displayName: Schema.String })),
    role: Schema.optionalKey(Role),
    /** The invited address. */
    email: Schema.optionalKey(Schema.String),
    /** Name of the person who sent the invitation; absent if the operator sent it. */
    invitedBy: Schema.optionalKey(Schema.String),
    expiresAt: Timestamp,
    /** True if the link may create an account; otherwise its holder signs in to an existing account. */
    signUp: Schema.Boolean
  }).annotate({ identifier: "InvitationPreview" })
) {}
