import type { PublicKeyCredentialCreationOptionsJSON } from "@simplewebauthn/server"
import { Context, DateTime, Effect, Layer, Option, type Redacted, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient, SqlSchema } from "effect/sql"
import { retention } from "../../schema/records/Retention.ts"
import { ApiError, invalidRequest } from "../../schema/errors/ApiError.ts"
import { Subject } from "../../schema/records/Ids.ts"
import type { CommandContext } from "../Command.ts"
import { transaction } from "../database/Transaction.ts"
import { newId, now } from "../Identity.ts"
import { mintSecret, secretHash } from "../credential/BearerSecret.ts"
import {
  creationOptions,
  NewPasskeys,
  refusedRegistration,
  type RelyingParty,
  type VerifiedPasskey
} from "./NewPasskeys.ts"
import { claimedChallenge, issueChallenge, spendSetupChallenge } from "./PasskeyChallenges.ts"
import type { PasskeyRegistration } from "./PasskeyResponse.ts"
import { Passwords } from "./Passwords.ts"
import { type OpenSession, Sessions } from "./Sessions.ts"
import { Users } from "./Users.ts"
import { SetupLinkRow } from "./SetupLinkRow.ts"

const validFor = retention.setupLink.after

export interface SetupLink {
  /** Belongs in the fragment of the link, which browsers do not send. */
  readonly secret: Redacted.Redacted
  readonly expiresAt: string
}

/** `email`: the account of a link for an existing one. Its holder may know: they are about to get in. */
export const SetupLinkPurpose = Schema.Union([
  Schema.Struct({ purpose: Schema.Literal("first_account") }),
  Schema.Struct({ purpose: Schema.Literal("recovery"), email: Schema.String })
])
export type SetupLinkPurpose = typeof SetupLinkPurpose.Type

export interface Redemption {
  readonly secret: Redacted.Redacted
  /** For the first account; ignored for an existing one. */
  readonly email?: string | undefined
  readonly displayName?: string | undefined
  readonly userAgent?: string | undefined
  readonly requestId?: string | undefined
}

export interface PasswordRedemption extends Redemption {
  readonly password: Redacted.Redacted
}

/** `name` is the person's name for the passkey, `answer` the browser's answer to {@link SetupLinks.passkeyOptions}. */
export interface PasskeyRedemption extends Redemption {
  readonly party: RelyingParty
  readonly name: string
  readonly answer: PasskeyRegistration
}

/** How the person will sign in from now on; both take time, so they are prepared before the transaction. */
type WayIn =
  | { readonly kind: "password"; readonly hash: string }
  | { readonly kind: "passkey"; readonly subject: Subject; readonly verified: VerifiedPasskey }

