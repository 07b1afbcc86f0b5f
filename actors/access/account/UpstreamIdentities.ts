import { createHash } from "node:crypto"
import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { type ApiError, notFound } from "../../../schema/errors/ApiError.ts"
import { InvitationId, Subject } from "../../../schema/records/Ids.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { Audit } from "../../base/audit/Audit.ts"
import type { CommandContext } from "../../../schema/commands/Command.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { now } from "../../base/Identity.ts"
import { AccountNotices } from "./AccountNotices.ts"
import { refusedFor, type UpstreamRefused } from "./UpstreamRefusal.ts"
import { Users } from "./Users.ts"
import { type OfferedSignInMethods, requireSignInMethod } from "./SignInMethods.ts"
import { AddressProof } from "../../../schema/records/Invitation.ts"
import { type RowOf, table } from "../../base/database/Table.ts"
import { markReportsOfAccount } from "../../ledger/pull-request-report/ReportMarks.ts"

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

/** Sign-ins in progress at an upstream provider. */
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

/** The identity in a verified response of the upstream provider. */
export interface UpstreamIdentity {
  readonly issuer: string
  readonly subject: string
  /** Set only if the provider reports the address as verified. */
  readonly verifiedEmail?: string | undefined
  /** The address that the provider reports, whether or not it is verified. Never use it to identify a person. */
  readonly claimedEmail?: string | undefined
  readonly displayName?: string | undefined
  /** Absent unless the provider sent a list of names. */
  readonly groups?: ReadonlyArray<string> | undefined
}

export interface UpstreamLink {
  /** The signed-in person who is linking the identity to their account. */
  readonly linkSubject?: Subject | undefined
  readonly requestId?: string | undefined
}

/** An identity as the account's owner sees it, without the provider's subject. */
export const LinkedIdentity = Schema.Struct({
  id: Schema.String,
  issuer: Schema.String,
  createdAt: Timestamp,
  lastUsedAt: Timestamp
})
export type LinkedIdentity = typeof LinkedIdentity.Type

const Row = Schema.Struct({
  issuer: Schema.String,
  upstreamSubject: Schema.String,
  createdAt: Timestamp,
  lastUsedAt: Timestamp
})

/** Derives an opaque id for an identity. */
const idOf = ({ issuer, upstreamSubject }: { readonly issuer: string; readonly upstreamSubject: string }): string =>
  `uid_${createHash("sha256")
    .update(JSON.stringify([issuer, upstreamSubject]))
    .digest("hex")
    .slice(0, 32)}`

const Linked = Schema.Struct({ subject: Subject, status: Schema.String })

/**
 * Identities at the upstream provider, identified by issuer and subject. An identity signs in to the account that it is linked
 * to. If an identity is not linked yet, svc matches it to the account that has the identity's verified address, provided
 * that svc has also verified that address.
 */
export class UpstreamIdentities extends Context.Service<
  UpstreamIdentities,
  {
    /**
     * Returns the account of the identity, in the caller's transaction. First links the identity if a person requested the
     * link or an account has the identity's verified address; returns `none` if no account matches. Fails if the account is
     * locked, if the identity is linked to another account, or if the account is linked to another identity.
     */
    readonly resolve: (
      identity: UpstreamIdentity,
      link: UpstreamLink
    ) => Effect.Effect<Option.Option<Subject>, UpstreamRefused>
    /**
     * Links the identity to the account, in the caller's transaction. Fails if the account already has another identity at the
     * provider.
     */
    readonly link: (
      identity: UpstreamIdentity,
      subject: Subject,
      requestId?: string
    ) => Effect.Effect<void, UpstreamRefused>
    /** Returns the active account that the identity is linked to, or `none`. */
    readonly ownerOf: (identity: UpstreamIdentity) => Effect.Effect<Option.Option<Subject>>
    /** Returns the identities linked to the account, oldest first. */
    readonly list: (subject: string) => Effect.Effect<ReadonlyArray<LinkedIdentity>>
    /**
     * Unlinks an identity from the account. Fails with `not_found` for somebody else's identity, and with `failed_precondition`
     * for the account's last sign-in method.
     */
    readonly unlink: (
      context: CommandContext,
      subject: string,
      id: string,
      offered: OfferedSignInMethods
    ) => Effect.Effect<void, ApiError>
  }
