import { counted } from "../../words/Format.ts"

const en = {
  invite: "Invite",
  inviteTo: (workspace: string) => `Invite to ${workspace}`,
  email: "E-mail address",
  emailHelp:
    "Only an account with this verified address can then use the link. Without an address, anybody with the link can use it.",
  noAddress: "This server cannot verify addresses. Whoever opens the link first can join.",
  offerHelp: (role: string) =>
    `Whoever uses the link is a member at once, and becomes ${role} when an owner confirms the account on this page.`,
  linkOffers: (role: string) =>
    `Send it yourself. Whoever opens it first joins as a member, and becomes ${role} when an owner confirms the account here. It works once and is shown only now.`,
  offered: (role: string) => `A link offered the role ${role}`,
  confirmRole: (role: string) => `Confirm as ${role}`,
  confirmTitle: (name: string, role: string) => `Make ${name} ${role}?`,
  confirmText: (email: string) =>
    `The link does not prove who used it. Confirm only if ${email} is the account of the person you invited.`,
  dismiss: "Keep as member",
  goodFor: "Good for",
  days: (count: number) => counted(count, "day"),
  makeLink: "Make a link",
  linkReady: "The link is ready",
  linkForAnybody: "Send it yourself. Whoever opens it first can join. It works once and is shown only now.",
  mailedTo: (email: string) =>
    `An email with a separate link is on its way to ${email}. You can also send this link; it is shown only now.`,
  linkFor: (email: string) => `Send it to ${email} yourself. It works once and is shown only now.`,
  invitations: "Invitations",
  invitationsAbout: "People become members when they accept.",
  anybody: "Anybody with the link",
  invitedAt: "invited",
  until: "expires",
  status: {
    pending: "Not used yet",
    accepted: "Accepted",
    declined: "Declined",
    revoked: "Withdrawn",
    expired: "Expired"
  },
  withdraw: "Withdraw",
  withdrawTitle: (name: string) => `Withdraw the invitation of ${name}?`,
  withdrawText: "The link stops working at once.",
  changeRole: "Change the role",
  leave: "Leave",
  leaveTitle: (workspace: string) => `Leave ${workspace}?`,
  leaveText: "Your access ends at once, everywhere. You can come back only with a new invitation.",
  handOver: "Hand over",
  handOverTitle: (name: string) => `Hand over the ownership to ${name}?`,
  handOverText: "They become an owner and you become an admin. Only an owner can change that again."
}

const ja: typeof en = {
  invite: "招待",
  inviteTo: (workspace: string) => `${workspace} に招待`,
  email: "メールアドレス",
  emailHelp:
    "指定すると、このアドレスが確認済みのアカウントだけがリンクを使えます。指定しない場合は、リンクを知っている人なら誰でも参加できます。",
  noAddress: "このサーバーはアドレスを確認できません。リンクを最初に開いた人が参加できます。",
  offerHelp: (role: string) =>
    `リンクを使った人はすぐにメンバーになり、オーナーがこのページでアカウントを確認すると${role}になります。`,
  linkOffers: (role: string) =>
    `ご自身で送ってください。最初に開いた人がメンバーとして参加し、オーナーがここでアカウントを確認すると${role}になります。1 回だけ使え、表示されるのは今だけです。`,
  offered: (role: string) => `リンクで提示されたロール: ${role}`,
  confirmRole: (role: string) => `${role}として確認`,
  confirmTitle: (name: string, role: string) => `${name} を${role}にしますか？`,
  confirmText: (email: string) =>
    `リンクだけでは、使った人が誰かを証明できません。${email} が招待した相手のアカウントである場合にのみ確認してください。`,
  dismiss: "メンバーのままにする",
  goodFor: "有効期間",
  days: (count: number) => `${count} 日間`,
  makeLink: "リンクを作成",
  linkReady: "リンクを作成しました",
  linkForAnybody:
    "このリンクをご自身で送ってください。最初に開いた人が参加できます。使えるのは 1 回だけで、表示されるのは今だけです。",
  mailedTo: (email: string) =>
    `${email} に専用リンク付きのメールを送信します。このリンクを自分で送ることもできます。表示されるのは今回だけです。`,
  linkFor: (email: string) =>
    `このリンクをご自身で ${email} に送ってください。使えるのは 1 回だけで、表示されるのは今だけです。`,
  invitations: "招待",
  invitationsAbout: "承諾するまでは、誰もメンバーになりません。",
  anybody: "リンクを知っている人",
  invitedAt: "招待:",
  until: "期限:",
  status: {
    pending: "未使用",
    accepted: "承諾済み",
    declined: "辞退",
    revoked: "取り消し済み",
    expired: "期限切れ"
  },
  withdraw: "取り消す",
  withdrawTitle: (name: string) => `${name} への招待を取り消しますか？`,
  withdrawText: "リンクはただちに使えなくなります。",
  changeRole: "ロールを変更",
  leave: "退出",
  leaveTitle: (workspace: string) => `${workspace} から退出しますか？`,
  leaveText: "すべてのアクセスがただちに無効になります。戻るには新しい招待が必要です。",
  handOver: "引き継ぐ",
  handOverTitle: (name: string) => `オーナー権限を ${name} に引き継ぎますか？`,
  handOverText: "相手がオーナーになり、あなたは管理者になります。元に戻せるのはオーナーだけです。"
}

export const memberWords = { en, ja }
