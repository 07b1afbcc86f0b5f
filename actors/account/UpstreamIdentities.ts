import { Context, Effect, Layer, Option, type Redacted, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { ApiError, failedPrecondition } from "../../schema/errors/ApiError.ts"
import { Subject } from "../../schema/records/Ids.ts"
import { Audit } from "../audit/Audit.ts"
import { transaction } from "../database/Transaction.ts"
import { now } from "../Identity.ts"
import { type OpenSession, Sessions } from "./Sessions.ts"
import { Users } from "./Users.ts"

/** Who the upstream provider says that somebody is, after its answer was verified. */
export interface UpstreamIdentity {
  readonly issuer: string
  readonly subject: string
  /** Only an address that the provider calls verified. */
  readonly verifiedEmail?: string | undefined
}

export interface UpstreamArrival {
  /** The signed-in person who links the identity to their account. */
  readonly linkSubject?: string | undefined
  readonly userAgent?: string | undefined
  /** The session that the browser already had; it ends. */
  readonly replaces?: Redacted.Redacted | undefined
  readonly requestId?: string | undefined
}

const Linked = Schema.Struct({ subject: Subject, status: Schema.String })

const unknown = () =>
  new ApiError({
    code: "permission_denied",
    message:
      "No active account here belongs to this identity. Ask the operator for an account with the same e-mail address, or sign in another way and link it."
  })

/**
 * Identities of people at the upstream provider, known by issuer and subject. Nobody gets an account this way: an identity
 * belongs to the account it was linked to, at first to the one with its verified address.
 */
export class UpstreamIdentities extends Context.Service<
  UpstreamIdentities,
  {
    /**
     * Signs in the person the identity belongs to. Fails with `permission_denied` when that is nobody active, and with
     * `failed_precondition` when it was to be linked and belongs to another account, or the account has another one.
     */
    readonly signIn: (
      identity: UpstreamIdentity,
      arrival: UpstreamArrival
    ) => Effect.Effect<OpenSession & { readonly subject: string }, ApiError>
  }
>()("svc/account/UpstreamIdentities") {
  static readonly layer = Layer.effect(
    UpstreamIdentities,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const audit = yield* Audit
      const users = yield* Users
      const sessions = yield* Sessions

      const findLinked = SqlSchema.findAll({
        Request: Schema.Struct({ issuer: Schema.String, subject: Schema.String }),
        Result: Linked,
        execute: ({ issuer, subject }) => sql`SELECT u.subject, u.status
          FROM upstream_identities i JOIN users u ON u.subject = i.subject
          WHERE i.issuer = ${issuer} AND i.upstream_subject = ${subject}`
      })

      const link = Effect.fnUntraced(function* (identity: UpstreamIdentity, subject: string, requestId?: string) {
        const at = yield* now
        const taken = yield* sql`INSERT INTO upstream_identities ${sql.insert({
          issuer: identity.issuer,
          upstream_subject: identity.subject,
          subject,
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
        return subject
      })

      const ownerByAddress = Effect.fnUntraced(function* (email: string | undefined) {
        const user = email === undefined ? Option.none() : yield* users.findByEmail(email)
        return Option.isSome(user) && user.value.status === "active" ? user.value.subject : yield* unknown()
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
        yield* sql`UPDATE upstream_identities SET last_used_at = ${yield* now}
          WHERE issuer = ${identity.issuer} AND upstream_subject = ${identity.subject}`
        return linked.subject
      })

      return UpstreamIdentities.of({
        signIn: Effect.fn("UpstreamIdentities.signIn")(function* (identity, arrival) {
          const { replaces, requestId, userAgent } = arrival
          const subject = yield* ownerOf(identity, arrival)
          const opened = yield* sessions.open({ subject, method: "upstream", userAgent, replaces, requestId })
          return { ...opened, subject }
        }, transaction(sql))
      })
    })
  )
}
