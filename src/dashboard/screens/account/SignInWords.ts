const en = {
  upstream: "Single sign-on",
  upstreamAbout: "Identities at this server's sign-in provider that can sign in to this account.",
  upstreamNone: "Nothing linked",
  upstreamNoneText: "Link your identity at the provider, and sign in with it from then on.",
  link: "Link an identity",
  linked: "linked",
  used: "used",
  unlink: "Unlink",
  unlinkTitle: (issuer: string) => `Unlink ${issuer}?`,
  unlinkText: "You can no longer sign in with this identity. You can link it again while you are signed in.",
  applications: "Applications",
  applicationsAbout: "Programs that you allowed to act for you.",
  applicationsNone: "No applications",
  applicationsNoneText:
    "Programs that you allow to act for you appear here, such as the command line after `svc login`.",
  allowed: "allowed",
  offline: "also while you are away",
  withdraw: "Withdraw access",
  withdrawTitle: (name: string) => `Withdraw access from ${name}?`,
  withdrawText: "The application loses access at once, and must ask you again.",
  everywhere: "Sign out everywhere",
  everywhereTitle: "Sign out everywhere?",
  everywhereText: "Every device is signed out, including this device. API tokens remain valid; revoke them one by one."
}

const ja: typeof en = {
  upstream: "シングルサインオン",
  upstreamAbout: "このアカウントにサインインできる、サインインプロバイダー上の ID です。",
  upstreamNone: "リンクされた ID はありません",
  upstreamNoneText: "プロバイダーの ID をリンクすると、以後その ID でサインインできます。",
  link: "ID をリンク",
  linked: "リンク:",
  used: "使用:",
  unlink: "リンクを解除",
  unlinkTitle: (issuer: string) => `${issuer} のリンクを解除しますか？`,
  unlinkText: "以後この ID ではサインインできません。サインイン中であれば、再度リンクできます。",
  applications: "連携アプリケーション",
  applicationsAbout: "あなたの代わりに操作することを許可したプログラムです。",
  applicationsNone: "連携アプリケーションはありません",
  applicationsNoneText: "`svc login` によるコマンドラインなど、許可を求めたプログラムがここに表示されます。",
  allowed: "許可:",
  offline: "不在時も利用可",
  withdraw: "許可を取り消す",
  withdrawTitle: (name: string) => `${name} の許可を取り消しますか？`,
  withdrawText: "以後は拒否され、再度あなたの許可が必要になります。",
  everywhere: "すべての端末からサインアウト",
  everywhereTitle: "すべての端末からサインアウトしますか？",
  everywhereText:
    "この端末を含む、すべての端末がサインアウトされます。API トークンは残ります。必要に応じて個別に取り消してください。"
}

export const signInWords = { en, ja }
