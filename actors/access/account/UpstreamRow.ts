import { Schema } from "effect"
import { InvitationId, Subject } from "../../../schema/records/Ids.ts"
import { AddressProof } from "../../../schema/records/Invitation.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { type RowOf, table } from "../../base/database/Table.ts"

/** Identities at upstream providers that can sign in to an account. */
export const UpstreamIdentityRow = table("upstream_identities", {
  issuer: Schema.String,
  upstream_subject: Schema.String,
  subject: Subject,
  verified_email: Schema.NullOr(Schema.String),
  created_at: Timestamp,
  last_used_at: Timestamp
})
export type UpstreamIdentityRow = RowOf<typeof UpstreamIdentityRow.columns>

/** Pending sign-ins at an upstream provider. */
export const UpstreamSignInRow = table("upstream_sign_ins", {
  secret_hash: Schema.String,
  link_subject: Schema.NullOr(Subject),
  return_path: Schema.String,
  expires_at: Timestamp,
  confirm_session: Schema.NullOr(Schema.String),
  invitation_id: Schema.NullOr(InvitationId),
  invitation_proof: Schema.NullOr(AddressProof)
})
export type UpstreamSignInRow = RowOf<typeof UpstreamSignInRow.columns>
