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
  signInFailed: "The e-mail address or the password is not right.",
  tooMany: "Too many attempts. Wait a minute, then try again.",
  unreachable: "The server cannot be reached. Check your connection and try again.",
  forgot: "Forgot the password? An operator can reset it with",
  showPassword: "Show password",
  setupTitle: "Create the first account",
  setupAbout: "This one-time link makes you the owner of this server.",
  recoverTitle: "Get back into your account",
  recoverAbout: (email: string) =>
    `This one-time link lets you into ${email}. Choose how you sign in from now on; every open session ends.`,
  newPassword: "New password",
  setPassword: "Set the password",
  createByPasskey: "Create account with a passkey",
  recoverByPasskey: "Set up a passkey",
  passkeyAbout:
    "A passkey is kept by this device: you sign in with its fingerprint, face or PIN, and there is no password.",
  passkeyReplaces: "Your old password stops working.",
  passkeyLost: "If you lose the device, an operator lets you back in with",
  passkeyNotMade: "No passkey was made. Try again, or choose a password. The link is still good.",
  displayName: "Your name",
  displayNameHelp: "Shown to others beside what you do.",
  passwordHelp: `At least ${shortestPassword} characters. A sentence is easier to remember than a code.`,
  create: "Create account",
  setupNoSecret: "This link is incomplete",
  setupNoSecretText:
    "Open the whole link that the server printed when it started, including the part after #. It works once, for 30 minutes. A new one comes from",
  setupRefused: "This link was already used or is older than 30 minutes. A new one comes from",
  setupCode: "Setup code",
  setupCodeHelp: "The part of your link after #. This browser runs no JavaScript, so the page cannot read it by itself."
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
  setupTitle: "最初のアカウントを作成",
  setupAbout: "この 1 回限りのリンクで、あなたがこのサーバーのオーナーになります。",
  recoverTitle: "アカウントに再びアクセス",
  recoverAbout: (email: string) =>
    `この 1 回限りのリンクで ${email} にアクセスできます。今後のサインイン方法を選んでください。開いているセッションはすべて終了します。`,
  newPassword: "新しいパスワード",
  setPassword: "パスワードを設定",
  createByPasskey: "パスキーでアカウントを作成",
  recoverByPasskey: "パスキーを設定",
  passkeyAbout: "パスキーはこの端末に保存されます。指紋・顔・PIN でサインインでき、パスワードは不要です。",
  passkeyReplaces: "以前のパスワードは使えなくなります。",
  passkeyLost: "端末を紛失した場合、運用者は次のコマンドで再びアクセスできるようにできます:",
  passkeyNotMade: "パスキーは作成されませんでした。もう一度試すか、パスワードを選んでください。リンクはまだ有効です。",
  displayName: "名前",
  displayNameHelp: "ほかの人に、操作の記録とともに表示されます。",
  passwordHelp: `${shortestPassword} 文字以上。記号の羅列より、覚えやすい文章がおすすめです。`,
  create: "アカウントを作成",
  setupNoSecret: "リンクが完全ではありません",
  setupNoSecretText:
    "サーバーの起動時に表示されたリンクを、# 以降も含めてすべて開いてください。リンクは 1 回限り、30 分間有効です。新しいリンクは次のコマンドで発行できます:",
  setupRefused: "このリンクは使用済みか、30 分の期限を過ぎています。新しいリンクは次のコマンドで発行できます:",
  setupCode: "セットアップコード",
  setupCodeHelp: "リンクの # より後の部分です。このブラウザでは JavaScript が無効なため、自動では読み取れません。"
}

export const entranceWords = { en, ja }
