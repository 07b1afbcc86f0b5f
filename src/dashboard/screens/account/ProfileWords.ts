const en = {
  changeName: "Change name",
  nameHelp: "Others see this name next to your actions. If it is empty, they see your address.",
  addressHow: "To change the address, ask an operator for a link. Operators create the link with",
  addressTitle: "Change your address",
  addressText: (from: string, to: string) =>
    `Your account gets the address ${to} instead of ${from}. From then on, sign in with the new address.`,
  addressAction: "Change the address",
  addressChanged: "Address changed",
  addressUntil: "The link works once and expires",
  addressBack: "To your account",
  addressEnded: {
    missing: {
      title: "This page needs the link",
      text: "This page changes the address of your account. Open the whole link that you were given, including the part after #. It works once, for 24 hours."
    },
    used: {
      title: "This link was used",
      text: "This link has already changed the address of your account. Your account page shows the current address. If you did not do this, sign out all other devices and contact your operator."
    },
    expired: {
      title: "This link has expired",
      text: "The link was valid for 24 hours. Your address was not changed; ask for a new link."
    },
    unknown: {
      title: "This link is not for your account",
      text: "The link belongs to another account, was replaced by a newer link, or was not copied completely. Sign in to the other account, or open the newest link."
    }
  },
  changeAddress: "Change address",
  newAddress: "New e-mail address",
  newAddressHelp:
    "We send a link to the new address. Open it here while you are signed in. The address does not change until then.",
  mailLink: "Send the link",
  linkMailed: "A link was sent to the new address",
  setPassword: "Set a password",
  setPasswordAbout:
    "You sign in without a password. With a password, you can also sign in when you do not have your passkey with you.",
  others: "Sign out all others",
  othersTitle: "Sign out all other devices?",
  othersText: "Every other device is signed out. API tokens remain valid; revoke them one by one.",
  noticesTitle: "Your account was changed",
  noticesText:
    "Was it you? If not, sign out all other devices, remove everything you do not recognise, and contact your operator.",
  noticesSeen: "It was me",
  notices: {
    address: (detail: string) => `The address was changed. The previous address was ${detail}.`,
    password: () => "A password was set.",
    password_removed: () => "The password was removed.",
    passkey_added: (detail: string) => `The passkey “${detail}” was added.`,
    passkey_removed: (detail: string) => `The passkey “${detail}” was removed.`,
    identity_linked: (detail: string) => `An identity at ${detail} was linked.`,
    identity_unlinked: (detail: string) => `An identity at ${detail} was unlinked.`,
    second_factor_on: () => "The second factor was turned on.",
    second_factor_off: () => "The second factor was turned off.",
    recovery_codes: () => "New recovery codes were created.",
    recovery_code_used: (detail: string) => `A recovery code was used. Codes left: ${detail}.`
  }
}

const ja: typeof en = {
  changeName: "名前を変更",
  nameHelp: "ほかの人に、操作の記録とともに表示されます。空にするとメールアドレスが表示されます。",
  addressHow: "メールアドレスを変更するには、運用者にリンクの発行を依頼してください。発行に使うコマンド:",
  addressTitle: "メールアドレスの変更",
  addressText: (from: string, to: string) =>
    `アカウントのメールアドレスが ${from} から ${to} に変わります。以後のサインインには新しいアドレスを使います。`,
  addressAction: "メールアドレスを変更",
  addressChanged: "メールアドレスを変更しました",
  addressUntil: "リンクは 1 回限り有効です。期限:",
  addressBack: "アカウントへ",
  addressEnded: {
    missing: {
      title: "このページにはリンクが必要です",
      text: "アカウントのメールアドレスを変更するページです。受け取ったリンクを、# 以降も含めてすべて開いてください。リンクは 1 回限り、24 時間有効です。"
    },
    used: {
      title: "このリンクは使用済みです",
      text: "アカウントのメールアドレスを変更する 1 回限りのリンクで、変更は完了しています。現在のアドレスはアカウントのページで確認できます。心当たりがない場合は、ほかの端末をすべてサインアウトし、運用者に連絡してください。"
    },
    expired: {
      title: "このリンクは期限切れです",
      text: "アカウントのメールアドレスを変更するリンクで、有効期間は 24 時間でした。アドレスは変更されていません。新しいリンクを発行してください。"
    },
    unknown: {
      title: "このアカウント用のリンクではありません",
      text: "別のアカウント用のリンクか、新しいリンクに置き換えられたか、リンクの一部が欠けています。対象のアカウントでサインインするか、最新のリンクを開いてください。"
    }
  },
  changeAddress: "メールアドレスを変更",
  newAddress: "新しいメールアドレス",
  newAddressHelp: "このアドレスにリンクを送ります。サインインした状態で開いてください。それまで変更は反映されません。",
  mailLink: "リンクを送信",
  linkMailed: "新しいアドレスにリンクを送信しました",
  setPassword: "パスワードを設定",
  setPasswordAbout:
    "現在はパスワードなしでサインインしています。設定すると、パスキーが手元にないときもサインインできます。",
  others: "ほかの端末をサインアウト",
  othersTitle: "ほかの端末をすべてサインアウトしますか？",
  othersText:
    "この端末以外がすべてサインアウトされます。API トークンは残ります。必要に応じて個別に取り消してください。",
  noticesTitle: "アカウントが変更されました",
  noticesText:
    "ご自身の操作ですか？心当たりがない場合は、ほかの端末をすべてサインアウトし、覚えのないものを削除して、運用者に連絡してください。",
  noticesSeen: "自分の操作です",
  notices: {
    address: (detail: string) => `メールアドレスが変更されました（以前: ${detail}）。`,
    password: () => "パスワードが設定されました。",
    password_removed: () => "パスワードが削除されました。",
    passkey_added: (detail: string) => `パスキー「${detail}」が追加されました。`,
    passkey_removed: (detail: string) => `パスキー「${detail}」が削除されました。`,
    identity_linked: (detail: string) => `${detail} の ID がリンクされました。`,
    identity_unlinked: (detail: string) => `${detail} の ID のリンクが解除されました。`,
    second_factor_on: () => "2 段階認証が有効になりました。",
    second_factor_off: () => "2 段階認証が無効になりました。",
    recovery_codes: () => "リカバリーコードが再発行されました。",
    recovery_code_used: (detail: string) => `リカバリーコードが使用されました（残り ${detail} 個）。`
  }
}

export const profileWords = { en, ja }
