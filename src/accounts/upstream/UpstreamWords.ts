import type { UpstreamReason } from "../../../actors/access/account/UpstreamRefusal.ts"
import type { Language } from "../oidc/PageWords.ts"

/** Text that explains a refusal and what the person can do next. `name` is the provider's name. */
export interface RefusalWords {
  readonly what: (name: string) => string
  readonly next: (name: string) => string
}

/** Reasons why a sign-in can fail, or why a request is refused before a sign-in begins. */
export type PageReason = UpstreamReason | "too_many" | "foreign_page" | "signed_out"

const en: Readonly<Record<PageReason, RefusalWords>> = {
  not_configured: {
    what: () => "Sign-in with another provider is not set up on this server.",
    next: () => "Sign in another way."
  },
  unreachable: {
    what: (name) => `${name} cannot be reached from this server, or does not respond correctly.`,
    next: () => "Try again in a few minutes. If the problem continues, contact the operator of this server."
  },
  invalid_answer: {
    what: (name) => `The response of ${name} could not be verified, so it was not used.`,
    next: () => "Start the sign-in again. If it happens again, contact the operator and give the request id below."
  },
  denied: {
    what: (name) => `${name} did not let you in, or you cancelled there.`,
    next: (name) => `Start again, or ask the operator of ${name} for access to this server.`
  },
  not_begun: {
    what: () => "This browser has no open sign-in: they last ten minutes and work once.",
    next: () => "Start the sign-in again, in the same browser and with cookies allowed."
  },
  not_fresh: {
    what: (name) => `${name} did not confirm that you have just signed in there, so nothing was confirmed here.`,
    next: () => "Try again, or confirm that it is you in another way."
  },
  not_yours: {
    what: (name) =>
      `The identity that you used at ${name} is not linked to your account here, so nothing was confirmed.`,
    next: (name) =>
      `Sign out at ${name} and try again with the linked identity, or confirm that it is you in another way.`
  },
  not_set_up: {
    what: () => "This server has no account yet: its operator comes first.",
    next: () => "Ask the operator to open the setup link, then start again."
  },
  unknown_identity: {
    what: (name) => `You are signed in to ${name}, but no account here belongs to that identity.`,
    next: () =>
      "Ask an administrator for an invitation. If you have an account here, sign in another way and link the identity on your account page."
  },
  unverified_address: {
    what: (name) =>
      `${name} did not confirm that your e-mail address is verified, so it cannot be matched with an account.`,
    next: (name) =>
      `Verify your address at ${name} and try again. If you have an account here, sign in another way and link the identity on your account page.`
  },
  unproven_account: {
    what: () =>
      "An account here has your e-mail address, but the account has not verified this address. The account was not opened.",
    next: () =>
      "Sign in to the account another way and link the identity on your account page. If the account is not yours, contact the operator."
  },
  locked: {
    what: () => "Your account on this server is locked.",
    next: () => "Ask the operator of this server to unlock it."
  },
  other_account: {
    what: (name) => `This identity at ${name} belongs to another account here.`,
    next: (name) => `Sign in with ${name} to use that account, or unlink the identity there first.`
  },
  other_identity: {
    what: (name) => `Your account is linked to another identity at ${name}.`,
    next: () => "Sign in with that identity, or unlink it on your account page first."
  },
  no_address: {
    what: (name) => `${name} gave no e-mail address, and an account here needs one.`,
    next: (name) => `Add an address to your profile at ${name}, or ask the operator to request it from there.`
  },
  address_taken: {
    what: () => "No account can be made with the e-mail address of that identity.",
    next: () => "If you have an account here, sign in another way and link the identity on your account page."
  },
  invitation_ended: {
    what: () => "The invitation was used or withdrawn, or has expired.",
    next: () => "Ask the person who invited you for a new one."
  },
  invitation_for_another: {
    what: (name) => `The invitation is for somebody else: ${name} did not verify your address.`,
    next: (name) =>
      `Sign in to ${name} with the invited address, or ask for an invitation to the address that you have there.`
  },
  invitation_lapsed: {
    what: () =>
      "The person who sent this invitation may no longer grant that role, or the Workspace does not accept new members at the moment.",
    next: () => "Ask an owner of the Workspace for a new invitation."
  },
  too_many: {
    what: () => "There were too many attempts from here.",
    next: () => "Wait a minute, then start again."
  },
  foreign_page: {
    what: () => "The request came from a page of another site, so nothing was changed.",
    next: () => "Go to your account page here, and link the identity there."
  },
  signed_out: {
    what: () => "Your session here has ended.",
    next: () => "Sign in, then link the identity on your account page."
  }
}

