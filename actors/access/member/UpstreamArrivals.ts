import { Context, Effect, Layer, Option, type Redacted } from "effect"
import { SqlClient } from "effect/sql"
import type { ApiError } from "../../../schema/errors/ApiError.ts"
import type { InvitationId, Subject } from "../../../schema/records/Ids.ts"
import type { AddressProof } from "../../../schema/records/Invitation.ts"
import { type OpenSession, Sessions } from "../account/Sessions.ts"
import { UpstreamIdentities, type UpstreamIdentity } from "../account/UpstreamIdentities.ts"
import { refusedFor, type UpstreamReason, type UpstreamRefused } from "../account/UpstreamRefusal.ts"
import { Users } from "../account/Users.ts"
import type { CommandContext } from "../../../schema/commands/Command.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { InvitationAcceptance } from "./InvitationAcceptance.ts"
import type { InvitationRow } from "./InvitationRow.ts"
import { isAdmitted, provision } from "./Provisioning.ts"
import type { ProvenClaims } from "./ProvisioningDecision.ts"
import { ProvisioningRules, type UpstreamTrust } from "./ProvisioningRules.ts"
import { providedService } from "../../base/Provided.ts"

/** An invitation, and the proof of the address that the invitation's link provides. */
export interface OpenedInvitation {
  readonly id: InvitationId
  readonly proof: AddressProof | null
}

export interface UpstreamArrival {
  readonly trust: UpstreamTrust
  /** The person who is linking the identity to their account, and their session. */
  readonly link?: { readonly subject: Subject; readonly sessionId: string } | undefined
  /** The invitation that a person without an account accepts by signing in. */
  readonly invitation?: OpenedInvitation | undefined
  readonly userAgent?: string | undefined
  /** The browser's previous session. Signing in revokes it. */
  readonly replaces?: Redacted.Redacted | undefined
  readonly requestId?: string | undefined
}

type Arrived = OpenSession & {
  readonly subject: string
  /** True if this sign-in created the account and accepted the invitation. */
  readonly joined: boolean
}

const reasons: Readonly<Record<string, UpstreamReason>> = {
  not_found: "invitation_ended",
  permission_denied: "invitation_for_another",
  failed_precondition: "invitation_lapsed"
}

/** Converts the error of an invitation to the reason that the page explains. */
const byInvitation = <A, R>(attempt: Effect.Effect<A, ApiError, R>) =>
  Effect.catch(attempt, (error) => {
    const reason = reasons[error.code]
    return reason === undefined ? Effect.die(error) : Effect.fail(refusedFor(reason))
  })

/**
 * Handles people who return from the upstream provider. One transaction finds the account of an identity, applies rules and
 * invitations, and opens the session.
 */
export class UpstreamArrivals extends Context.Service<
  UpstreamArrivals,
  {
    /**
     * Signs in the owner of the identity. A person without an account gets an account through an invitation or a rule. Then
     * applies the current rules to the person's memberships. Fails with `unauthenticated` if the session that requested a
     * link is closed.
     */
    readonly enter: (
      identity: UpstreamIdentity,
      arrival: UpstreamArrival
    ) => Effect.Effect<Arrived, ApiError | UpstreamRefused>
  }
>()("svc/actors/access/member/UpstreamArrivals") {
  static readonly layer = Layer.effect(
    UpstreamArrivals,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const users = yield* Users
  const sessions = yield* Sessions
  const identities = yield* UpstreamIdentities
  const acceptance = yield* InvitationAcceptance
  const inForce = yield* ProvisioningRules

  /**
   * Explains why the identity has no account. Reveals only that the provider's verified address is not sufficient to create
   * an account.
   */
  const whyNobody = Effect.fnUntraced(function* ({ verifiedEmail }: UpstreamIdentity, trust: UpstreamTrust) {
    if (verifiedEmail === undefined) return trust === "single_tenant" ? "unknown_identity" : "unverified_address"
    const user = yield* users.findByEmail(verifiedEmail)
    if (Option.isNone(user)) return "unknown_identity"
    return user.value.status === "active" ? "unproven_account" : "locked"
  })

  const createAccount = Effect.fnUntraced(function* (
    identity: UpstreamIdentity,
    invitation: InvitationRow | undefined,
    requestId: string | undefined
  ) {
    const { claimedEmail, displayName, verifiedEmail } = identity
    const vouched = invitation?.proof ?? undefined
    const email = vouched === undefined ? (verifiedEmail ?? claimedEmail) : (invitation?.email ?? undefined)
    if (email === undefined) return yield* refusedFor("no_address")
    const named = requestId === undefined ? {} : { requestId }
    const service: CommandContext = { actor: { kind: "service" }, actorKey: "upstream", ...named }
    const { subject } = yield* users
      .create(service, { email, emailProof: vouched, displayName, isOperator: false })
      .pipe(
        Effect.catch(({ code }) => {
          if (code === "invalid_request") return Effect.fail(refusedFor("no_address"))
          return email === verifiedEmail
            ? Effect.flatMap(whyNobody(identity, "email_verified"), (reason) => Effect.fail(refusedFor(reason)))
            : Effect.fail(refusedFor("address_taken"))
        })
      )
    yield* identities.link(identity, subject, requestId)
    return subject
  })

  const join = Effect.fnUntraced(function* (
    identity: UpstreamIdentity,
    invitation: OpenedInvitation,
    requestId?: string
  ) {
    const proven = Option.getOrUndefined(yield* Effect.option(users.parseEmail(identity.verifiedEmail ?? "")))
    const row = yield* byInvitation(acceptance.forProvider(invitation, proven))
    const subject = yield* createAccount(identity, row, requestId)
    const context = { actor: { kind: "user", subject }, actorKey: subject } as const
    yield* byInvitation(acceptance.admit(requestId === undefined ? context : { ...context, requestId }, subject, row))
    return subject
  })

  const enter = Effect.fn("UpstreamArrivals.enter")(function* (identity: UpstreamIdentity, arrival: UpstreamArrival) {
    const { invitation, link, replaces, requestId, trust, userAgent } = arrival
    const { rules } = inForce
    const email = Option.getOrUndefined(yield* Effect.option(users.parseEmail(identity.verifiedEmail ?? "")))
    const claims: ProvenClaims = { trust, groups: identity.groups, verifiedEmail: email }
    // A person who took over a session must not be able to add a sign-in method after the session has been closed.
    if (link !== undefined) yield* sessions.requireOpen(link.subject, link.sessionId)
    const known = yield* identities.resolve(identity, { linkSubject: link?.subject, requestId })
    const joined = Option.isNone(known) && invitation !== undefined
    const newcomer = Effect.gen(function* () {
      // The first account belongs to the operator, and is created through the operator's link.
      if (!(yield* users.exist)) return yield* refusedFor("not_set_up")
      if (invitation !== undefined) return yield* join(identity, invitation, requestId)
      return rules !== undefined && isAdmitted(rules, claims)
        ? yield* createAccount(identity, undefined, requestId)
        : yield* refusedFor(yield* whyNobody(identity, trust))
    })
    const subject = Option.isSome(known) ? known.value : yield* newcomer
    if (rules !== undefined) yield* provision(subject, rules, claims, requestId)
    const opened = yield* sessions.open({ subject, method: "upstream", userAgent, replaces, requestId })
    return { ...opened, subject, joined }
  }, transaction(sql))

  return yield* providedService(UpstreamArrivals, { enter })
})
