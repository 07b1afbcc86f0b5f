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
import { type MailContent, mailedName, type MailLanguage, mailText, type MailText } from "./MailTexts.ts"
import type { SentNotice, SentNoticeKind } from "../../../schema/records/NoticeEndpoint.ts"
import { noticeFacts, type NoticeLabel } from "../notice/NoticeFormats.ts"

/** A mail about a notice, to a reader who has subscribed to its kind. */
export interface NoticeMail {
  readonly kind: "workspace_notice"
  readonly notice: SentNotice
  readonly settingsPage: string
}

interface NoticeWords {
  readonly kinds: Readonly<Record<SentNoticeKind, string>>
  readonly labels: Readonly<Record<NoticeLabel, string>>
  readonly quoted: (name: string) => string
  readonly open: string
  readonly names: (server: string) => string
  readonly choose: string
}

const en: NoticeWords = {
  kinds: {
    "run.waiting_approval": "A plan waits for your approval",
    "run.approved": "Your plan was approved",
    "run.applied": "Your apply succeeded",
    "run.failed": "A Run failed",
    "run.unknown": "It is unknown what an apply left behind",
    "run.cancelled": "A Run was cancelled or its plan discarded",
    "drift.found": "Resources were changed outside svc",
    "drift.gone": "Drift is resolved",
    "source.broken": "A Source can no longer be read",
    "source.healed": "A Source can be read again",
    "update.available": "A newer commit is available",
    "connection.expiring": "The credentials of a Connection expire soon",
    "connection.failing": "A Connection is no longer accepted",
    "agent.unreachable": "An agent is unreachable",
    "agent.back": "An agent is back",
    "backup.failed": "A backup failed",
    "backup.unverified": "A backup could not be read back",
    "share.requested": "Another Workspace wants to share Outputs",
    "invitation.accepted": "An invitation was accepted",
    "rule.changed": "An approval rule was changed",
    "endpoint.test": "Test"
  },
  labels: {
    Workspace: "Workspace",
    Capsule: "Capsule",
    Environment: "Environment",
    Source: "Source",
    Connection: "Connection",
    Agent: "Agent",
    Changes: "Changes",
    Resources: "Resources",
    Ref: "Ref",
    Status: "Status",
    Code: "Code",
    Expires: "Expires"
  },
  quoted: (name) => `"${name}"`,
  open: "Open it:",
  names: (server) => `People who use ${server} choose the names in quotation marks; its operator does not check them.`,
  choose: "Choose which notices you receive by mail:"
}

const ja: NoticeWords = {
  kinds: {
    "run.waiting_approval": "承認待ちのプランがあります",
    "run.approved": "プランが承認されました",
    "run.applied": "適用が完了しました",
    "run.failed": "実行が失敗しました",
    "run.unknown": "適用後の状態を確認できません",
    "run.cancelled": "実行が取り消されたか、プランが破棄されました",
    "drift.found": "svc の外でリソースが変更されました",
    "drift.gone": "ドリフトは解消されました",
    "source.broken": "ソースを読み取れなくなりました",
    "source.healed": "ソースを再び読み取れるようになりました",
    "update.available": "新しいコミットがあります",
    "connection.expiring": "接続の認証情報の期限が近づいています",
    "connection.failing": "接続が受け付けられなくなりました",
    "agent.unreachable": "エージェントと通信できません",
    "agent.back": "エージェントとの通信が回復しました",
    "backup.failed": "バックアップに失敗しました",
    "backup.unverified": "バックアップを検証できませんでした",
    "share.requested": "別のワークスペースから出力の共有の申し出があります",
    "invitation.accepted": "招待が承諾されました",
    "rule.changed": "承認ルールが変更されました",
    "endpoint.test": "テスト"
  },
  labels: {
    Workspace: "ワークスペース",
    Capsule: "カプセル",
    Environment: "環境",
    Source: "ソース",
    Connection: "接続",
    Agent: "エージェント",
    Changes: "変更",
    Resources: "リソース",
    Ref: "参照",
    Status: "状態",
    Code: "コード",
    Expires: "期限"
  },
  quoted: (name) => `「${name}」`,
  open: "詳細を開く:",
  names: (server) => `かぎ括弧内の名前は ${server} の利用者が付けたもので、管理者は確認していません。`,
  choose: "メールで受け取る通知は次のページで選べます:"
}

const wordsOf: Readonly<Record<MailLanguage, NoticeWords>> = { en, ja }

/** Facts whose values are names that people entered. */
const chosen: ReadonlySet<NoticeLabel> = new Set(["Workspace", "Capsule", "Source", "Connection", "Agent", "Ref"])

/** Returns the subject and body of a mailed notice. */
export const noticeMailText = (
  language: MailLanguage,
  server: string,
  { notice, settingsPage }: NoticeMail
): MailText => {
  const words = wordsOf[language]
  const facts = noticeFacts(notice)
  const shown = facts.map(
    ({ label, value }) => `${words.labels[label]}: ${chosen.has(label) ? words.quoted(mailedName(value)) : value}`
  )
  const capsule = facts.find(({ label }) => label === "Capsule")?.value
  const title = words.kinds[notice.type]
  return {
    subject: `${server}: ${title}${capsule === undefined ? "" : `: ${words.quoted(mailedName(capsule))}`}`,
    text: `${[title, "", ...shown, "", words.open, notice.url, "", words.names(server), "", words.choose, settingsPage].join("\n")}\n`
  }
}

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
