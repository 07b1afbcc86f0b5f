const en = {
  title: "Confirm that it is you",
  text: "This action requires a confirmation of your identity. You are not asked again for the next five minutes.",
  password: "Your password",
  code: "Code from your authenticator, or a recovery code",
  wrongCode: "The code is wrong or was already used. Wait for the next code.",
  confirm: "Confirm",
  byPasskey: "Confirm with a passkey",
  byProvider: (provider: string) => `Confirm with ${provider}`,
  byProviderText: "You confirm on another page and return here. Then start the action again.",
  or: "or",
  wrongPassword: "The password is wrong.",
  passkeyRefused: "The passkey was not accepted. Nothing was changed.",
  noWay: "This account has no password or passkey to confirm with. Sign in again, then repeat the action.",
  signInAgain: "Sign in again"
}

const ja: typeof en = {
  title: "本人確認",
  text: "この操作にはご本人の確認が必要です。確認後 5 分間は再度求められません。",
  password: "パスワード",
  code: "認証アプリのコード、またはリカバリーコード",
  wrongCode: "コードが正しくないか、使用済みです。次のコードを待って入力してください。",
  confirm: "確認",
  byPasskey: "パスキーで確認",
  byProvider: (provider: string) => `${provider} で確認`,
  byProviderText: "別のページに移動し、確認後にここへ戻ります。その後、操作をもう一度行ってください。",
  or: "または",
  wrongPassword: "パスワードが正しくありません。",
  passkeyRefused: "パスキーを確認できませんでした。何も変更されていません。",
  noWay:
    "このアカウントには、確認に使えるパスワードやパスキーがありません。もう一度サインインしてから操作してください。",
  signInAgain: "もう一度サインイン"
}

export const confirmIdentityWords = { en, ja }
