import { shortestPassword } from "../../../schema/records/Password.ts"
const en = {
  signInTitle: "Sign in",
  signInAbout: "Manage infrastructure from Git: plan, review, apply.",
  email: "E-mail address",
  password: "Password",
  signIn: "Sign in",
  or: "or",
  orPasskey: "Sign in with a passkey",
  orUpstream: (provider: string) => `Continue with ${provider}`,
  noWay:
    "Passwords are off on this server, and passkeys need a host name and a secure connection (https). Open it at its own address.",
  passkeyFailed: "The passkey was not accepted. Try again, or use your password.",
  signInFailed: "The e-mail address or the password is wrong.",
  tooMany: "Too many attempts. Wait a minute, then try again.",
  unreachable: "The server cannot be reached. Check your connection and try again.",
  forgot: "Forgot the password? An operator can reset it with",
  showPassword: "Show password",
  code: "Code from your authenticator",
  codeHelp: "If you have set up a second factor: six digits, or one of your recovery codes.",
  codeWanted: "Now the code of your second factor.",
  codeFailed: "The code is wrong or was already used. Wait for the next code.",
  displayName: "Your name",
  displayNameHelp: "Others see this name next to your actions.",
  passwordHelp: `At least ${shortestPassword} characters. A sentence is easier to remember than a code.`
}

const ja: typeof en = {
  signInTitle: "サインイン",
  signInAbout: "Git からインフラを管理。プラン、レビュー、適用まで。",
  email: "メールアドレス",
  password: "パスワード",
  signIn: "サインイン",
  or: "または",
  orPasskey: "パスキーでサインイン",
  orUpstream: (provider: string) => `${provider} で続行`,
  noWay:
    "このサーバーではパスワードを使用できません。パスキーにはホスト名と安全な接続（https）が必要です。正しいアドレスで開いてください。",
  passkeyFailed: "パスキーを確認できませんでした。もう一度試すか、パスワードを使用してください。",
  signInFailed: "メールアドレスまたはパスワードが正しくありません。",
  tooMany: "試行回数が多すぎます。1 分ほど待ってからやり直してください。",
  unreachable: "サーバーに接続できません。通信環境を確認してやり直してください。",
  forgot: "パスワードを忘れた場合、運用者は次のコマンドで再設定できます:",
  showPassword: "パスワードを表示",
  code: "認証アプリのコード",
  codeHelp: "2 段階認証を設定している場合、6 桁の数字、またはリカバリーコードを入力してください。",
  codeWanted: "2 段階認証のコードを入力してください。",
  codeFailed: "コードが正しくないか、使用済みです。次のコードを待って入力してください。",
  displayName: "名前",
  displayNameHelp: "ほかの人に、操作の記録とともに表示されます。",
  passwordHelp: `${shortestPassword} 文字以上。記号の羅列より、覚えやすい文章がおすすめです。`
}

export const signedOutWords = { en, ja }
