import { createHash } from "node:crypto"
import { Context, Effect, Layer, Option, type Redacted, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { ApiError, failedPrecondition, notFound } from "../../schema/errors/ApiError.ts"
import { Subject } from "../../schema/records/Ids.ts"
import { Timestamp } from "../../schema/records/Primitives.ts"
import { Audit } from "../audit/Audit.ts"
import type { CommandContext } from "../Command.ts"
import { transaction } from "../database/Transaction.ts"
import { now } from "../Identity.ts"
import { AccountNotices } from "./AccountNotices.ts"
import { type OpenSession, Sessions } from "./Sessions.ts"
import { Users } from "./Users.ts"
import { type OfferedWays, requireWayIn } from "./WaysIn.ts"
import { UpstreamIdentityRow } from "./UpstreamRow.ts"

/** The identity that the upstream provider's verified answer names. */
export interface UpstreamIdentity {
  readonly issuer: string
  readonly subject: string
  /** Only an address that the provider reports as verified. */
  readonly verifiedEmail?: string | undefined
}

export interface UpstreamArrival {
  /** The signed-in person who links the identity to their account. */
  readonly linkSubject?: string | undefined
  readonly userAgent?: string | undefined
  /** The browser's previous session; it ends. */
  readonly replaces?: Redacted.Redacted | undefined
  readonly requestId?: string | undefined
}

/** An identity as seen by the account's owner. The provider's subject stays private. */
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

/** An opaque id of an identity. */
const idOf = ({ issuer, upstreamSubject }: { readonly issuer: string; readonly upstreamSubject: string }): string =>
  `uid_${createHash("sha256")
    .update(JSON.stringify([issuer, upstreamSubject]))
    .digest("hex")
    .slice(0, 32)}`

const Linked = Schema.Struct({ subject: Subject, status: Schema.String })

const unknown = () =>
  new ApiError({
    code: "permission_denied",
    message:
      "No active account here belongs to this identity. Ask the operator for an account with the same e-mail address, or sign in another way and link it."
  })

/**
 * Identities of people at the upstream provider, identified by issuer and subject. This never creates an account: an identity
 * belongs to the account it was linked to, at first to the one with its verified address.
 */
export class UpstreamIdentities extends Context.Service<
  UpstreamIdentities,
  {
    /**
     * Signs in the person the identity belongs to. Fails with `permission_denied` when that is nobody active, and with
     * `failed_precondition` when an identity to be linked belongs to another account, or the account has another one.
     */
    readonly signIn: (
      identity: UpstreamIdentity,
      arrival: UpstreamArrival
    ) => Effect.Effect<OpenSession & { readonly subject: string }, ApiError>
    /** Whose active account the identity is linked to. Fails with `permission_denied` when it is nobody's. */
    readonly ownerOf: (identity: UpstreamIdentity) => Effect.Effect<Subject, ApiError>
    /** The identities that are linked to the account, oldest first. */
    readonly list: (subject: string) => Effect.Effect<ReadonlyArray<LinkedIdentity>>
    /**
     * Unlinks an identity from the account. Fails with `not_found` for anybody else's, and with `failed_precondition` for the
     * last way to sign in.
     */
    readonly unlink: (
      context: CommandContext,
      subject: string,
      id: string,
      offered: OfferedWays
    ) => Effect.Effect<void, ApiError>
  }
>()("svc/account/UpstreamIdentities") {
  static readonly layer = Layer.effect(
    UpstreamIdentities,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const audit = yield* Audit
      const users = yield* Users
      const sessions = yield* Sessions
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

      /** As accounts spell it. The issuer says that an account's address is verified while it is this one. */
      const addressOf = ({ verifiedEmail }: UpstreamIdentity) =>
        verifiedEmail === undefined
          ? Effect.succeed(null)
          : Effect.orElseSucceed(users.parseEmail(verifiedEmail), () => null)

      const link = Effect.fnUntraced(function* (identity: UpstreamIdentity, subject: string, requestId?: string) {
        const at = yield* now
        const taken = yield* sql`INSERT INTO upstream_identities ${UpstreamIdentityRow.values(sql, {
          issuer: identity.issuer,
          upstream_subject: identity.subject,
          subject,
          verified_email: yield* addressOf(identity),
          created_at: at,
          last_used_at: at
        })} ON CONFLICT DO NOTHING RETURNING subject`
        if (taken.length === 0) {
          return yield* failedPrecondition("The account is linked to another identity of this provider already.")
        }
        yield* audit.append({
          workspaceId: null,
          actor: { kind: "user", subject },
          action: "account.upstream.link",
          target: { kind: "user", id: subject },
          data: { issuer: identity.issuer },
          requestId
        })
        yield* notices.write(subject, "identity_linked", identity.issuer)
        return subject
      })

      const ownerByAddress = Effect.fnUntraced(function* (email: string | undefined) {
        const user = email === undefined ? Option.none() : yield* users.findByEmail(email)
        // Whoever typed an address nobody verified must not be handed the identity of its owner.
        return Option.isSome(user) && user.value.status === "active" && user.value.emailProof !== null
          ? user.value.subject
          : yield* unknown()
      })

      const ownerOf = Effect.fnUntraced(function* (identity: UpstreamIdentity, arrival: UpstreamArrival) {
        const [linked] = yield* Effect.orDie(findLinked(identity))
        if (linked === undefined) {
          const owner = arrival.linkSubject ?? (yield* ownerByAddress(identity.verifiedEmail))
          return yield* link(identity, owner, arrival.requestId)
        }
        if (linked.status !== "active") return yield* unknown()
        if (arrival.linkSubject !== undefined && arrival.linkSubject !== linked.subject) {
          return yield* failedPrecondition("This identity belongs to another account here.")
        }
        const present = { verified_email: yield* addressOf(identity), last_used_at: yield* now }
        yield* sql`UPDATE upstream_identities SET ${UpstreamIdentityRow.changes(sql, present)}
          WHERE issuer = ${identity.issuer} AND upstream_subject = ${identity.subject}`
        return linked.subject
      })

      return UpstreamIdentities.of({
        signIn: Effect.fn("UpstreamIdentities.signIn")(function* (identity, arrival) {
          const { replaces, requestId, userAgent } = arrival
          const subject = yield* ownerOf(identity, arrival)
          const opened = yield* sessions.open({ subject, method: "upstream", userAgent, replaces, requestId })
          return { ...opened, subject }
        }, transaction(sql)),
        ownerOf: Effect.fn("UpstreamIdentities.ownerOf")(function* (identity) {
          const [linked] = yield* Effect.orDie(findLinked(identity))
          return linked?.status === "active" ? linked.subject : yield* unknown()
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
          yield* Effect.provideService(requireWayIn(subject, offered), SqlClient.SqlClient, sql)
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
