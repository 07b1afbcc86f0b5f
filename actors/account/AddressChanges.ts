import { Context, DateTime, Effect, Layer, Option, type Redacted, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { ApiError, failedPrecondition, invalidRequest, notFound } from "../../schema/errors/ApiError.ts"
import type { AddressProof } from "../../schema/records/Invitation.ts"
import { retention } from "../../schema/records/Retention.ts"
import type { CommandContext } from "../Command.ts"
import { mintSecret, secretHash } from "../credential/BearerSecret.ts"
import { transaction } from "../database/Transaction.ts"
import { newId, now } from "../Identity.ts"
import { AddressChangeRow } from "./ProfileRows.ts"
import { Users } from "./Users.ts"

export interface AddressLink {
  /** Belongs in the fragment of the link, which browsers do not send. */
  readonly secret: Redacted.Redacted
  readonly expiresAt: string
}

/** The change that a link makes. */
export const AddressChange = Schema.Struct({ from: Schema.String, to: Schema.String })
export type AddressChange = typeof AddressChange.Type

const refused = () =>
  new ApiError({
    code: "not_found",
    message: "The link is unknown, used or expired, or it is for another account. The address was not changed."
  })

/**
 * Links that give an account another address. Whoever has one shows that the address is theirs: it was mailed there, or an operator
 * who vouches for it handed it over. It works only for the account that it was made for.
 */
export class AddressChanges extends Context.Service<
  AddressChanges,
  {
    /**
     * A link for one use; earlier ones of the account end. Fails with `invalid_request` for the address, `not_found` for the
     * account. Whether another account has the address is said only to those who open the link.
     */
    readonly issue: (subject: string, email: string, proof: AddressProof) => Effect.Effect<AddressLink, ApiError>
    /** What the link changes, without using it. Fails with `not_found` for anybody but the person of its account. */
    readonly inspect: (subject: string, secret: Redacted.Redacted) => Effect.Effect<AddressChange, ApiError>
    /** Changes the address. Fails as `inspect` does, and with `failed_precondition` for an address that is taken. */
    readonly redeem: (
      context: CommandContext,
      subject: string,
      secret: Redacted.Redacted
    ) => Effect.Effect<void, ApiError>
  }
>()("svc/account/AddressChanges") {
  static readonly layer = Layer.effect(
    AddressChanges,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const users = yield* Users
      const random = yield* SecureRandom.SecureRandom

      const person = Effect.fnUntraced(function* (subject: string) {
        const user = yield* users.find(subject)
        return Option.isSome(user) ? user.value : yield* notFound("Account")
      })

      const good = Effect.fnUntraced(function* (subject: string, secret: Redacted.Redacted) {
        const [row] = yield* AddressChangeRow.rows(sql)`SELECT * FROM address_changes
          WHERE secret_hash = ${secretHash(secret)} AND subject = ${subject} AND used_at IS NULL AND expires_at > ${yield* now}`
        return row ?? (yield* refused())
      })

      return AddressChanges.of({
        issue: Effect.fn("AddressChanges.issue")(
          function* (subject, text, proof) {
            const email = yield* users.parseEmail(text)
            if ((yield* person(subject)).email === email) {
              return yield* invalidRequest("email: the account has this address already.")
            }
            const secret = yield* mintSecret("addressChange")
            const at = yield* DateTime.now
            const expiresAt = DateTime.formatIso(DateTime.addDuration(at, retention.addressChange.after))
            yield* sql`DELETE FROM address_changes WHERE subject = ${subject} AND used_at IS NULL`
            yield* sql`INSERT INTO address_changes ${AddressChangeRow.values(sql, {
              id: yield* newId(Schema.String, "adr"),
              secret_hash: secretHash(secret),
              subject,
              email,
              proof,
              created_at: DateTime.formatIso(at),
              expires_at: expiresAt,
              used_at: null
            })}`
            return { secret, expiresAt }
          },
          transaction(sql),
          Effect.provideService(SecureRandom.SecureRandom, random)
        ),
        inspect: Effect.fn("AddressChanges.inspect")(function* (subject, secret) {
          const row = yield* good(subject, secret)
          return { from: (yield* person(subject)).email, to: row.email }
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
