import type { PublicKeyCredentialCreationOptionsJSON } from "@simplewebauthn/server"
import { Context, DateTime, Effect, Layer, Option, Redacted, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient, SqlSchema } from "effect/sql"
import { ApiError, invalidRequest, notFound } from "../../../schema/errors/ApiError.ts"
import type { SetupLinkState } from "../../../schema/records/AccountLink.ts"
import { Subject } from "../../../schema/records/Ids.ts"
import { retention } from "../../../schema/records/Retention.ts"
import type { CommandContext } from "../../../schema/commands/Command.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { newId, now } from "../../base/Identity.ts"
import { mintSecret, secretHash } from "../../base/credential/BearerSecret.ts"
import { Mails } from "../../base/mail/Mails.ts"
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
import { type User, Users } from "./Users.ts"
import { providedService } from "../../base/Provided.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { type RowOf, table } from "../../base/database/Table.ts"

/** One-time links to set up or recover an account. A `mailed_reset` link is never shown, only mailed. */
export const SetupLinkRow = table("setup_links", {
  id: Schema.String,
  secret_hash: Schema.String,
  purpose: Schema.Literals(["first_admin", "reset_password", "mailed_reset"]),
  subject: Schema.NullOr(Subject),
  created_at: Timestamp,
  expires_at: Timestamp,
  used_at: Schema.NullOr(Timestamp)
})
type SetupLinkRow = RowOf<typeof SetupLinkRow.columns>

const validFor = retention.setupLink.after

export interface SetupLink {
  /** Put the secret into the link's fragment, which browsers do not send. */
  readonly secret: Redacted.Redacted
  readonly expiresAt: string
}

export interface ResetLink extends SetupLink {
  /** True if a second link was mailed to the account's address. */
  readonly mailed: boolean
}

export interface Redemption {
  readonly secret: Redacted.Redacted
  /** The address of a first account; ignored if the account already exists. */
  readonly email?: string | undefined
  readonly displayName?: string | undefined
  readonly userAgent?: string | undefined
  readonly requestId?: string | undefined
}

export interface PasswordRedemption extends Redemption {
  readonly password: Redacted.Redacted
}

/** `name` is the person's name for the passkey; `answer` is the browser's response to {@link SetupLinks.passkeyOptions}. */
export interface PasskeyRedemption extends Redemption {
  readonly party: RelyingParty
  readonly name: string
  readonly answer: PasskeyRegistration
}

/** The person's new sign-in method. It is prepared before the transaction, because computing it takes time. */
type NewSignInMethod =
  | { readonly kind: "password"; readonly hash: string }
  | { readonly kind: "passkey"; readonly subject: Subject; readonly verified: VerifiedPasskey }

const Link = Schema.Struct({
  id: Schema.String,
  purpose: SetupLinkRow.columns.purpose,
  subject: Schema.NullOr(Subject)
})

const refused = () =>
  new ApiError({
    code: "not_found",
    message:
      "The setup link is unknown, used or expired. `svc admin setup-link` makes a new one for the first account, `svc admin reset-password` for an existing one."
  })

/** One-time links for the first account of an installation, and for people who have lost their password. */
export class SetupLinks extends Context.Service<
  SetupLinks,
  {
    /** Creates a link for the first account and revokes earlier unused links. Returns `none` if an account exists. */
    readonly issueFirst: Effect.Effect<Option.Option<SetupLink>>
    /**
     * Creates a link to set a new password. If `mail` is set, also mails a second link to the account's address; using that
     * second link proves the address. Using either link revokes both links. Fails with `not_found` if the account does not
     * exist.
     */
    readonly issueReset: (subject: string, mail?: boolean) => Effect.Effect<ResetLink, ApiError>
    /** Returns the purpose and expiry of the link without using it up. Fails with `not_found` for an unknown link. */
    readonly inspect: (secret: Redacted.Redacted) => Effect.Effect<SetupLinkState, ApiError>
    /** Uses up the link and signs the person in. Fails with `not_found` for an invalid link. */
    readonly redeem: (
      redemption: PasswordRedemption
    ) => Effect.Effect<OpenSession & { readonly subject: string }, ApiError>
    /**
     * Returns the options for creating a passkey in the browser instead of a password. Does not use up the link. Fails with
     * `not_found` for an invalid link, and with `invalid_request` for an invalid address of a first account, so that the person
     * does not create a useless passkey.
     */
    readonly passkeyOptions: (
      party: RelyingParty,
      redemption: Redemption
    ) => Effect.Effect<PublicKeyCredentialCreationOptionsJSON, ApiError>
    /**
     * Uses up the link and signs the person in with a new passkey. Writes the link, account, passkey and session in one
     * transaction, and removes an existing password. Fails as `redeem` does, and with `invalid_request` if the response is
     * invalid; in that case, the link remains valid.
     */
    readonly redeemWithPasskey: (
      redemption: PasskeyRedemption
    ) => Effect.Effect<OpenSession & { readonly subject: string }, ApiError>
  }
