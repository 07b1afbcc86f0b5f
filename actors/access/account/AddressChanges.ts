import { Context, DateTime, Effect, Layer, Option, Redacted, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { ApiError, failedPrecondition, invalidRequest, notFound } from "../../../schema/errors/ApiError.ts"
import type { AddressLinkState } from "../../../schema/records/AccountLink.ts"
import type { AddressProof } from "../../../schema/records/Invitation.ts"
import { retention } from "../../../schema/records/Retention.ts"
import type { CommandContext } from "../../../schema/commands/Command.ts"
import { mintSecret, secretHash } from "../../base/credential/BearerSecret.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { newId, now } from "../../base/Identity.ts"
import { Mails } from "../../base/mail/Mails.ts"
import { AddressChangeRow } from "./ProfileRows.ts"
import { Users } from "./Users.ts"

export interface AddressLink {
  /** Put the secret into the link's fragment, which browsers do not send. */
  readonly secret: Redacted.Redacted
  readonly expiresAt: string
}

const refused = () =>
  new ApiError({
    code: "not_found",
    message: "The link is unknown, used or expired, or it is for another account. The address was not changed."
  })

/**
 * Links that change an account's address. Using a link proves that the person owns the address: either the link was mailed
 * to the address, or an operator verified the address and passed on the link. A link works only for its own account.
 */
export class AddressChanges extends Context.Service<
  AddressChanges,
  {
    /**
     * Creates a single-use link and revokes the account's earlier links. Fails with `invalid_request` for an invalid
     * address, and with `not_found` for an unknown account. Does not reveal whether another account uses the address; only
     * the person who opens the link finds out.
     */
    readonly issue: (subject: string, email: string, proof: AddressProof) => Effect.Effect<AddressLink, ApiError>
    /**
     * Mails a link to the new address. Returns only the expiry of the link, so that opening the link proves that the person
     * receives mail at that address. Fails as `issue` does; also fails with `capability_not_available` if the server sends
     * no mail, and with `rate_limited` if the address has received, or the person has sent, too many mails.
     */
    readonly mail: (subject: string, email: string) => Effect.Effect<{ readonly expiresAt: string }, ApiError>
    /**
     * Returns the change that the link would make, and when the link expires. Does not use up the link. Fails with
     * `not_found` unless the caller owns the account.
     */
    readonly inspect: (subject: string, secret: Redacted.Redacted) => Effect.Effect<AddressLinkState, ApiError>
    /**
     * Changes the address. Fails with `not_found` if the caller does not own the account or the link is no longer valid, and with
     * `failed_precondition` if the address is taken.
     */
    readonly redeem: (
      context: CommandContext,
      subject: string,
      secret: Redacted.Redacted
    ) => Effect.Effect<void, ApiError>
  }
>()("svc/actors/access/account/AddressChanges") {
  static readonly layer = Layer.effect(
    AddressChanges,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const users = yield* Users
      const mails = yield* Mails
      const withRandom = Effect.provideService(SecureRandom.SecureRandom, yield* SecureRandom.SecureRandom)

      const person = Effect.fnUntraced(function* (subject: string) {
        const user = yield* users.find(subject)
        return Option.isSome(user) ? user.value : yield* notFound("Account")
      })

      const good = Effect.fnUntraced(function* (subject: string, secret: Redacted.Redacted) {
        const [row] = yield* AddressChangeRow.rows(sql)`SELECT * FROM address_changes
          WHERE secret_hash = ${secretHash(secret)} AND subject = ${subject} AND used_at IS NULL AND expires_at > ${yield* now}`
        return row ?? (yield* refused())
      })

      const issue = Effect.fn("AddressChanges.issue")(
        function* (subject: string, text: string, proof: AddressProof) {
          const email = yield* users.parseEmail(text)
          const owner = yield* person(subject)
          if (owner.email === email) {
            return yield* invalidRequest("email: the account has this address already.")
          }
          const secret = yield* mintSecret("addressChange")
          const at = yield* DateTime.now
          const expiresAt = DateTime.formatIso(DateTime.addDuration(at, retention.addressChange.after))
          yield* sql`DELETE FROM address_changes WHERE subject = ${subject} AND used_at IS NULL`
          yield* sql`INSERT INTO address_changes ${AddressChangeRow.values(sql, {
            id: yield* newId(Schema.String, "adr"),
            secret_hash: secretHash(secret),
            subject: owner.subject,
            email,
            proof,
            created_at: DateTime.formatIso(at),
            expires_at: expiresAt,
            used_at: null
          })}`
          return { secret, expiresAt, email }
        },
        transaction(sql),
        withRandom
      )

      const mail = Effect.fn("AddressChanges.mail")(function* (subject: string, text: string) {
        const { baseUrl } = mails
        if (baseUrl === undefined) {
          return yield* new ApiError({
            code: "capability_not_available",
            message: "This server sends no mail. The operator makes the link with `svc admin address-link`."
          })
        }
        yield* users.parseEmail(text)
        yield* mails.admit({ subject })
        const { email, expiresAt, secret } = yield* issue(subject, text, "mail")
        const link = `${baseUrl}/account/address#${Redacted.value(secret)}`
        if (yield* mails.queue(email, { kind: "address_link", link, expiresAt }, { subject })) return { expiresAt }
        return yield* new ApiError({
          code: "rate_limited",
          message: "This address got too many mails within an hour. Try again later.",
          retryAfter: 3600
        })
      }, transaction(sql))

      return AddressChanges.of({
        issue,
        mail,
        inspect: Effect.fn("AddressChanges.inspect")(function* (subject, secret) {
          const [row] = yield* AddressChangeRow.rows(sql)`SELECT * FROM address_changes
            WHERE secret_hash = ${secretHash(secret)} AND subject = ${subject}`
          if (row === undefined) return yield* notFound("Link")
          if (row.used_at !== null) return { state: "used" } as const
          if (row.expires_at <= (yield* now)) return { state: "expired" } as const
          const from = (yield* person(subject)).email
          return { state: "live", from, to: row.email, expiresAt: row.expires_at } as const
        }, transaction(sql)),
        redeem: Effect.fn("AddressChanges.redeem")(function* (context, subject, secret) {
          const row = yield* good(subject, secret)
          yield* sql`UPDATE address_changes SET ${AddressChangeRow.changes(sql, { used_at: yield* now })}
            WHERE id = ${row.id}`
          const taken = yield* users.findByEmail(row.email)
          if (Option.isSome(taken)) {
            return yield* failedPrecondition("Another account has this address. The address was not changed.")
          }
          yield* users.setAddress(context, subject, row.email, row.proof)
        }, transaction(sql))
      })
    })
  )
}
