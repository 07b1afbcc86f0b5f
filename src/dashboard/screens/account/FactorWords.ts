import { counted } from "../../words/Format.ts"

const en = {
  title: "Second factor",
  about: "A code from an authenticator app, required after your password.",
  off: "Off",
  offText: "With a second factor, a stolen password alone is not enough to sign in.",
  on: "On",
  codesLeft: (count: number) => `${counted(count, "recovery code")} left`,
  setUp: "Set up",
  setUpText:
    "Scan the code with your authenticator app, enter the key by hand, or open the app on this device. Then enter the code that it shows.",
  picture: "QR image of the key",
  open: "Open in the app on this device",
  code: "Code",
  activate: "Turn on",
  remove: "Turn off",
  removeTitle: "Turn off the second factor?",
  removeText: "Your password alone then signs you in, and the recovery codes stop working.",
  renew: "New recovery codes",
  renewTitle: "Create new recovery codes?",
  renewText: "The current codes stop working.",
  codesTitle: "Your recovery codes",
  codesText:
    "Keep them separate from your authenticator. If you cannot use the authenticator, enter one of these codes. Each code works once. They are not shown again.",
  done: "I have saved them"
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
