const en = {
  title: (provider: string) => `Waits for a credential for ${provider}`,
  yourTurn: "It is your turn.",
  turn: {
    member: "A member of this workspace can go on.",
    admin: "It is the turn of an owner or admin of this workspace.",
    operator: "It is the turn of the operator of this service, who does not allow the provider."
  },
  renewed: "The connection was changed since. Plan again.",
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