const ja: typeof en = {
  not_configured: {
    what: () => "このサーバーでは、外部プロバイダーによるサインインは設定されていません。",
    next: () => "別の方法でサインインしてください。"
  },
  unreachable: {
    what: (name) => `${name} に接続できないか、正しい応答がありません。`,
    next: () => "数分後にもう一度お試しください。続く場合は、このサーバーの管理者に連絡してください。"
  },
  invalid_answer: {
    what: (name) => `${name} からの応答を検証できなかったため、使用しませんでした。`,
    next: () =>
      "サインインを最初からやり直してください。繰り返す場合は、下のリクエスト番号を添えて管理者に連絡してください。"
  },
  denied: {
    what: (name) => `${name} がサインインを許可しなかったか、そこで操作が取り消されました。`,
    next: (name) => `やり直すか、このサーバーを利用できるかどうかを ${name} の管理者に確認してください。`
  },
  not_begun: {
    what: () => "このブラウザーには進行中のサインインがありません。サインインの有効時間は 10 分で、一度だけ使えます。",
    next: () => "同じブラウザーで Cookie を許可して、サインインをやり直してください。"
  },
  not_fresh: {
    what: (name) => `たった今サインインしたことを ${name} が示さなかったため、本人確認は行われませんでした。`,
    next: () => "もう一度お試しいただくか、別の方法で本人確認をしてください。"
  },
  not_yours: {
    what: (name) => `${name} で使用した ID はこのアカウントにリンクされていないため、本人確認は行われませんでした。`,
    next: (name) => `${name} からサインアウトし、リンク済みの ID でやり直すか、別の方法で本人確認をしてください。`
  },
  not_set_up: {
    what: () => "このサーバーにはまだアカウントがありません。最初に管理者の設定が必要です。",
    next: () => "管理者にセットアップリンクを開くよう依頼してから、やり直してください。"
  },
  unknown_identity: {
    what: (name) => `${name} にはサインインしていますが、その ID に対応するアカウントがここにはありません。`,
    next: () =>
      "管理者に招待を依頼してください。アカウントをお持ちの場合は、別の方法でサインインし、アカウントページで ID をリンクしてください。"
  },
  unverified_address: {
    what: (name) => `${name} がメールアドレスを確認済みと示さなかったため、アカウントと照合できませんでした。`,
    next: (name) =>
      `${name} でアドレスを確認してから、もう一度お試しください。アカウントをお持ちの場合は、別の方法でサインインし、アカウントページで ID をリンクしてください。`
  },
  unproven_account: {
    what: () =>
      "同じメールアドレスのアカウントがありますが、そのアドレスの持ち主であることがここでは確認されていないため、開きませんでした。",
    next: () =>
      "別の方法でそのアカウントにサインインし、アカウントページで ID をリンクしてください。ご自分のアカウントでない場合は、管理者に連絡してください。"
  },
  locked: {
    what: () => "このサーバーのアカウントはロックされています。",
    next: () => "このサーバーの管理者にロックの解除を依頼してください。"
  },
  other_account: {
    what: (name) => `${name} のこの ID は、ここでは別のアカウントにリンクされています。`,
    next: (name) => `${name} でサインインしてそのアカウントを使うか、先にそちらでリンクを解除してください。`
  },
  other_identity: {
    what: (name) => `アカウントは ${name} の別の ID にリンクされています。`,
    next: () => "その ID でサインインするか、先にアカウントページでリンクを解除してください。"
  },
  no_address: {
    what: (name) => `${name} からメールアドレスが渡されませんでした。アカウントにはアドレスが必要です。`,
    next: (name) => `${name} のプロフィールにアドレスを追加するか、アドレスを取得する設定を管理者に依頼してください。`
  },
  address_taken: {
    what: () => "この ID のメールアドレスではアカウントを作成できません。",
    next: () => "アカウントをお持ちの場合は、別の方法でサインインし、アカウントページで ID をリンクしてください。"
  },
  invitation_ended: {
    what: () => "招待は使用済みか、取り消されたか、期限が切れています。",
    next: () => "招待した人に新しい招待を依頼してください。"
  },
  invitation_for_another: {
    what: (name) => `この招待は別の人宛てです。招待されたアドレスを ${name} が確認していません。`,
    next: (name) => `招待されたアドレスで ${name} にサインインするか、お使いのアドレス宛ての招待を依頼してください。`
  },
  invitation_lapsed: {
    what: () => "招待した人がその役割を与えられなくなったか、ワークスペースが現在メンバーを受け入れていません。",
    next: () => "ワークスペースのオーナーに新しい招待を依頼してください。"
  },
  too_many: {
    what: () => "試行回数が多すぎます。",
    next: () => "1 分ほど待ってから、やり直してください。"
  },
  foreign_page: {
    what: () => "別のサイトのページからの要求だったため、何も変更していません。",
    next: () => "このサーバーのアカウントページで ID をリンクしてください。"
  },
  signed_out: {
    what: () => "セッションが終了しています。",
    next: () => "サインインしてから、アカウントページで ID をリンクしてください。"
  }
}

export const refusalWords: Readonly<Record<Language, typeof en>> = { en, ja }

/** The HTTP status for each reason. */
export const refusalStatus: Readonly<Record<UpstreamReason, number>> = {
  not_configured: 501,
  unreachable: 503,
  invalid_answer: 401,
  denied: 403,
  not_begun: 400,
  not_fresh: 403,
  not_yours: 403,
  not_set_up: 409,
  unknown_identity: 403,
  unverified_address: 403,
  unproven_account: 403,
  locked: 403,
  other_account: 409,
  other_identity: 409,
  no_address: 403,
  address_taken: 409,
  invitation_ended: 404,
  invitation_for_another: 403,
  invitation_lapsed: 409
}
