const en = {
  title: "Your one-time link",
  about: "It creates the first account of this server, or lets you back into an account that you have.",
  firstTitle: "Create the first account",
  firstAbout: "This one-time link makes you the owner of this server.",
  recoverTitle: "Get back into your account",
  recoverAbout: (email: string) =>
    `This one-time link lets you into ${email}. Choose how you sign in from now on; every open session ends.`,
  until: "Expires",
  newPassword: "New password",
  setPassword: "Set the password",
  createByPasskey: "Create account with a passkey",
  recoverByPasskey: "Set up a passkey",
  passkeyAbout:
    "A passkey is kept by this device: you sign in with its fingerprint, face or PIN, and there is no password.",
  passkeyReplaces: "Your old password stops working.",
  passkeyLost: "If you lose the device, an operator lets you back in with",
  passkeyNotMade: "No passkey was made. Try again, or choose a password. The link is still good.",
  create: "Create account",
  incomplete: "This link is incomplete",
  incompleteText:
    "Open the whole link that you received or that the server printed when it started, including the part after #. It works once, for 30 minutes.",
  unknown: "This server does not recognise the link",
  unknownText:
    "A newer link has replaced it, it expired long ago, or part of it is missing. Open the newest link that you received.",
  wasFor: {
    first_account: "This one-time link was for creating the first account of this server.",
    recovery: "This one-time link was for getting back into an account."
  },
  used: {
    first_account: "The first account exists already",
    recovery: "This link was used"
  },
  usedText: {
    first_account: "The link no longer works. Sign in with that account.",
    recovery:
      "It gave access to the account once. Use the sign-in method that was chosen then. If that was not you, contact the operator at once."
  },
  expired: "This link has expired",
  expiredText: "It was valid for 30 minutes, and nobody used it.",
  newFirst: "A new link for the first account comes from",
  newRecovery: "For an account that you cannot get into, an operator makes a new link with",
  signIn: "Sign in",
  code: "Setup code",
  codeHelp: "The part of your link after #. This browser runs no JavaScript, so the page cannot read it automatically."
}

const ja: typeof en = {
  title: "1 回限りのリンク",
  about: "このサーバーの最初のアカウントを作成するか、既存のアカウントに再びアクセスするためのリンクです。",
  firstTitle: "最初のアカウントを作成",
  firstAbout: "この 1 回限りのリンクで、あなたがこのサーバーのオーナーになります。",
  recoverTitle: "アカウントに再びアクセス",
  recoverAbout: (email: string) =>
    `この 1 回限りのリンクで ${email} にアクセスできます。今後のサインイン方法を選んでください。開いているセッションはすべて終了します。`,
  until: "有効期限:",
  newPassword: "新しいパスワード",
  setPassword: "パスワードを設定",
  createByPasskey: "パスキーでアカウントを作成",
  recoverByPasskey: "パスキーを設定",
  passkeyAbout: "パスキーはこの端末に保存されます。指紋・顔・PIN でサインインでき、パスワードは不要です。",
  passkeyReplaces: "以前のパスワードは使えなくなります。",
  passkeyLost: "端末を紛失した場合、運用者は次のコマンドで再びアクセスできるようにできます:",
  passkeyNotMade: "パスキーは作成されませんでした。もう一度試すか、パスワードを選んでください。リンクはまだ有効です。",
  create: "アカウントを作成",
  incomplete: "リンクが完全ではありません",
  incompleteText:
    "受け取ったリンク、またはサーバーの起動時に表示されたリンクを、# 以降も含めてすべて開いてください。リンクは 1 回限り、30 分間有効です。",
  unknown: "このリンクは登録されていません",
  unknownText:
    "新しいリンクに置き換えられたか、かなり前に失効したか、リンクの一部が欠けています。最後に受け取ったリンクを開いてください。",
  wasFor: {
    first_account: "これは、このサーバーの最初のアカウントを作成するための 1 回限りのリンクでした。",
    recovery: "これは、アカウントに再びアクセスするための 1 回限りのリンクでした。"
  },
  used: {
    first_account: "最初のアカウントはすでに作成されています",
    recovery: "このリンクは使用済みです"
  },
  usedText: {
    first_account: "このリンクはもう使えません。作成済みのアカウントでサインインしてください。",
    recovery:
      "このリンクは一度使われました。そのとき選んだ方法でサインインしてください。心当たりがない場合は、すぐに運用者に連絡してください。"
  },
  expired: "このリンクは期限切れです",
  expiredText: "有効期間の 30 分が過ぎました。このリンクは使われていません。",
  newFirst: "最初のアカウント用の新しいリンクは次のコマンドで発行できます:",
  newRecovery: "アカウントに入れない場合、運用者は次のコマンドで新しいリンクを発行できます:",
  signIn: "サインイン",
  code: "セットアップコード",
  codeHelp: "リンクの # より後の部分です。このブラウザーでは JavaScript が無効なため、自動では読み取れません。"
}

export const setupWords = { en, ja }
