import { Context, Effect, Layer, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient, SqlSchema } from "effect/sql"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { ReadSql } from "../../base/database/ReadSql.ts"
import { newId, now } from "../../base/Identity.ts"
import { Mails } from "../../base/mail/Mails.ts"
import type { AccountChange } from "../../base/mail/MailTexts.ts"
import { AccountNoticeRow, NoticeKind } from "./ProfileRows.ts"
import { verifiedAddress } from "./UserRow.ts"

/** A change to the account, as shown to its owner. */
export const AccountNotice = Schema.Struct({
  id: Schema.String,
  kind: NoticeKind,
  /** Depending on the change: the previous address, the passkey's name, or the issuer of the identity. */
  detail: Schema.NullOr(Schema.String),
  createdAt: Timestamp
})
export type AccountNotice = typeof AccountNotice.Type

/** The wording of each change in mails. Mails mention neither the name of a passkey nor that of a provider. */
const mailedChanges: Readonly<Record<NoticeKind, AccountChange>> = {
  address: "address",
  password: "password",
  password_removed: "password",
  passkey_added: "passkey",
  passkey_removed: "passkey",
  identity_linked: "upstream",
  identity_unlinked: "upstream",
  second_factor_on: "factor",
  second_factor_off: "factor",
  recovery_codes: "factor",
  recovery_code_used: "factor"
}

/** Returns true if there are notices that the person has not seen yet. */
export const hasUnseenNotices = (sql: SqlClient.SqlClient, subject: string) =>
  Effect.map(
    sql`SELECT 1 AS one FROM account_notices WHERE subject = ${subject} AND seen_at IS NULL LIMIT 1`,
    (rows) => rows.length > 0
  )

/**
 * Notifies the owner of an account when its address or sign-in methods change, because somebody else may have made the change. A
 * notice is shown until the owner dismisses it.
 */
export class AccountNotices extends Context.Service<
  AccountNotices,
  {
    /**
     * Writes a notice in the transaction of the change. If the server sends mail, also mails the notice to a verified
     * address. Call this before changing the address, because an attacker may read mail at the new address.
     */
    readonly write: (subject: string, kind: NoticeKind, detail?: string) => Effect.Effect<void>
    /** Returns the notices that the person has not dismissed yet, newest first. */
    readonly unseen: (subject: string) => Effect.Effect<ReadonlyArray<AccountNotice>>
    /** Marks this notice and all earlier notices as seen. */
    readonly see: (subject: string, noticeId: string) => Effect.Effect<void>
  }
>()("svc/actors/access/account/AccountNotices") {
  static readonly layer = Layer.effect(
    AccountNotices,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const read = yield* ReadSql
      const withRandom = Effect.provideService(SecureRandom.SecureRandom, yield* SecureRandom.SecureRandom)
      const mails = yield* Mails

      const findUnseen = SqlSchema.findAll({
        Request: Schema.String,
        Result: AccountNotice,
        execute: (subject) => read`SELECT id, kind, detail, created_at AS "createdAt" FROM account_notices
          WHERE subject = ${subject} AND seen_at IS NULL ORDER BY created_at DESC, id DESC LIMIT 50`
      })

      const mail = Effect.fnUntraced(function* (subject: string, kind: NoticeKind) {
        if (mails.baseUrl === undefined) return
        const address = yield* Effect.provideService(verifiedAddress(subject), SqlClient.SqlClient, sql)
        if (address === undefined) return
        yield* mails.queue(address, {
          kind: "notice",
          change: mailedChanges[kind],
          at: yield* now,
          accountPage: `${mails.baseUrl}/account`
        })
      })

      return AccountNotices.of({
        write: Effect.fn("AccountNotices.write")(
          function* (subject, kind, detail) {
            yield* sql`INSERT INTO account_notices ${AccountNoticeRow.values(sql, {
              id: yield* newId(Schema.String, "ntc"),
              subject,
              kind,
              detail: detail ?? null,
              created_at: yield* now,
              seen_at: null
            })}`
            yield* mail(subject, kind)
          },
          Effect.orDie,
          withRandom
        ),
        unseen: Effect.fn("AccountNotices.unseen")((subject) => Effect.orDie(findUnseen(subject))),
        see: Effect.fn("AccountNotices.see")(function* (subject, noticeId) {
          yield* sql`UPDATE account_notices SET ${AccountNoticeRow.changes(sql, { seen_at: yield* now })}
            WHERE subject = ${subject} AND seen_at IS NULL AND created_at <= (SELECT n.created_at FROM account_notices n
              WHERE n.id = ${noticeId} AND n.subject = ${subject})`
        }, Effect.orDie)
      })
    })
  )
}
