const en = {
  title: "Confirm an action",
  about: "A program that you signed in requests an action that only you can allow.",
  code: "Code that the program shows",
  look: "Continue",
  unknown:
    "No action waits for this code. The code is mistyped, belongs to somebody else, was already used, or expired after ten minutes.",
  actions: {
    "capsule.export": "Export a capsule with its state, secrets included",
    "source.hook_secret.renew": "Create a new webhook secret for a source and show it"
  },
  action: "Action",
  workspace: "Workspace",
  targets: { capsule: "Capsule", source: "Source" },
  asker: "Requested by",
  askers: {
    token: (name: string) => `the token “${name}”`,
    application: (name: string) => `the application “${name}”`
  },
  until: "Expires",
  warning: "Approve it only if you started it yourself just now, and if the program shows this code.",
  approve: "Approve",
  deny: "Deny",
  approved: "Approved",
  approvedText: "The program continues automatically. You can close this page.",
  denied: "Denied",
  deniedText: "The request was refused, and nothing was changed. You can close this page.",
  again: "Enter another code"
}

const ja: typeof en = {
  title: "操作の確認",
  about: "サインイン済みのプログラムが、ご本人の許可が必要な操作を求めています。",
  code: "プログラムに表示されたコード",
  look: "次へ",
  unknown:
    "このコードで待機している操作はありません。入力の誤り、別の人のコード、決定済み、または 10 分の期限切れの可能性があります。",
  actions: {
    "capsule.export": "カプセルをステートとともにエクスポートします（秘密の値を含みます）",
    "source.hook_secret.renew": "ソースの Webhook シークレットを新しく作成して表示します"
  },
  action: "操作",
  workspace: "ワークスペース",
  targets: { capsule: "カプセル", source: "ソース" },
  asker: "要求元",
  askers: {
    token: (name: string) => `トークン「${name}」`,
    application: (name: string) => `アプリケーション「${name}」`
  },
  until: "期限",
  warning: "ご自身がたった今開始した操作で、プログラムに同じコードが表示されている場合にのみ承認してください。",
  approve: "承認",
  deny: "拒否",
  approved: "承認しました",
  approvedText: "プログラムは自動的に続行します。このページを閉じてもかまいません。",
  denied: "拒否しました",
  deniedText: "プログラムの要求は拒否され、何も変更されていません。このページを閉じてもかまいません。",
  again: "別のコードを入力"
}

export const confirmWords = { en, ja }