>()("svc/actors/access/account/SetupLinks") {
  static readonly layer = Layer.effect(
    SetupLinks,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const users = yield* Users
      const passwords = yield* Passwords
      const sessions = yield* Sessions
      const newPasskeys = yield* NewPasskeys
      const mails = yield* Mails
      const withRandom = Effect.provideService(SecureRandom.SecureRandom, yield* SecureRandom.SecureRandom)

      // SQL condition for accounts that a link may open. An operator may create a link for a locked account; the link works
      // once the account is unlocked.
      const mayEnter = sql.literal(
        `(subject IS NULL OR subject IN (SELECT subject FROM users WHERE status = 'active'))`
      )
      const findGood = SqlSchema.findAll({
        Request: Schema.Struct({ hash: Schema.String, at: Schema.String }),
        Result: Link,
        execute: ({ hash, at }) => sql`SELECT id, purpose, subject FROM setup_links
          WHERE secret_hash = ${hash} AND used_at IS NULL AND expires_at > ${at} AND ${mayEnter}`
      })

      const mint = Effect.fnUntraced(function* (purpose: SetupLinkRow["purpose"], subject: Subject | null) {
        const secret = yield* mintSecret("setupLink")
        const at = yield* DateTime.now
        const expiresAt = DateTime.formatIso(DateTime.addDuration(at, validFor))
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
      }, withRandom)

      const issue = Effect.fnUntraced(function* (purpose: SetupLinkRow["purpose"], subject: Subject | null) {
        yield* sql`DELETE FROM setup_links WHERE used_at IS NULL AND COALESCE(subject, '') = ${subject ?? ""}`
        return yield* mint(purpose, subject)
      })

      const mailReset = Effect.fnUntraced(function* ({ email, subject }: User) {
        const { baseUrl } = mails
        if (baseUrl === undefined) return false
        const { expiresAt, secret } = yield* mint("mailed_reset", subject)
        const link = `${baseUrl}/setup#${Redacted.value(secret)}`
        return yield* mails.queue(email, { kind: "reset_link", link, expiresAt })
      })

      /** Checks the link before anything costly, so that guesses are cheap to reject. */
      const goodLink = Effect.fnUntraced(function* (secret: Redacted.Redacted) {
        const [good] = yield* Effect.orDie(findGood({ hash: secretHash(secret), at: yield* now }))
        return good === undefined ? yield* refused() : good
      })

      const enter = Effect.fnUntraced(function* (
        good: typeof Link.Type,
        redemption: Redemption,
        method: NewSignInMethod
      ) {
        const at = yield* now
        const used = yield* sql`UPDATE setup_links SET used_at = ${at}
          WHERE id = ${good.id} AND used_at IS NULL AND expires_at > ${at} AND ${mayEnter} RETURNING id`
        if (used.length === 0) return yield* refused()
        const subject =
          good.subject === null
            ? yield* createFirst(redemption, method)
            : yield* recover({ ...good, subject: good.subject }, service(redemption), method)
        if (method.kind === "passkey") yield* newPasskeys.insert(service(redemption), subject, method.verified)
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
        // Does not exclude existing passkeys: if a device already has a passkey for the account, the new passkey replaces
        // it.
        return { subject, email, displayName: displayName ?? undefined, known: [] }
      })

      const passkeyOptions = Effect.fn("SetupLinks.passkeyOptions")(function* (
        party: RelyingParty,
        redemption: Redemption
      ) {
        const good = yield* goodLink(redemption.secret)
        const holder = good.subject === null ? yield* firstHolder(redemption) : yield* knownHolder(good.subject)
        return yield* creationOptions(party, holder, yield* issueChallenge(`setup:${good.id}`, holder.subject))
      })

      const redeemWithPasskey = Effect.fn("SetupLinks.redeemWithPasskey")(function* (redemption: PasskeyRedemption) {
        const { answer, name, party } = redemption
        const good = yield* goodLink(redemption.secret)
        const challenge = claimedChallenge(answer.response.clientDataJSON)
        const holder = yield* spendSetupChallenge(challenge, good.id)
        if (holder === undefined) return yield* refusedRegistration()
        const verified = yield* newPasskeys.verify(party, name, challenge, answer)
        return yield* enter(good, redemption, { kind: "passkey", subject: holder, verified })
      })

      const service = (redemption: Redemption): CommandContext => ({
        actor: { kind: "service" },
        actorKey: "setup",
        ...(redemption.requestId === undefined ? {} : { requestId: redemption.requestId })
      })

      const addressOf = (email: string | undefined) =>
        email === undefined
          ? Effect.fail(invalidRequest("email: give the address of the first account."))
          : users.parseEmail(email)

      const createFirst = Effect.fnUntraced(function* (redemption: Redemption, method: NewSignInMethod) {
        if (yield* users.exist) return yield* refused()
        const { subject } = yield* users.create(service(redemption), {
          email: yield* addressOf(redemption.email),
          emailProof: "operator",
          displayName: redemption.displayName,
          isOperator: true,
          ...(method.kind === "password" ? { passwordHash: method.hash } : { subject: method.subject })
        })
        return subject
      })

      const recover = Effect.fnUntraced(function* (
        { purpose, subject }: typeof Link.Type & { readonly subject: Subject },
        context: CommandContext,
        method: NewSignInMethod
      ) {
        // The operator's link and the mailed link are alternatives, so using one of them revokes both.
        yield* sql`UPDATE setup_links SET used_at = ${yield* now} WHERE subject = ${subject} AND used_at IS NULL`
        if (purpose === "mailed_reset") {
          yield* users.proveAddress(subject, (yield* knownHolder(subject)).email, "mail")
        }
        if (method.kind === "password") yield* users.setPassword(context, subject, method.hash)
        else yield* users.removePassword(context, subject)
        return subject
      })

      return yield* providedService(SetupLinks, {
        issueFirst: Effect.gen(function* () {
          if (yield* users.exist) return Option.none()
          return Option.some(yield* issue("first_admin", null))
        }).pipe(transaction(sql), Effect.withSpan("SetupLinks.issueFirst")),
        issueReset: Effect.fn("SetupLinks.issueReset")(function* (subject, mail = false) {
          const user = yield* users.find(subject)
          if (Option.isNone(user)) return yield* notFound("Account")
          const link = yield* issue("reset_password", user.value.subject)
          return { ...link, mailed: mail && (yield* mailReset(user.value)) }
        }, transaction(sql)),
        inspect: Effect.fn("SetupLinks.inspect")(function* (secret) {
          const [row] = yield* SetupLinkRow.rows(sql)`SELECT * FROM setup_links
            WHERE secret_hash = ${secretHash(secret)}`
          if (row === undefined) return yield* notFound("Setup link")
          const purpose = row.subject === null ? "first_account" : "recovery"
          const isUsed = row.used_at !== null || (row.subject === null && (yield* users.exist))
          if (isUsed) return { state: "used", purpose } as const
          if (row.expires_at <= (yield* now)) return { state: "expired", purpose } as const
          const live = { state: "live", expiresAt: row.expires_at } as const
          if (row.subject === null) return { ...live, purpose: "first_account" } as const
          const user = yield* users.find(row.subject)
          if (Option.isNone(user) || user.value.status !== "active") return yield* notFound("Setup link")
          return { ...live, purpose: "recovery", email: user.value.email } as const
        }, transaction(sql)),
        redeem,
        passkeyOptions,
        redeemWithPasskey
      })
    })
  )
}
