import { Schema } from "effect"
import { InvitationId, Subject, WorkspaceId } from "./Ids.ts"
import { Timestamp } from "./Primitives.ts"
import { Role } from "./Workspace.ts"

/**
 * The proof of an account's address: the operator entered the address, or somebody opened a link that was emailed to the
 * address. An address verified by the upstream provider is stored with the identity instead.
 */
export const AddressProof = Schema.Literals(["operator", "mail"])
export type AddressProof = typeof AddressProof.Type

/** Only a `pending` invitation can be accepted. A pending invitation becomes `expired` after its expiry. */
export const InvitationStatus = Schema.Literals(["pending", "accepted", "declined", "revoked", "expired"])
export type InvitationStatus = typeof InvitationStatus.Type

export class Invitation extends Schema.Opaque<Invitation>()(
  Schema.Struct({
    id: InvitationId,
    /** Absent for an invitation to the server that includes no Workspace. */
    workspaceId: Schema.optionalKey(WorkspaceId),
    role: Schema.optionalKey(Role),
    /** If set, only an account with this verified address may accept. */
    email: Schema.optionalKey(Schema.String),
    /** If set, only this account may accept. */
    subject: Schema.optionalKey(Subject),
    status: InvitationStatus,
    /** Absent if the operator created the invitation. */
    invitedBy: Schema.optionalKey(Subject),
    acceptedBy: Schema.optionalKey(Subject),
    createdAt: Timestamp,
    expiresAt: Timestamp,
    endedAt: Schema.optionalKey(Timestamp)
  }).annotate({ identifier: "Invitation" })
) {}

/** The Workspace and role that the holder of an invitation link would join, shown before they accept. */
export class InvitationPreview extends Schema.Opaque<InvitationPreview>()(
  Schema.Struct({
    workspace: Schema.optionalKey(Schema.Struct({ handle: Schema.String, displayName: Schema.String })),
    /** The role that the person gets on accepting. */
    role: Schema.optionalKey(Role),
    /** A higher role that takes effect once an owner confirms it. */
    offeredRole: Schema.optionalKey(Role),
    /** The invited address. */
    email: Schema.optionalKey(Schema.String),
    /** Name of the inviter; absent if the operator created the invitation. */
    invitedBy: Schema.optionalKey(Schema.String),
    expiresAt: Timestamp,
    /** True if the link may create an account. Otherwise its holder signs in to an existing one. */
    signUp: Schema.Boolean
  }).annotate({ identifier: "InvitationPreview" })
) {}
