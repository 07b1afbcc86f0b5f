import { Context, DateTime, Duration, Effect, Layer, Option, type Redacted, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient, SqlSchema } from "effect/sql"
import { ApiError, invalidRequest } from "../../schema/errors/ApiError.ts"
import { Subject } from "../../schema/records/Ids.ts"
import type { CommandContext } from "../Command.ts"
import { transaction } from "../database/Transaction.ts"
import { newId, now } from "../Identity.ts"
import { mintSecret, secretHash } from "./BearerSecret.ts"
import { Passwords } from "./Passwords.ts"
import { type OpenSession, Sessions } from "./Sessions.ts"
import { Users } from "./Users.ts"

const validFor = Duration.minutes(30)

export interface SetupLink {
  /** Belongs into the fragment of the link's address, which browsers do not send. */
  readonly secret: Redacted.Redacted
  readonly expiresAt: string
}

export interface Redemption {
  readonly secret: Redacted.Redacted
  readonly password: Redacted.Redacted
  /** Of the first account; ignored where the link is for an account that exists. */
  readonly email?: string | undefined
  readonly displayName?: string | undefined
  readonly userAgent?: string | undefined
  readonly requestId?: string | undefined
}

const Link = Schema.Struct({
  purpose: Schema.Literals(["first_admin", "reset_password"]),
  subject: Schema.NullOr(Subject)
})

const refused = () =>
  new ApiError({
    code: "not_found",
    message:
      "The setup link is unknown, used or expired. Restart the server, or run `svc admin setup-link`, for a new one."
  })

/** One-time links: for the first account of an installation, and for an account that lost its password. */
export class SetupLinks extends Context.Service<
  SetupLinks,
  {
    /** A link for the first account, `none` once anybody has one. Earlier unused links of this kind end. */
    readonly issueFirst: Effect.Effect<Option.Option<SetupLink>>
    /** A link with which the account gets a new password. Fails with `not_found`. */
    readonly issueReset: (subject: string) => Effect.Effect<SetupLink, ApiError>
    /** Uses up the link and signs the person in. Fails with `not_found` for any link that is not good. */
    readonly redeem: (redemption: Redemption) => Effect.Effect<OpenSession & { readonly subject: string }, ApiError>
  }
>()("svc/account/SetupLinks") {
  static readonly layer = Layer.effect(
    SetupLinks,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const users = yield* Users
      const passwords = yield* Passwords
      const sessions = yield* Sessions
      const random = yield* SecureRandom.SecureRandom

      const findGood = SqlSchema.findAll({
        Request: Schema.Struct({ hash: Schema.String, at: Schema.String }),
        Result: Link,
        execute: ({ hash, at }) => sql`SELECT purpose, subject FROM setup_links
          WHERE secret_hash = ${hash} AND used_at IS NULL AND expires_at > ${at}`
      })

      const issue = Effect.fnUntraced(
        function* (purpose: (typeof Link.Type)["purpose"], subject: string | null) {
          const secret = yield* mintSecret("setupLink")
          const at = yield* DateTime.now
          const expiresAt = DateTime.formatIso(DateTime.addDuration(at, validFor))
          yield* sql`DELETE FROM setup_links
            WHERE used_at IS NULL AND purpose = ${purpose} AND COALESCE(subject, '') = ${subject ?? ""}`
          yield* sql`INSERT INTO setup_links ${sql.insert({
            id: yield* newId(Schema.String, "lnk"),
            secret_hash: secretHash(secret),
            purpose,
            subject,
            created_at: DateTime.formatIso(at),
            expires_at: expiresAt,
            used_at: null
          })}`
          return { secret, expiresAt } satisfies SetupLink
        },
        Effect.provideService(SecureRandom.SecureRandom, random)
      )

      const redeem = Effect.fn("SetupLinks.redeem")(function* (redemption: Redemption) {
        const hash = secretHash(redemption.secret)
        // Before the costly hash, so that guesses cost nothing.
        const [good] = yield* Effect.orDie(findGood({ hash, at: yield* now }))
        if (good === undefined) return yield* refused()
        const passwordHash = yield* passwords.hash(redemption.password)
        return yield* Effect.gen(function* () {
          const at = yield* now
          const used = yield* sql`UPDATE setup_links SET used_at = ${at}
            WHERE secret_hash = ${hash} AND used_at IS NULL AND expires_at > ${at} RETURNING id`
          if (used.length === 0) return yield* refused()
          const subject =
            good.subject === null
              ? yield* createFirst(redemption, passwordHash)
              : yield* replacePassword(good.subject, redemption, passwordHash)
          const { requestId, userAgent } = redemption
          const opened = yield* sessions.open({ subject, method: "setup", userAgent, requestId })
          return { ...opened, subject }
        }).pipe(transaction(sql))
      })

      const service = (redemption: Redemption): CommandContext => ({
        actor: { kind: "service" },
        actorKey: "setup",
        ...(redemption.requestId === undefined ? {} : { requestId: redemption.requestId })
      })

      const createFirst = Effect.fnUntraced(function* (redemption: Redemption, passwordHash: string) {
        if (yield* users.exist) return yield* refused()
        if (redemption.email === undefined)
          return yield* invalidRequest("email: give the address of the first account.")
        const { displayName, email } = redemption
        const user = yield* users.create(service(redemption), { email, displayName, passwordHash, isOperator: true })
        return user.subject
      })

      const replacePassword = Effect.fnUntraced(function* (subject: Subject, redemption: Redemption, hash: string) {
        yield* users.setPassword(service(redemption), subject, hash)
        return subject
      })

      return SetupLinks.of({
        issueFirst: Effect.gen(function* () {
          if (yield* users.exist) return Option.none()
          return Option.some(yield* issue("first_admin", null))
        }).pipe(transaction(sql), Effect.withSpan("SetupLinks.issueFirst")),
        issueReset: Effect.fn("SetupLinks.issueReset")(function* (subject) {
          if (Option.isNone(yield* users.find(subject))) {
            return yield* new ApiError({ code: "not_found", message: "Account not found." })
          }
          return yield* issue("reset_password", subject)
        }, transaction(sql)),
        redeem
      })
    })
  )
}