const Link = Schema.Struct({
  id: Schema.String,
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
    /** A link for the first account, `none` once an account exists. Earlier unused links of this kind end. */
    readonly issueFirst: Effect.Effect<Option.Option<SetupLink>>
    /** A link with which the account gets a new password. Fails with `not_found`. */
    readonly issueReset: (subject: string) => Effect.Effect<SetupLink, ApiError>
    /** What the link is for, without using it up. Fails with `not_found` for an invalid link. */
    readonly inspect: (secret: Redacted.Redacted) => Effect.Effect<SetupLinkPurpose, ApiError>
    /** Uses up the link and signs the person in. Fails with `not_found` for an invalid link. */
    readonly redeem: (
      redemption: PasswordRedemption
    ) => Effect.Effect<OpenSession & { readonly subject: string }, ApiError>
    /**
     * The browser's options for a passkey instead of a password, without using up the link. Fails with `not_found` for an
     * invalid link, and with `invalid_request` for an invalid address of a first account: nobody should create a passkey in
     * vain.
     */
    readonly passkeyOptions: (
      party: RelyingParty,
      redemption: Redemption
    ) => Effect.Effect<PublicKeyCredentialCreationOptionsJSON, ApiError>
    /**
     * Uses up the link for an account that its holder enters with the new passkey: link, account, passkey and session are one
     * transaction. An existing password no longer works. Fails as `redeem` does, and with `invalid_request` when the answer
     * does not verify; the link then stays valid.
     */
    readonly redeemWithPasskey: (
      redemption: PasskeyRedemption
    ) => Effect.Effect<OpenSession & { readonly subject: string }, ApiError>
  }
>()("svc/account/SetupLinks") {
  static readonly layer = Layer.effect(
    SetupLinks,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const users = yield* Users
      const passwords = yield* Passwords
      const sessions = yield* Sessions
      const newPasskeys = yield* NewPasskeys
      const random = yield* SecureRandom.SecureRandom
      const services = yield* Effect.context<SqlClient.SqlClient | SecureRandom.SecureRandom>()

      const findGood = SqlSchema.findAll({
        Request: Schema.Struct({ hash: Schema.String, at: Schema.String }),
        Result: Link,
        execute: ({ hash, at }) => sql`SELECT id, purpose, subject FROM setup_links
          WHERE secret_hash = ${hash} AND used_at IS NULL AND expires_at > ${at}`
      })

      const issue = Effect.fnUntraced(
        function* (purpose: (typeof Link.Type)["purpose"], subject: string | null) {
          const secret = yield* mintSecret("setupLink")
          const at = yield* DateTime.now
          const expiresAt = DateTime.formatIso(DateTime.addDuration(at, validFor))
          yield* sql`DELETE FROM setup_links
            WHERE used_at IS NULL AND purpose = ${purpose} AND COALESCE(subject, '') = ${subject ?? ""}`
          yield* sql`INSERT INTO setup_links ${SetupLinkRow.values(sql, {
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

      /** Before anything costly, so that guesses are cheap. */
      const goodLink = Effect.fnUntraced(function* (secret: Redacted.Redacted) {
        const [good] = yield* Effect.orDie(findGood({ hash: secretHash(secret), at: yield* now }))
        return good === undefined ? yield* refused() : good
      })

      const enter = Effect.fnUntraced(function* (good: typeof Link.Type, redemption: Redemption, way: WayIn) {
        const at = yield* now
        const used = yield* sql`UPDATE setup_links SET used_at = ${at}
          WHERE id = ${good.id} AND used_at IS NULL AND expires_at > ${at} RETURNING id`
        if (used.length === 0) return yield* refused()
        const subject =
          good.subject === null
            ? yield* createFirst(redemption, way)
            : yield* recover(good.subject, service(redemption), way)
        if (way.kind === "passkey") yield* newPasskeys.insert(service(redemption), subject, way.verified)
        const { requestId, userAgent } = redemption
        const opened = yield* sessions.open({ subject, method: "setup", userAgent, requestId })
        return { ...opened, subject }
      }, transaction(sql))

      const redeem = Effect.fn("SetupLinks.redeem")(function* (redemption: PasswordRedemption) {
        const good = yield* goodLink(redemption.secret)
        const hash = yield* passwords.hash(redemption.password)
        return yield* enter(good, redemption, { kind: "password", hash })
      })

      const firstHolder = Effect.fnUntraced(function* ({ displayName, email }: Redemption) {
        if (yield* users.exist) return yield* refused()
        return { subject: yield* newId(Subject, "usr"), email: yield* addressOf(email), displayName, known: [] }
      })

      const knownHolder = Effect.fnUntraced(function* (subject: Subject) {
        const user = yield* users.find(subject)
        if (Option.isNone(user)) return yield* refused()
        const { displayName, email } = user.value
        // No device is excluded: one that already has a passkey of the account replaces it.
        return { subject, email, displayName: displayName ?? undefined, known: [] }
      })

      const passkeyOptions = Effect.fn("SetupLinks.passkeyOptions")(function* (
        party: RelyingParty,
        redemption: Redemption
      ) {
        const good = yield* goodLink(redemption.secret)
        const holder = good.subject === null ? yield* firstHolder(redemption) : yield* knownHolder(good.subject)
        return yield* creationOptions(party, holder, yield* issueChallenge(`setup:${good.id}`, holder.subject))
      }, Effect.provideContext(services))

      const redeemWithPasskey = Effect.fn("SetupLinks.redeemWithPasskey")(function* (redemption: PasskeyRedemption) {
        const { answer, name, party } = redemption
        const good = yield* goodLink(redemption.secret)
        const challenge = claimedChallenge(answer.response.clientDataJSON)
        const holder = yield* spendSetupChallenge(challenge, good.id)
        if (holder === undefined) return yield* refusedRegistration()
        const verified = yield* newPasskeys.verify(party, name, challenge, answer)
        return yield* enter(good, redemption, { kind: "passkey", subject: holder, verified })
      }, Effect.provideContext(services))

      const service = (redemption: Redemption): CommandContext => ({
        actor: { kind: "service" },
        actorKey: "setup",
        ...(redemption.requestId === undefined ? {} : { requestId: redemption.requestId })
      })

      const addressOf = (email: string | undefined) =>
        email === undefined
          ? Effect.fail(invalidRequest("email: give the address of the first account."))
          : users.parseEmail(email)

      const createFirst = Effect.fnUntraced(function* (redemption: Redemption, way: WayIn) {
        if (yield* users.exist) return yield* refused()
        const { subject } = yield* users.create(service(redemption), {
          email: yield* addressOf(redemption.email),
          emailProof: "operator",
          displayName: redemption.displayName,
          isOperator: true,
          ...(way.kind === "password" ? { passwordHash: way.hash } : { subject: way.subject })
        })
        return subject
      })

      const recover = Effect.fnUntraced(function* (subject: Subject, context: CommandContext, way: WayIn) {
        if (way.kind === "password") yield* users.setPassword(context, subject, way.hash)
        else yield* users.removePassword(context, subject)
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
        inspect: Effect.fn("SetupLinks.inspect")(function* (secret) {
          const good = yield* goodLink(secret)
          if (good.subject !== null) return { purpose: "recovery", email: (yield* knownHolder(good.subject)).email }
          return (yield* users.exist) ? yield* refused() : { purpose: "first_account" }
        }),
        redeem,
        passkeyOptions,
        redeemWithPasskey
      })
    })
  )
}
