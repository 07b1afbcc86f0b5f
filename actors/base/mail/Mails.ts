import { Context, DateTime, Duration, Effect, Layer, Redacted, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import type { ApiError } from "../../../schema/errors/ApiError.ts"
import { retention } from "../../../schema/records/Retention.ts"
import { rowShape } from "../database/Table.ts"
import { newId } from "../Identity.ts"
import { Vault } from "../vault/Vault.ts"
import { admitSender, type MailReader, MailRow, type MailSender } from "./MailLimits.ts"
import { MailSettings } from "./MailSettings.ts"
import { type MailContent, mailText } from "./MailTexts.ts"
import { type NoticeMail, noticeMailText } from "./NoticeMailTexts.ts"

/** Subject and body, in the form that is sealed. */
export const SealedMail = Schema.fromJsonString(Schema.Struct({ subject: Schema.String, text: Schema.String }))

/** The sealing context of a mail. */
export const mailPlace = (id: string) => ({ table: "mails", column: "content", workspaceId: null, rowId: id }) as const

// Maximum number of mails per address, kind and hour, so that people with the right to invite cannot flood an address. Notices
// are counted separately, so they are still sent.
const mostInAnHour = 10
/** A higher limit for notices, because their readers have subscribed to them. */
const mostNoticesInAnHour = 60

const mostOf = (kind: (MailContent | NoticeMail)["kind"]) =>
  kind === "workspace_notice" ? mostNoticesInAnHour : mostInAnHour

const Recent = rowShape({ mails: Schema.Int })

/** Queues mails to people in the caller's transaction. A background job sends them. */
export class Mails extends Context.Service<
  Mails,
  {
    /** Base URL of links; `undefined` on a server without mail. */
    readonly baseUrl: string | undefined
    /**
     * Queues a mail in the caller's transaction. Returns `false` if the server sends no mail, or if the address has received too
     * many mails of this kind within an hour. The caller's action still succeeds.
     */
    readonly queue: (
      to: string,
      mail: MailContent | NoticeMail,
      sender?: MailSender,
      reader?: MailReader
    ) => Effect.Effect<boolean>
    /**
     * Fails with `rate_limited` if the person, the Workspace or the server has sent too many mails. Always succeeds on a server
     * without mail. Call it before the transaction writes anything.
     */
    readonly admit: (sender: MailSender) => Effect.Effect<void, ApiError>
  }
>()("svc/actors/base/mail/Mails") {
  static readonly layer = Layer.effect(
    Mails,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const vault = yield* Vault
      const withRandom = Effect.provideService(SecureRandom.SecureRandom, yield* SecureRandom.SecureRandom)
      const { origin } = yield* MailSettings

      const isTooMany = Effect.fnUntraced(function* (
        to: string,
        kind: (MailContent | NoticeMail)["kind"],
        since: string
      ) {
        const [recent] = yield* Recent.rows(sql)`SELECT COUNT(*) AS mails FROM mails
          WHERE recipient = ${to} AND kind = ${kind} AND created_at > ${since}`
        return (recent?.mails ?? 0) >= mostOf(kind)
      })

      return Mails.of({
        baseUrl: origin?.baseUrl,
        admit: (sender) =>
          origin === undefined ? Effect.void : Effect.provideService(admitSender(sender), SqlClient.SqlClient, sql),
        queue: Effect.fn("Mails.queue")(
          function* (to, mail, sender, reader) {
            if (origin === undefined) return false
            const at = yield* DateTime.now
            if (yield* isTooMany(to, mail.kind, DateTime.formatIso(DateTime.subtractDuration(at, "1 hour")))) {
              yield* Effect.logWarning(
                `A mail (${mail.kind}) is not sent: its address got ${mostOf(mail.kind)} within an hour.`
              )
              return false
            }
            const id = yield* newId(Schema.String, "mail")
            const createdAt = DateTime.formatIso(at)
            const latest = DateTime.formatIso(DateTime.addDuration(at, retention.unsentMail.after))
            const content = yield* Schema.encodeEffect(SealedMail)(
              mail.kind === "workspace_notice"
                ? noticeMailText(origin.language, origin.name, mail)
                : mailText(origin.language, origin.name, mail)
            )
            yield* sql`INSERT INTO mails ${MailRow.values(sql, {
              id,
              recipient: to,
              sender: sender?.subject ?? null,
              workspace_id: sender?.workspaceId ?? null,
              kind: mail.kind,
              content: yield* vault.seal(mailPlace(id), Redacted.make(content)),
              attempts: 0,
              next_at: createdAt,
              expires_at: "expiresAt" in mail && mail.expiresAt < latest ? mail.expiresAt : latest,
              created_at: createdAt,
              ended_at: null,
              outcome: null,
              notice_subject: reader?.subject ?? null,
              notice_workspace_id: reader?.workspaceId ?? null
            })}`
            return true
          },
          Effect.orDie,
          withRandom
        )
      })
    })
  )
}

/** Interval between deliveries of due mails. */
export const deliveryInterval = Duration.seconds(5)