>()("svc/actors/access/account/UpstreamIdentities") {
  static readonly layer = Layer.effect(
    UpstreamIdentities,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const audit = yield* Audit
      const users = yield* Users
      const notices = yield* AccountNotices

      const findLinked = SqlSchema.findAll({
        Request: Schema.Struct({ issuer: Schema.String, subject: Schema.String }),
        Result: Linked,
        execute: ({ issuer, subject }) => sql`SELECT u.subject, u.status
          FROM upstream_identities i JOIN users u ON u.subject = i.subject
          WHERE i.issuer = ${issuer} AND i.upstream_subject = ${subject}`
      })

      const findOwn = SqlSchema.findAll({
        Request: Schema.String,
        Result: Row,
        execute: (subject) => sql`SELECT issuer, upstream_subject AS "upstreamSubject", created_at AS "createdAt",
            last_used_at AS "lastUsedAt"
          FROM upstream_identities WHERE subject = ${subject} ORDER BY created_at, issuer`
      })

      /**
       * Returns the address in normalised form. The account's address counts as verified by the issuer only while the two
       * addresses are equal.
       */
      const addressOf = ({ verifiedEmail }: UpstreamIdentity) =>
        verifiedEmail === undefined
          ? Effect.succeed(null)
          : Effect.orElseSucceed(users.parseEmail(verifiedEmail), () => null)

      const link = Effect.fn("UpstreamIdentities.link")(
        function* (identity: UpstreamIdentity, subject: Subject, requestId?: string) {
          const at = yield* now
          const taken = yield* sql`INSERT INTO upstream_identities ${UpstreamIdentityRow.values(sql, {
            issuer: identity.issuer,
            upstream_subject: identity.subject,
            subject,
            verified_email: yield* addressOf(identity),
            created_at: at,
            last_used_at: at
          })} ON CONFLICT DO NOTHING RETURNING subject`
          if (taken.length === 0) return yield* refusedFor("other_identity")
          // The authors of commits are found by their addresses.
          yield* markReportsOfAccount(sql, subject)
          yield* audit.append({
            workspaceId: null,
            actor: { kind: "user", subject },
            action: "account.upstream.link",
            target: { kind: "user", id: subject },
            data: { issuer: identity.issuer },
            requestId
          })
        },
        Effect.catchTag("SqlError", Effect.die)
      )

      const ownerByAddress = Effect.fnUntraced(function* ({ verifiedEmail }: UpstreamIdentity) {
        const user = verifiedEmail === undefined ? Option.none() : yield* users.findByEmail(verifiedEmail)
        // Requires a verified address: a person who entered somebody else's address must not receive that person's identity.
        return Option.filter(user, ({ emailProof, status }) => status === "active" && emailProof !== null)
      })

      const noteUse = Effect.fnUntraced(function* (identity: UpstreamIdentity) {
        const present = { verified_email: yield* addressOf(identity), last_used_at: yield* now }
        yield* sql`UPDATE upstream_identities SET ${UpstreamIdentityRow.changes(sql, present)}
          WHERE issuer = ${identity.issuer} AND upstream_subject = ${identity.subject}`
      }, Effect.orDie)

      const resolve = Effect.fn("UpstreamIdentities.resolve")(function* (
        identity: UpstreamIdentity,
        { linkSubject, requestId }: UpstreamLink
      ) {
        const [linked] = yield* Effect.orDie(findLinked(identity))
        if (linked === undefined) {
          const owner =
            linkSubject === undefined
              ? Option.map(yield* ownerByAddress(identity), ({ subject }) => subject)
              : Option.some(linkSubject)
          if (Option.isSome(owner)) {
            yield* link(identity, owner.value, requestId)
            yield* notices.write(owner.value, "identity_linked", identity.issuer)
          }
          return owner
        }
        if (linked.status !== "active") return yield* refusedFor("locked")
        if (linkSubject !== undefined && linkSubject !== linked.subject) return yield* refusedFor("other_account")
        yield* noteUse(identity)
        return Option.some(linked.subject)
      })

      return UpstreamIdentities.of({
        resolve,
        link,
        ownerOf: Effect.fn("UpstreamIdentities.ownerOf")(function* (identity) {
          const [linked] = yield* Effect.orDie(findLinked(identity))
          return linked?.status === "active" ? Option.some(linked.subject) : Option.none()
        }),
        list: Effect.fn("UpstreamIdentities.list")(function* (subject) {
          const rows = yield* Effect.orDie(findOwn(subject))
          return rows.map((row) => ({
            id: idOf(row),
            issuer: row.issuer,
            createdAt: row.createdAt,
            lastUsedAt: row.lastUsedAt
          }))
        }),
        unlink: Effect.fn("UpstreamIdentities.unlink")(function* (context, subject, id, offered) {
          const rows = yield* Effect.orDie(findOwn(subject))
          const row = rows.find((each) => idOf(each) === id)
          if (row === undefined) return yield* notFound("Identity")
          yield* sql`DELETE FROM upstream_identities
            WHERE issuer = ${row.issuer} AND upstream_subject = ${row.upstreamSubject} AND subject = ${subject}`
          yield* markReportsOfAccount(sql, subject)
          yield* Effect.provideService(requireSignInMethod(subject, offered), SqlClient.SqlClient, sql)
          yield* notices.write(subject, "identity_unlinked", row.issuer)
          yield* audit.append({
            workspaceId: null,
            actor: context.actor,
            action: "account.upstream.unlink",
            target: { kind: "user", id: subject },
            data: { issuer: row.issuer },
            requestId: context.requestId
          })
        }, transaction(sql))
      })
    })
  )
}
