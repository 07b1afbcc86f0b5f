import type { NoticeDelivery, NoticeEndpoint } from "../../api/Types.ts"
import { counted } from "../../words/Format.ts"

type Outcome = NonNullable<NoticeDelivery["lastOutcome"]>

const enOutcomes: Readonly<Record<Outcome, string>> = {
  accepted: "accepted",
  refused: "refused",
  redirected: "redirected to another address, which svc does not follow",
  gone: "the receiver is gone",
  timed_out: "no response within 15 seconds",
  unreachable: "unreachable",
  tls: "no valid certificate",
  address_refused: "the address is not allowed",
  unreadable: "the stored address cannot be decrypted"
}

const enReasons: Readonly<Record<NonNullable<NoticeEndpoint["reason"]>, string>> = {
  person: "disabled by a member",
  failing: "disabled after five days of failed deliveries",
  gone: "ended, because the receiver responded that it is gone",
  restored: "disabled, because the server was restored from a backup"
}

const en = {
  title: "Notices",
  about:
    "Webhooks and chats that receive notices of this workspace. Bodies contain names, counts and links, never values or secrets.",
  none: "No notices are sent",
  noneText: "Send waiting plans, failures and drift to a webhook, Slack or Teams.",
  add: "Add endpoint",
  addTitle: "Send notices to an address",
  editTitle: (name: string) => `Change ${name}`,
  edit: "Change",
  name: "Name",
  address: "Address",
  addressHelp: "The https address of the receiver. It is sealed, and only its host is shown.",
  newAddress: "New address",
  newAddressHelp: "Empty: the address stays as it is.",
  format: "Format",
  formats: { json: "Signed JSON", slack: "Slack", teams: "Microsoft Teams" },
  kinds: "Kinds of notices",
  projects: "Only these projects",
  projectsHelp: "None selected: every project.",
  environments: "Only these environments",
  environmentsHelp: "Comma-separated names. Empty: every environment.",
  allKinds: "every kind",
  someKinds: (count: number) => counted(count, "kind"),
  filtered: "only some capsules",
  waiting: (count: number) => `${count} waiting`,
  state: { active: "Active", disabled: "Disabled", ended: "Ended" },
  failing: "Deliveries fail since",
  accepted: "Last accepted",
  reasons: enReasons,
  enable: "Resume",
  disable: "Disable",
  test: "Send a test",
  tested: "The test is on its way. The log shows its result.",
  log: "Log",
  logTitle: (name: string) => `Deliveries to ${name}`,
  logNone: "Nothing was sent yet.",
  attempts: (count: number) => counted(count, "attempt"),
  outcomes: enOutcomes,
  status: { waiting: "Waiting", delivered: "Delivered", failed: "Failed", dropped: "Dropped" },
  next: "next attempt",
  replay: "Send again",
  rotate: "New secret",
  rotateTitle: (name: string) => `Create a new secret for ${name}?`,
  rotateText: "Both secrets are valid for a day, so that the receiver can change without a gap.",
  secretTitle: "The secret of this endpoint",
  secretText: "The receiver verifies signatures with it. It is shown only now.",
  done: "I have saved it",
  removeTitle: (name: string) => `Remove ${name}?`,
  removeText: "It receives no more notices. Its log and waiting notices are deleted.",
  mails: "Mail",
  mailsAbout: "The notices that you receive by mail, about workspaces and capsules that you may see.",
  mailsOff: "This server sends no mail, so the choice has no effect.",
  mailsSaved: "Saved"
}

const jaOutcomes: typeof enOutcomes = {
  accepted: "受理",
  refused: "拒否",
  redirected: "転送先が返されました (svc は転送に従いません)",
  gone: "受信先がなくなりました",
  timed_out: "15 秒以内に応答なし",
  unreachable: "到達不能",
  tls: "有効な証明書なし",
  address_refused: "許可されていないアドレス",
  unreadable: "保存されたアドレスを復号できません"
}

const jaReasons: typeof enReasons = {
  person: "メンバーが無効にしました",
  failing: "5 日間配信に失敗したため無効になりました",
  gone: "受信先がなくなったため終了しました",
  restored: "サーバーがバックアップから復元されたため無効になりました"
}

const ja: typeof en = {
  title: "通知",
  about:
    "このワークスペースの通知を受け取る Webhook とチャットです。本文には名前・件数・リンクだけが含まれ、値や秘密は含まれません。",
  none: "通知は送信されていません",
  noneText: "承認待ちのプラン・失敗・ドリフトを Webhook、Slack、Teams に送信できます。",
  add: "送信先を追加",
  addTitle: "通知の送信先を追加",
  editTitle: (name) => `${name} を変更`,
  edit: "変更",
  name: "名前",
  address: "アドレス",
  addressHelp: "受信先の https アドレスです。暗号化して保存され、ホスト名だけが表示されます。",
  newAddress: "新しいアドレス",
  newAddressHelp: "空欄の場合、アドレスは変わりません。",
  format: "形式",
  formats: { json: "署名付き JSON", slack: "Slack", teams: "Microsoft Teams" },
  kinds: "通知の種類",
  projects: "対象のプロジェクト",
  projectsHelp: "何も選択しない場合、すべてのプロジェクトが対象です。",
  environments: "対象の環境",
  environmentsHelp: "名前をコンマで区切ります。空欄の場合、すべての環境が対象です。",
  allKinds: "すべての種類",
  someKinds: (count) => `${count} 種類`,
  filtered: "一部のカプセルのみ",
  waiting: (count) => `送信待ち ${count} 件`,
  state: { active: "有効", disabled: "無効", ended: "終了" },
  failing: "配信失敗の開始",
  accepted: "最後の受理",
  reasons: jaReasons,
  enable: "再開",
  disable: "無効にする",
  test: "テストを送信",
  tested: "テストを送信しました。結果は記録で確認できます。",
  log: "記録",
  logTitle: (name) => `${name} への配信`,
  logNone: "まだ何も送信されていません。",
  attempts: (count) => `${count} 回試行`,
  outcomes: jaOutcomes,
  status: { waiting: "送信待ち", delivered: "配信済み", failed: "失敗", dropped: "中止" },
  next: "次の試行",
  replay: "再送信",
  rotate: "新しいシークレット",
  rotateTitle: (name) => `${name} の新しいシークレットを作成しますか?`,
  rotateText: "受信側が切れ目なく切り替えられるように、1 日間は両方のシークレットが有効です。",
  secretTitle: "この送信先のシークレット",
  secretText: "受信側はこれで署名を検証します。表示されるのは今回だけです。",
  done: "保存しました",
  removeTitle: (name) => `${name} を削除しますか?`,
  removeText: "今後は何も受信しません。記録と送信待ちの通知は削除されます。",
  mails: "メール",
  mailsAbout: "閲覧できるワークスペースとカプセルについて、メールで受け取る通知です。",
  mailsOff: "このサーバーはメールを送信しないため、選択は反映されません。",
  mailsSaved: "保存しました"
}

export const noticeWords = { en, ja }
