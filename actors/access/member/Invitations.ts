import { Context, DateTime, Effect, Layer, Option, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { type ApiError, invalidRequest, notFound } from "../../../schema/errors/ApiError.ts"
import { InvitationId, Subject, type WorkspaceId } from "../../../schema/records/Ids.ts"
import type { AddressProof, Invitation, InvitationPreview } from "../../../schema/records/Invitation.ts"
import { retention } from "../../../schema/records/Retention.ts"
import type { Member, Role } from "../../../schema/records/Workspace.ts"
import { Users } from "../account/Users.ts"
import { Audit } from "../../base/audit/Audit.ts"
import type { CommandContext } from "../../../schema/commands/Command.ts"
import { mintSecret, secretHash } from "../../base/credential/BearerSecret.ts"
import { ReadSql } from "../../base/database/ReadSql.ts"
import { rowShape } from "../../base/database/Table.ts"
import { transaction } from "../../base/database/Transaction.ts"
import type { MailSender } from "../../base/mail/MailLimits.ts"
import { Mails } from "../../base/mail/Mails.ts"
import { derivedId, newId, now } from "../../base/Identity.ts"
import { type CursorBinding, Cursors } from "../../base/paging/Cursors.ts"
import type { Page, PageRequest } from "../../base/paging/RowPages.ts"
import { refuseArchived } from "../../ledger/workspace/Projects.ts"
import { InvitationRow, isOpen, openedWith, toInvitation, toInvitedMember } from "./InvitationRow.ts"
import { grantedBy, invitationRefusal, type Inviter, refusedInvitation, roleHeld } from "./InvitationRights.ts"
import { refuseMember } from "./ExistingMember.ts"
import { providedService } from "../../base/Provided.ts"

/** The Workspace and the inviter. */
export interface InvitationScope {
  /** Absent for an invitation only to the server, which only the operator can create. */
  readonly workspaceId?: WorkspaceId | undefined
  readonly acting: Inviter
}

export interface NewInvitation {
  /** Set at most one of `email` and `subject`. If neither is set, anybody with the link may accept. */
  readonly email?: string | undefined
  readonly subject?: string | undefined
  readonly role?: Role | undefined
  readonly expiresAt?: string | undefined
}

export interface IssuedInvitation {
  readonly invitation: Invitation
  /** The new entry in the list of members; absent if the list does not show the invitation. */
  readonly member?: Member | undefined
  /** Put the secret into the link's fragment, which browsers do not send. */
  readonly secret: Redacted.Redacted
  /** True if a mail with a separate link has been queued. */
  readonly mailed: boolean
}

/**
 * Returns the URL of the page on which a person accepts or declines an invitation. The secret is in the fragment, which browsers
 * do not send.
 */
export const invitationLink = (baseUrl: string, secret: Redacted.Redacted) =>
  `${baseUrl}/join#${Redacted.value(secret)}`

/** Returns the sender for the mail limits, which do not apply to the operator. */
const senderOf = ({ acting, workspaceId }: InvitationScope): MailSender | undefined =>
  acting === "operator" ? undefined : { subject: acting.subject, workspaceId }

const NamesRow = rowShape({ workspace: Schema.NullOr(Schema.String), inviter: Schema.NullOr(Schema.String) })

const PreviewRow = rowShape({
  handle: Schema.NullOr(Schema.String),
  workspace: Schema.NullOr(Schema.String),
  inviter: Schema.NullOr(Schema.String)
})

/**
 * Invitations to a Workspace or to the server. The database contains only the digest of the secret. An invitation never reveals
 * whether an address has an account.
 */
export class Invitations extends Context.Service<
  Invitations,
  {
    /**
     * Creates an invitation, and ends the same person's earlier pending invitation to the same Workspace. Fails with
     * `permission_denied` if the inviter may not grant the role, with `failed_precondition` if the person is an active
     * member, with `not_found` for an unknown subject, with `invalid_request` for invalid fields, and with `rate_limited` if
     * too many mails were sent.
     */
    readonly create: (
      context: CommandContext,
      scope: InvitationScope,
      request: NewInvitation
    ) => Effect.Effect<IssuedInvitation, ApiError>
    /** Returns the invitations, including ended invitations, newest first. */
    readonly list: (
      workspaceId: WorkspaceId,
      subject: string,
      page: PageRequest
    ) => Effect.Effect<Page<Invitation>, ApiError>
    /** Ends a pending invitation. Does nothing if it has already ended. Fails with `permission_denied` or `not_found`. */
    readonly revoke: (
      context: CommandContext,
      scope: InvitationScope & { readonly workspaceId: WorkspaceId },
      id: InvitationId
    ) => Effect.Effect<Invitation, ApiError>
    /**
     * Returns the Workspace and role that the link offers, without using it up. Fails with `not_found` unless the invitation is
     * pending.
     */
    readonly inspect: (secret: Redacted.Redacted) => Effect.Effect<InvitationPreview, ApiError>
    /** Declines the invitation. Fails with `not_found` unless the invitation is pending. */
    readonly decline: (context: CommandContext, secret: Redacted.Redacted) => Effect.Effect<Invitation, ApiError>
  }
>()("svc/actors/access/member/Invitations") {
  static readonly layer = Layer.effect(
    Invitations,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const read = yield* ReadSql
  const audit = yield* Audit
  const users = yield* Users
  const mails = yield* Mails
  const cursors = yield* Cursors

  const note = (context: CommandContext, row: InvitationRow, action: string) =>
    audit.append({
      workspaceId: row.workspace_id,
      actor: context.actor,
      action,
      target: { kind: "invitation", id: row.id },
      data: row.role === null ? {} : { role: row.role },
      requestId: context.requestId
    })

  const addressee = Effect.fnUntraced(function* ({ email, subject }: NewInvitation) {
    if (email !== undefined && subject !== undefined) {
      return yield* invalidRequest("Name at most one of subject and email.")
    }
    if (email !== undefined) return { email: yield* users.parseEmail(email), subject: null }
    if (subject === undefined) return { email: null, subject: null }
    const person = Option.filter(yield* users.find(subject), ({ status }) => status === "active")
    return Option.isSome(person) ? { email: null, subject: person.value.subject } : yield* notFound("Account")
  })

  const period = Effect.fnUntraced(function* (wanted: string | undefined) {
    const at = yield* DateTime.now
    const until = (after: typeof retention.invitation.after) => DateTime.formatIso(DateTime.addDuration(at, after))
    const createdAt = DateTime.formatIso(at)
    const expiresAt = wanted ?? until(retention.invitation.after)
    if (expiresAt <= createdAt || expiresAt > until(retention.longestInvitation.after)) {
      return yield* invalidRequest("expiresAt: give a time from now on, at most 30 days ahead.")
    }
    return { createdAt, expiresAt }
  })

  /** Returns the offered role. Fails if the inviter may not grant it. */
  const offered = Effect.fnUntraced(function* (scope: InvitationScope, request: NewInvitation, open: boolean) {
    if (scope.workspaceId === undefined) {
      if (scope.acting === "operator" && request.role === undefined) return null
      return yield* invalidRequest("Name the Workspace that the role is in.")
    }
    const role = request.role ?? "member"
    const refusal = invitationRefusal(yield* roleHeld(scope.workspaceId, scope.acting), role, open)
    if (refusal !== undefined) return yield* refusal
    const known = yield* sql`SELECT 1 AS one FROM workspaces WHERE id = ${scope.workspaceId}`
    if (known.length === 0) return yield* notFound("Workspace")
    yield* refuseArchived(scope.workspaceId)
    return role
  })

  const endEarlier = Effect.fnUntraced(function* (row: InvitationRow) {
    if (isOpen(row)) return
    yield* sql`UPDATE invitations SET ${InvitationRow.changes(sql, { status: "revoked", ended_at: row.created_at })}
      WHERE status = 'pending' AND COALESCE(workspace_id, '') = ${row.workspace_id ?? ""}
        AND (email = ${row.email} OR subject = ${row.subject})`
  })

  const purge = Effect.gen(function* () {
    const before = DateTime.subtractDuration(yield* DateTime.now, retention.endedInvitation.after)
    yield* sql`DELETE FROM invitations WHERE expires_at < ${DateTime.formatIso(before)}`
  })

  /**
   * Returns the proof of the address that opening the link provides. svc trusts the operator to have verified the addresses
   * that the operator enters.
   */
  const proofOf = (scope: InvitationScope, email: string | null): AddressProof | null =>
    scope.acting === "operator" && email !== null ? "operator" : null

  /**
   * Mails an invitation that contains a second link. Only the recipient gets this link, so using it proves the address.
   * Returns the digest of the link, or `undefined` if nothing is mailed.
   */
  const mail = Effect.fnUntraced(function* (row: InvitationRow, sender: MailSender | undefined) {
    const { baseUrl } = mails
    if (row.email === null || baseUrl === undefined) return undefined
    const secret = yield* mintSecret("invitation")
    const [about] = yield* Effect.orDie(NamesRow.rows(sql)`SELECT
        (SELECT display_name FROM workspaces WHERE id = ${row.workspace_id}) AS workspace,
        (SELECT COALESCE(display_name, email) FROM users WHERE subject = ${row.invited_by}) AS inviter`)
    const content = {
      kind: "invitation",
      link: invitationLink(baseUrl, secret),
      expiresAt: row.expires_at,
      workspace: about?.workspace ?? undefined,
      role: row.role ?? undefined,
      inviter: about?.inviter ?? undefined
    } as const
    const queued = yield* mails.queue(row.email, content, sender)
    return queued ? secretHash(secret) : undefined
  })

  const create = Effect.fn("Invitations.create")(function* (
    context: CommandContext,
    scope: InvitationScope,
    request: NewInvitation
  ) {
    const { email, subject } = yield* addressee(request)
    const role = yield* offered(scope, request, email === null && subject === null)
    const { createdAt, expiresAt } = yield* period(request.expiresAt)
    if (scope.workspaceId !== undefined) yield* refuseMember(scope.workspaceId, { email, subject })
    const sender = senderOf(scope)
    if (email !== null && sender !== undefined) yield* mails.admit(sender)
    const secret = yield* mintSecret("invitation")
    const id = yield* newId(InvitationId, "inv")
    const row: InvitationRow = {
      id,
      secret_hash: secretHash(secret),
      workspace_id: scope.workspaceId ?? null,
      role,
      email,
      subject,
      stand_in: subject ?? derivedId(Subject, "usr", id, "invited"),
      proof: proofOf(scope, email),
      invited_by: scope.acting === "operator" ? null : Subject.make(scope.acting.subject),
      status: "pending",
      accepted_by: null,
      created_at: createdAt,
      expires_at: expiresAt,
      ended_at: null,
      mailed_hash: null
    }
    yield* endEarlier(row)
    yield* purge
    const mailed = yield* mail(row, sender)
    yield* sql`INSERT INTO invitations ${InvitationRow.values(sql, { ...row, mailed_hash: mailed ?? null })}`
    yield* note(context, row, "invitation.create")
    const issued: IssuedInvitation = {
      invitation: toInvitation(row, createdAt),
      member: role === null || isOpen(row) ? undefined : toInvitedMember(row, role),
      secret,
      mailed: mailed !== undefined
    }
    return issued
  }, transaction(sql))

  const findPending = Effect.fnUntraced(function* (secret: Redacted.Redacted) {
    const hash = secretHash(secret)
    const [row] = yield* InvitationRow.rows(sql)`SELECT * FROM invitations
      WHERE (secret_hash = ${hash} OR mailed_hash = ${hash}) AND status = 'pending' AND expires_at > ${yield* now}`
    return row === undefined ? yield* refusedInvitation() : openedWith(row, hash)
  })

  const end = Effect.fnUntraced(function* (
    context: CommandContext,
    row: InvitationRow,
    status: "declined" | "revoked"
  ) {
    const at = yield* now
    const [ended] = yield* InvitationRow.rows(sql)`UPDATE invitations
      SET ${InvitationRow.changes(sql, { status, ended_at: at })}
      WHERE id = ${row.id} AND status = 'pending' AND expires_at > ${at} RETURNING *`
    if (ended === undefined) return toInvitation(row, at)
    yield* note(context, ended, status === "declined" ? "invitation.decline" : "invitation.revoke")
    return toInvitation(ended, at)
  })

  return yield* providedService(Invitations, {
    create,
    inspect: Effect.fn("Invitations.inspect")(function* (secret) {
      const row = yield* findPending(secret)
      const [about] = yield* PreviewRow.rows(sql)`SELECT w.handle, w.display_name AS workspace,
          COALESCE(u.display_name, u.email) AS inviter
        FROM invitations i LEFT JOIN workspaces w ON w.id = i.workspace_id
        LEFT JOIN users u ON u.subject = i.invited_by WHERE i.id = ${row.id}`
      const granted = row.role === null ? undefined : grantedBy(row.role, isOpen(row))
      return {
        ...(about === undefined || about.handle === null || about.workspace === null
          ? {}
          : { workspace: { handle: about.handle, displayName: about.workspace } }),
        ...(granted === undefined ? {} : { role: granted.role }),
        ...(granted === undefined || granted.offeredRole === null ? {} : { offeredRole: granted.offeredRole }),
        ...(row.email === null ? {} : { email: row.email }),
        ...(about === undefined || about.inviter === null ? {} : { invitedBy: about.inviter }),
        expiresAt: row.expires_at,
        signUp: isOpen(row) || row.proof !== null
      } satisfies InvitationPreview
    }, transaction(sql)),
    decline: Effect.fn("Invitations.decline")(function* (context, secret) {
      return yield* end(context, yield* findPending(secret), "declined")
    }, transaction(sql)),
    revoke: Effect.fn("Invitations.revoke")(function* (context, { acting, workspaceId }, id) {
      const refusal = invitationRefusal(yield* roleHeld(workspaceId, acting), "viewer", false)
      if (refusal !== undefined) return yield* refusal
      const [row] = yield* InvitationRow.rows(sql)`SELECT * FROM invitations
          WHERE id = ${id} AND workspace_id = ${workspaceId}`
      return row === undefined ? yield* notFound("Invitation") : yield* end(context, row, "revoked")
    }, transaction(sql)),
    list: Effect.fn("Invitations.list")(function* (workspaceId, subject, page) {
      const binding: CursorBinding = { route: "workspaces.invitations", subject, filter: [workspaceId] }
      const [at, id] = page.cursor === undefined ? [] : yield* cursors.decode(binding, page.cursor, 2)
      const before = at === undefined || id === undefined ? read`1 = 1` : read`(created_at, id) < (${at}, ${id})`
      const rows = yield* Effect.orDie(InvitationRow.rows(read)`SELECT * FROM invitations
        WHERE workspace_id = ${workspaceId} AND ${before} ORDER BY created_at DESC, id DESC LIMIT ${page.limit + 1}`)
      const present = yield* now
      const items = rows.slice(0, page.limit).map((row) => toInvitation(row, present))
      const last = items.at(-1)
      if (rows.length <= page.limit || last === undefined) return { items }
      return { items, nextCursor: yield* cursors.encode(binding, [last.createdAt, last.id]) }
    })
  })
})
