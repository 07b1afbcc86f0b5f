import { Effect, Schema } from "effect"
import { InvitationId, Subject, WorkspaceId } from "../../../schema/records/Ids.ts"
import { AddressProof, type Invitation, type InvitationStatus } from "../../../schema/records/Invitation.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { type Member, Role } from "../../../schema/records/Workspace.ts"
import { type RowOf, table } from "../../base/database/Table.ts"
import { SqlClient } from "effect/sql"
import { withStoredSpelling } from "../../../schema/records/EmailAddress.ts"
import { now } from "../../base/Identity.ts"

/** Invitations. Their expiry is derived from the clock, not stored. */
export const InvitationRow = table("invitations", {
  id: InvitationId,
  secret_hash: Schema.String,
  workspace_id: Schema.NullOr(WorkspaceId),
  role: Schema.NullOr(Role),
  email: Schema.NullOr(Schema.String),
  subject: Schema.NullOr(Subject),
  stand_in: Subject,
  proof: Schema.NullOr(AddressProof),
  invited_by: Schema.NullOr(Subject),
  status: Schema.Literals(["pending", "accepted", "declined", "revoked"]),
  accepted_by: Schema.NullOr(Subject),
  created_at: Timestamp,
  expires_at: Timestamp,
  ended_at: Schema.NullOr(Timestamp),
  /** Hash of the secret in the link that was sent only by mail. */
  mailed_hash: Schema.NullOr(Schema.String)
})
export type InvitationRow = RowOf<typeof InvitationRow.columns>

/**
 * Returns the invitation, and the proof of the address that the given link provides. A mailed link proves the address,
 * because only the owner of the address reads the mail.
 */
export const openedWith = (row: InvitationRow, hash: string): InvitationRow =>
  row.mailed_hash === hash ? { ...row, proof: row.proof ?? "mail" } : row

/** Returns the status of an invitation at a given time. */
export const invitationStatus = (row: InvitationRow, at: Timestamp): InvitationStatus =>
  row.status === "pending" && row.expires_at <= at ? "expired" : row.status

/** Returns true if anybody with the link may accept. */
export const isOpen = (row: Pick<InvitationRow, "email" | "subject">): boolean =>
  row.email === null && row.subject === null

export const toInvitation = (row: InvitationRow, at: Timestamp): Invitation => ({
  id: row.id,
  ...(row.workspace_id === null ? {} : { workspaceId: row.workspace_id }),
  ...(row.role === null ? {} : { role: row.role }),
  ...(row.email === null ? {} : { email: row.email }),
  ...(row.subject === null ? {} : { subject: row.subject }),
  status: invitationStatus(row, at),
  ...(row.invited_by === null ? {} : { invitedBy: row.invited_by }),
  ...(row.accepted_by === null ? {} : { acceptedBy: row.accepted_by }),
  createdAt: row.created_at,
  expiresAt: row.expires_at,
  ...(row.ended_at === null ? {} : { endedAt: row.ended_at })
})

/** Describes an invited person for a list of members. Reveals nothing about an account, which may not exist. */
export const toInvitedMember = (row: InvitationRow, role: Role): Member => ({
  subject: row.stand_in,
  kind: "person",
  ...(row.email === null ? {} : { email: row.email }),
  role,
  status: "invited",
  createdAt: row.created_at,
  updatedAt: row.created_at
})

/** Converts invited addresses whose domain an earlier release stored in a non-ASCII script. Runs with the migrations. */
export const respellInvitations = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* InvitationRow.some(sql, "id", "email")`SELECT id, email FROM invitations
    WHERE octet_length(email) > length(email)`
  for (const { email, id } of rows) {
    if (email === null) continue
    const changed = InvitationRow.changes(sql, { email: withStoredSpelling(email) })
    yield* sql`UPDATE invitations SET ${changed} WHERE id = ${id}`
  }
})

/**
 * Ends every invitation, in the caller's transaction, because a restore must not revive an invitation that was withdrawn
 * after the backup.
 */
export const endInvitations = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const at = yield* now
  yield* sql`UPDATE invitations SET ${InvitationRow.changes(sql, { status: "revoked", ended_at: at })}
    WHERE status = 'pending' AND expires_at > ${at}`
}).pipe(Effect.orDie, Effect.withSpan("endInvitations"))
