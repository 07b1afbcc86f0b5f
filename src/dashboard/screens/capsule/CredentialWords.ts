const en = {
  title: (provider: string) => `Waits for a credential for ${provider}`,
  yourTurn: "You can resolve this.",
  turn: {
    member: "A member of this workspace can continue.",
    admin: "An owner or admin of this workspace can resolve this.",
    operator: "The operator of this service does not allow this provider. Only the operator can change that."
  },
  renewed: "The connection was changed after this run. Plan again.",
  bind: "Bind a connection",
  connections: "Connections",
  openRun: "Open the run"
}

const ja: typeof en = {
  title: (provider: string) => `${provider} の認証情報を待っています`,
  yourTurn: "あなたの対応が必要です。",
  turn: {
    member: "ワークスペースのメンバーが続行できます。",
    admin: "ワークスペースのオーナーまたは管理者の対応が必要です。",
    operator: "このプロバイダーを許可していない、サービス運営者の対応が必要です。"
  },
  renewed: "その後、接続が変更されました。プランを作り直してください。",
  bind: "接続を割り当てる",
  connections: "接続",
  openRun: "実行を開く"
}

export const credentialWords = { en, ja }
