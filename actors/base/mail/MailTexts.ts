import { Schema } from "effect"
import type { Role } from "../../../schema/records/Workspace.ts"
import { visibleText } from "../../../schema/records/VisibleText.ts"

const mostCharacters = 40

// Matches dots inside names, because mail programs turn names with dots into links, even without a scheme.
const dots = /(?<=[^\s.])[.\uff0e\u2024](?=[^\s.])|[\u3002\uff61](?=[A-Za-z\uff21-\uff3a\uff41-\uff5a])/gu
const marks = /:(?=[/\uff0f])|\uff1a(?=[/\uff0f])|[@\uff20\ufe6b]/gu
const quotes = /["\u201c-\u201f\u00ab\u00bb\u300c-\u300f\uff02\uff62\uff63]/gu

/**
 * Prepares a name that a person entered for use in a mail: one line, short, no links and no quotation marks, so that it cannot
 * imitate the server's own text. The caller adds quotation marks.
 */
export const mailedName = (name: string): string => {
  const line = visibleText(name.toWellFormed().replace(/[\s\p{Cc}\u2028\u2029]+/gu, " ")).trim()
  const characters = [...line.replace(quotes, "'")]
  const short =
    characters.length > mostCharacters ? `${characters.slice(0, mostCharacters).join("")}\u2026` : characters.join("")
  return short.replace(dots, "[.]").replace(marks, "[$&]")
}

// Matches an email address that no mail program mistakes for a web address.
const plainAddress = /^(?!www\.)[a-z0-9_+-]+(?:\.[a-z0-9_+-]+)*@[a-z0-9.-]+$/

/** Describes the person whose action sent a mail: the quoted name, or the address if the account has no name. */
const mailedPerson = (name: string, quoted: (name: string) => string): string =>
  plainAddress.test(name) && name.length <= mostCharacters * 2 ? name : quoted(mailedName(name))

export const MailLanguage = Schema.Literals(["en", "ja"])
export type MailLanguage = typeof MailLanguage.Type

/** Changes to an account that its owner is notified of. */
export const AccountChange = Schema.Literals(["password", "address", "factor", "passkey", "upstream"])
export type AccountChange = typeof AccountChange.Type

export type MailContent =
  | {
      readonly kind: "invitation"
      readonly link: string
      readonly expiresAt: string
      /** Absent if the invitation is to the server but not to a Workspace. */
      readonly workspace?: string | undefined
      readonly role?: Role | undefined
      /** The inviter's name; absent if the operator sent the invitation. */
      readonly inviter?: string | undefined
    }
  | { readonly kind: "reset_link"; readonly link: string; readonly expiresAt: string }
  | { readonly kind: "address_link"; readonly link: string; readonly expiresAt: string }
  | {
      /** A person asks the recipient to approve a plan. */
      readonly kind: "approval_request"
      readonly link: string
      readonly person: string
      readonly capsule?: string | undefined
    }
  | {
      /** A comment on a Run mentions the recipient. The email does not contain the comment. */
      readonly kind: "mention"
      readonly link: string
      readonly person: string
      /** Absent for a Run without a Capsule. */
      readonly capsule?: string | undefined
    }
  | { readonly kind: "notice"; readonly change: AccountChange; readonly at: string; readonly accountPage: string }

export interface MailText {
  readonly subject: string
  readonly text: string
}

const utc = (at: string) => `${at.slice(0, 10)} ${at.slice(11, 16)} UTC`

interface Words {
  readonly roles: Readonly<Record<Role, string>>
  readonly changes: Readonly<Record<AccountChange, string>>
  readonly invitation: (
    server: string,
    mail: Extract<MailContent, { kind: "invitation" }>,
    roles: Readonly<Record<Role, string>>
  ) => MailText
  readonly reset: (server: string, mail: Extract<MailContent, { kind: "reset_link" }>) => MailText
  readonly address: (server: string, mail: Extract<MailContent, { kind: "address_link" }>) => MailText
  readonly approvalRequest: (server: string, mail: Extract<MailContent, { kind: "approval_request" }>) => MailText
  readonly mention: (server: string, mail: Extract<MailContent, { kind: "mention" }>) => MailText
  readonly notice: (server: string, mail: Extract<MailContent, { kind: "notice" }>, change: string) => MailText
}

const lines = (...parts: ReadonlyArray<string | undefined>) =>
  `${parts.filter((part) => part !== undefined).join("\n")}\n`

const quotedEn = (name: string) => `"${name}"`
const quotedJa = (name: string) => `「${name}」`

const en: Words = {
  roles: { owner: "owner", admin: "admin", member: "member", viewer: "viewer" },
  changes: {
    password: "The password was changed.",
    address: "The e-mail address was changed.",
    factor: "The second factor was changed.",
    passkey: "The passkeys were changed.",
    upstream: "The linked identities were changed."
  },
  invitation: (server, { expiresAt, inviter, link, role, workspace }, roles) => ({
    subject: `Invitation to ${server}${workspace === undefined ? "" : `: Workspace ${quotedEn(mailedName(workspace))}`}`,
    text: lines(
      workspace === undefined
        ? `You are invited to ${server}.`
        : `You are invited to a Workspace on ${server}${role === undefined ? "" : `, as ${roles[role]}`}.`,
      "",
      workspace === undefined ? undefined : `Workspace: ${quotedEn(mailedName(workspace))}`,
      `Invited by: ${inviter === undefined ? "the operator" : mailedPerson(inviter, quotedEn)}`,
      workspace === undefined && inviter === undefined
        ? undefined
        : `People who use ${server} choose the names in quotation marks; its operator does not check them.`,
      "",
      "See what you are joining, then accept or decline:",
      link,
      "",
      `The link works once, until ${utc(expiresAt)}. If you did not expect it, do nothing.`
    )
  }),
  reset: (server, { expiresAt, link }) => ({
    subject: `A new way into your account on ${server}`,
    text: lines(
      `The operator of ${server} made a link with which you set a new password for your account:`,
      link,
      "",
      `It works once, until ${utc(expiresAt)}. If you did not ask for it, do nothing and tell the operator.`
    )
  }),
  address: (server, { expiresAt, link }) => ({
    subject: `Your new address on ${server}`,
    text: lines(
      `Somebody asked to use this address for their account on ${server}. If that was you, open this link while you are signed in:`,
      link,
      "",
      `It works once, until ${utc(expiresAt)}, and only for that account. If it was not you, do nothing: your address stays yours.`
    )
  }),
  approvalRequest: (server, { capsule, link, person }) => ({
    subject: `A plan on ${server} waits for your approval`,
    text: lines(
      "Please review a plan. It is waiting for an approval that you may give.",
      "",
      `Asked by: ${mailedPerson(person, quotedEn)}`,
      capsule === undefined ? undefined : `Capsule: ${quotedEn(mailedName(capsule))}`,
      `People who use ${server} choose the names in quotation marks; its operator does not check them.`,
      "",
      "Review the plan:",
      link
    )
  }),
  mention: (server, { capsule, link, person }) => ({
    subject: `You are mentioned in a comment on ${server}`,
    text: lines(
      "A comment on a Run mentions you.",
      "",
      `Written by: ${mailedPerson(person, quotedEn)}`,
      capsule === undefined ? undefined : `Capsule: ${quotedEn(mailedName(capsule))}`,
      `People who use ${server} choose the names in quotation marks; its operator does not check them.`,
      "",
      "Read the comment and answer it:",
      link
    )
  }),
  notice: (server, { accountPage, at }, change) => ({
    subject: `Your account on ${server} was changed`,
    text: lines(
      `${change} (${utc(at)})`,
      "",
      "If that was you, there is nothing to do. If not, sign in, end the other sessions and change what was changed,",
      "or ask the operator to lock the account:",
      accountPage
    )
  })
}

const ja: Words = {
  roles: { owner: "オーナー", admin: "管理者", member: "メンバー", viewer: "閲覧者" },
  changes: {
    password: "パスワードが変更されました。",
    address: "メールアドレスが変更されました。",
    factor: "第 2 要素が変更されました。",
    passkey: "パスキーが変更されました。",
    upstream: "リンクされた ID が変更されました。"
  },
  invitation: (server, { expiresAt, inviter, link, role, workspace }, roles) => ({
    subject: `${server} への招待${workspace === undefined ? "" : `: ワークスペース${quotedJa(mailedName(workspace))}`}`,
    text: lines(
      workspace === undefined
        ? `${server} への招待です。`
        : `${server} のワークスペースへの招待です${role === undefined ? "" : `(役割: ${roles[role]})`}。`,
      "",
      workspace === undefined ? undefined : `ワークスペース: ${quotedJa(mailedName(workspace))}`,
      `招待した人: ${inviter === undefined ? "管理者" : mailedPerson(inviter, quotedJa)}`,
      workspace === undefined && inviter === undefined
        ? undefined
        : `かぎ括弧内の名前は ${server} の利用者が付けたもので、管理者は確認していません。`,
      "",
      "参加先を確認して、承諾するか辞退するかを選んでください。",
      link,
      "",
      `このリンクは一度だけ、${utc(expiresAt)} まで使えます。心当たりがない場合は、何もする必要はありません。`
    )
  }),
  reset: (server, { expiresAt, link }) => ({
    subject: `${server} のアカウントの再設定`,
    text: lines(
      `${server} の管理者が、アカウントの新しいパスワードを設定するためのリンクを作成しました。`,
      link,
      "",
      `このリンクは一度だけ、${utc(expiresAt)} まで使えます。依頼した覚えがない場合は、何もせずに管理者に連絡してください。`
    )
  }),
  address: (server, { expiresAt, link }) => ({
    subject: `${server} の新しいメールアドレスの確認`,
    text: lines(
      `${server} のアカウントのメールアドレスをこのアドレスに変更するよう依頼がありました。ご自身による依頼であれば、サインインした状態で次のリンクを開いてください。`,
      link,
      "",
      `このリンクは一度だけ、${utc(expiresAt)} まで、依頼したアカウントでのみ使えます。心当たりがない場合は、何もする必要はありません。`
    )
  }),
  approvalRequest: (server, { capsule, link, person }) => ({
    subject: `${server} のプランがあなたの承認を待っています`,
    text: lines(
      "プランのレビューを依頼されています。あなたが承認できるプランです。",
      "",
      `依頼した人: ${mailedPerson(person, quotedJa)}`,
      capsule === undefined ? undefined : `カプセル: ${quotedJa(mailedName(capsule))}`,
      `かぎ括弧内の名前は ${server} の利用者が付けたもので、管理者は確認していません。`,
      "",
      "次のリンクからプランをレビューできます。",
      link
    )
  }),
  mention: (server, { capsule, link, person }) => ({
    subject: `${server} のコメントであなたが呼ばれています`,
    text: lines(
      "実行へのコメントで、あなたの名前が挙げられています。",
      "",
      `書いた人: ${mailedPerson(person, quotedJa)}`,
      capsule === undefined ? undefined : `カプセル: ${quotedJa(mailedName(capsule))}`,
      `かぎ括弧内の名前は ${server} の利用者が付けたもので、管理者は確認していません。`,
      "",
      "次のリンクからコメントを読んで返信できます。",
      link
    )
  }),
  notice: (server, { accountPage, at }, change) => ({
    subject: `${server} のアカウントが変更されました`,
    text: lines(
      `${change}(${utc(at)})`,
      "",
      "ご自身による変更であれば、何もする必要はありません。心当たりがない場合は、サインインして他のセッションを終了し、変更を元に戻すか、",
      "アカウントのロックを管理者に依頼してください。",
      accountPage
    )
  })
}

const wordsOf: Readonly<Record<MailLanguage, Words>> = { en, ja }

/** Returns the subject and body of a mail. The server's own text comes first; names that people entered follow in quotes. */
export const mailText = (language: MailLanguage, server: string, mail: MailContent): MailText => {
  const words = wordsOf[language]
  switch (mail.kind) {
    case "invitation":
      return words.invitation(server, mail, words.roles)
    case "reset_link":
      return words.reset(server, mail)
    case "address_link":
      return words.address(server, mail)
    case "approval_request":
      return words.approvalRequest(server, mail)
    case "mention":
      return words.mention(server, mail)
    case "notice":
      return words.notice(server, mail, words.changes[mail.change])
  }
}
