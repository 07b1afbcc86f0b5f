import { Context, Effect, Layer, type Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { type ApiError, failedPrecondition } from "../../../schema/errors/ApiError.ts"
import type { InvitationId } from "../../../schema/records/Ids.ts"
import type { AddressProof, Invitation } from "../../../schema/records/Invitation.ts"
import { MemberStatus } from "../../../schema/records/Workspace.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { Users } from "../account/Users.ts"
import { verifiedAddress } from "../account/UserRow.ts"
import { Audit } from "../../base/audit/Audit.ts"
import type { CommandContext } from "../../../schema/commands/Command.ts"
import { secretHash } from "../../base/credential/BearerSecret.ts"
import { rowShape } from "../../base/database/Table.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { writeNotice } from "../../base/notice/Notices.ts"
import { now } from "../../base/Identity.ts"
import { admitMember } from "../../ledger/workspace/MembershipRow.ts"
import { refuseArchived } from "../../ledger/workspace/Projects.ts"
import {
  grantedBy,
  invitationRefusal,
  lapsedInvitation,
  permissionDenied,
  refusedInvitation,
  roleHeld
} from "./InvitationRights.ts"
import { InvitationRow, invitationStatus, isOpen, openedWith, toInvitation } from "./InvitationRow.ts"
import { alreadyMember, unconfirmedMember } from "./ExistingMember.ts"
import { providedService } from "../../base/Provided.ts"

const Former = rowShape({ status: MemberStatus, left_at: Schema.NullOr(Timestamp), updated_at: Timestamp })

/**
 * Turns an invitation into a membership in one transaction, which checks the inviter's rights again. If two people accept at the
 * same time, only one succeeds.
 */
export class InvitationAcceptance extends Context.Service<
  InvitationAcceptance,
  {
    /**
     * Makes the person an active member. Repeating the call changes nothing. Fails with `not_found` unless the invitation is
     * pending, with `permission_denied` if the invitation is for somebody else, and with `failed_precondition` if the
     * inviter may no longer grant the role, or the person is already a member or was removed after the invitation was
     * created.
     */
    readonly accept: (
      context: CommandContext,
      subject: string,
      secret: Redacted.Redacted
    ) => Effect.Effect<Invitation, ApiError>
    /** Returns the pending invitation of a link without using up the link. Fails with `not_found` if there is none. */
    readonly pending: (secret: Redacted.Redacted) => Effect.Effect<InvitationRow, ApiError>
    /**
     * Returns a pending invitation that may create an account, without using up the invitation. Fails with `not_found` if it
     * is not pending, and with `permission_denied` if it may not create an account.
     */
    readonly forSignUp: (secret: Redacted.Redacted) => Effect.Effect<InvitationRow, ApiError>
    /**
     * Like `accept`, but for a sign-in through the upstream provider that has proven `verifiedEmail`. Fails with
     * `not_found`, and with `permission_denied` for an invitation to another address or an existing account.
     */
    readonly forProvider: (
      invitation: { readonly id: InvitationId; readonly proof: AddressProof | null },
      verifiedEmail: string | undefined
    ) => Effect.Effect<InvitationRow, ApiError>
    /** Like `accept`, but for an account that has just been created through the link. Runs in the caller's transaction. */
    readonly admit: (
      context: CommandContext,
      subject: string,
      row: InvitationRow
    ) => Effect.Effect<Invitation, ApiError>
  }
>()("svc/actors/access/member/InvitationAcceptance") {
  static readonly layer = Layer.effect(
    InvitationAcceptance,
    Effect.suspend(() => make)
  )
}

/** Returns the audit data of an acceptance: the granted role, and the role that an owner must confirm. */
const acceptedData = (row: InvitationRow) => {
  if (row.role === null) return {}
  const { offeredRole, role } = grantedBy(row.role, isOpen(row))
  return { role, ...(offeredRole === null ? {} : { offeredRole }) }
}

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const audit = yield* Audit
  const users = yield* Users

  const find = Effect.fnUntraced(function* (secret: Redacted.Redacted) {
    const hash = secretHash(secret)
    const [row] = yield* Effect.orDie(
      InvitationRow.rows(sql)`SELECT * FROM invitations WHERE secret_hash = ${hash} OR mailed_hash = ${hash}`
    )
    return row === undefined ? yield* refusedInvitation() : openedWith(row, hash)
  })

  /** Requires a verified address; otherwise anybody could claim the invited address. */
  const requireAddressee = Effect.fnUntraced(function* (row: InvitationRow, subject: string) {
    if (isOpen(row)) return
    if (row.proof === "mail" && row.email !== null) yield* users.proveAddress(subject, row.email, "mail")
    const fits = row.email === null ? subject === row.subject : (yield* verifiedAddress(subject)) === row.email
    if (fits) return
    return yield* permissionDenied(
      row.email === null
        ? "This invitation is for another account. Sign in to that one."
        : `This invitation is for ${row.email}. Sign in to an account for which that address was verified.`
    )
  })

  const requireGrantable = Effect.fnUntraced(function* (row: InvitationRow) {
    if (row.workspace_id === null || row.role === null) return
    yield* refuseArchived(row.workspace_id)
    const inviter = row.invited_by === null ? ("operator" as const) : { subject: row.invited_by }
    const refusal = invitationRefusal(yield* roleHeld(row.workspace_id, inviter), row.role, isOpen(row))
    if (refusal !== undefined) return yield* lapsedInvitation()
  })

  const requireNewcomer = Effect.fnUntraced(function* (row: InvitationRow, subject: string) {
    const [former] = yield* Effect.orDie(Former.rows(sql)`SELECT status, left_at, updated_at FROM memberships
      WHERE workspace_id = ${row.workspace_id} AND subject = ${subject}`)
    if (former?.status === "active") return yield* alreadyMember()
    if (former?.status === "unconfirmed") return yield* unconfirmedMember()
    // A link that was created before a member's removal must not undo the removal.
    if (former?.status === "suspended" && former.left_at === null && former.updated_at > row.created_at) {
      return yield* failedPrecondition("You were removed after this invitation was made. Ask for a new one.")
    }
  })

  /** Marks the invitation as accepted with a compare-and-set, so that only one of two concurrent acceptances succeeds. */
  const claim = Effect.fnUntraced(function* (row: InvitationRow, subject: string) {
    const at = yield* now
    const [claimed] = yield* Effect.orDie(InvitationRow.rows(sql)`UPDATE invitations
      SET ${InvitationRow.changes(sql, { status: "accepted", accepted_by: subject, ended_at: at })}
      WHERE id = ${row.id} AND status = 'pending' AND expires_at > ${at} RETURNING *`)
    return claimed === undefined ? yield* refusedInvitation() : toInvitation(claimed, at)
  })

  /** Ends the new member's other invitations, which would otherwise still be listed as pending. */
  const endOthers = Effect.fnUntraced(function* (row: InvitationRow, subject: string) {
    const address = (yield* verifiedAddress(subject)) ?? null
    yield* sql`UPDATE invitations SET ${InvitationRow.changes(sql, { status: "revoked", ended_at: yield* now })}
      WHERE workspace_id = ${row.workspace_id} AND status = 'pending' AND (subject = ${subject} OR email = ${address})`
  })

  const admit = Effect.fn("InvitationAcceptance.admit")(function* (
    context: CommandContext,
    subject: string,
    row: InvitationRow
  ) {
    yield* requireAddressee(row, subject)
    yield* requireGrantable(row)
    yield* requireNewcomer(row, subject)
    const accepted = yield* claim(row, subject)
    if (row.workspace_id !== null && row.role !== null) {
      yield* admitMember({ workspaceId: row.workspace_id, subject, ...grantedBy(row.role, isOpen(row)) })
      yield* endOthers(row, subject)
    }
    yield* audit.append({
      workspaceId: row.workspace_id,
      actor: context.actor,
      action: "invitation.accept",
      target: { kind: "member", id: subject },
      data: { invitation: row.id, ...acceptedData(row) },
      requestId: context.requestId
    })
    const { role, workspace_id } = row
    if (workspace_id !== null && role !== null) {
      yield* writeNotice(
        sql,
        "invitation.accepted",
        Effect.succeed({
          workspaceId: workspace_id,
          subject: { kind: "invitation" as const, id: row.id },
          path: "settings/members",
          data: { invitationId: row.id, subject, role }
        })
      )
    }
    return accepted
  }, transaction(sql))

  const pending = Effect.fn("InvitationAcceptance.pending")(function* (secret: Redacted.Redacted) {
    const row = yield* find(secret)
    return invitationStatus(row, yield* now) === "pending" ? row : yield* refusedInvitation()
  })

  return yield* providedService(InvitationAcceptance, {
    admit,
    pending,
    accept: Effect.fn("InvitationAcceptance.accept")(function* (context, subject, secret) {
      const row = yield* find(secret)
      if (row.status === "accepted" && row.accepted_by === subject) return toInvitation(row, yield* now)
      if (invitationStatus(row, yield* now) !== "pending") return yield* refusedInvitation()
      if (row.workspace_id === null) return yield* failedPrecondition("You have an account on this server already.")
      return yield* admit(context, subject, row)
    }, transaction(sql)),
    forProvider: Effect.fn("InvitationAcceptance.forProvider")(function* ({ id, proof }, verifiedEmail) {
      const [found] = yield* Effect.orDie(InvitationRow.rows(sql)`SELECT * FROM invitations WHERE id = ${id}`)
      const row = found && { ...found, proof: found.proof ?? proof }
      if (row === undefined || invitationStatus(row, yield* now) !== "pending") return yield* refusedInvitation()
      const isVerified = row.email !== null && row.email === verifiedEmail
      if (isVerified || row.proof !== null || isOpen(row)) return row
      return yield* permissionDenied("The sign-in provider did not verify the address that this invitation is for.")
    }),
    forSignUp: Effect.fn("InvitationAcceptance.forSignUp")(function* (secret) {
      const row = yield* pending(secret)
      if (isOpen(row) || row.proof !== null) return row
      return yield* permissionDenied(
        "No account can be created with this invitation: its address was not verified. Sign in to an account that has it, or ask for a link without an address."
      )
    })
  })
})
