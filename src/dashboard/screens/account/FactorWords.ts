import { counted } from "../../words/Format.ts"

const en = {
  title: "Second factor",
  about: "A code of an authenticator app, asked for after your password.",
  off: "Off",
  offText: "With a second factor, a stolen password alone is not enough to sign in.",
  on: "On",
  codesLeft: (count: number) => `${counted(count, "recovery code")} left`,
  setUp: "Set up",
  setUpText:
    "Scan the code with your authenticator app, enter the key by hand, or open the app on this device. Then enter the code that it shows.",
  picture: "QR picture of the key",
  open: "Open in the app on this device",
  code: "Code",
  activate: "Turn on",
  remove: "Turn off",
  removeTitle: "Turn off the second factor?",
  removeText: "Your password alone opens the account then. The recovery codes end.",
  renew: "New recovery codes",
  renewTitle: "Make new recovery codes?",
  renewText: "The present ones stop working.",
  codesTitle: "Your recovery codes",
  codesText:
    "Keep them apart from your authenticator. Each code replaces one code of the authenticator when you cannot use it. They are not shown again.",
  done: "I have kept them"
}

const ja: typeof en = {
  title: "2 段階認証",
  about: "パスワードの入力後に、認証アプリのコードを求めます。",
  off: "無効",
  offText: "有効にすると、パスワードが盗まれてもそれだけではサインインできません。",
  on: "有効",
  codesLeft: (count: number) => `リカバリーコード残り ${count} 個`,
  setUp: "設定する",
  setUpText:
    "認証アプリで QR コードを読み取るか、キーを手入力するか、この端末のアプリで開いてください。その後、表示されたコードを入力してください。",
  picture: "キーの QR 画像",
  open: "この端末のアプリで開く",
  code: "コード",
  activate: "有効にする",
  remove: "無効にする",
  removeTitle: "2 段階認証を無効にしますか？",
  removeText: "以後はパスワードだけでサインインできます。リカバリーコードは使えなくなります。",
  renew: "リカバリーコードを再発行",
  renewTitle: "リカバリーコードを再発行しますか？",
  renewText: "現在のコードは使えなくなります。",
  codesTitle: "リカバリーコード",
  codesText:
    "認証アプリとは別の場所に保管してください。アプリが使えないときに、それぞれ 1 回だけコードの代わりに使えます。再表示はできません。",
  done: "保管しました"
}

export const factorWords = { en, ja }
