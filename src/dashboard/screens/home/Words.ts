const en = {
  title: "Home",
  attention: "Needs you",
  attentionNone: "Nothing needs you.",
  attentionNoneText: "Plans to approve, failures, drift, available updates and connections to confirm appear here.",
  kinds: {
    waiting_approval: "A plan waits for approval",
    approved: "An approved plan is not applied yet",
    update_open: "An update of the workspace is under way",
    failed: "Failed",
    drifted: "Drifted from its state",
    stale: "A newer commit is available",
    unknown_safety: "What really exists is uncertain",
    lane_failed: "Cannot be fetched",
    automation_paused: "Automation is paused",
    origins_unconfirmed: "Not sent to any Git server until its origins are confirmed",
    connection_expiring: "Connection expires",
    connection_expired: "Connection expired",
    connection_unrenewed: "Its access token could not be renewed",
    connection_unrevoked: "It has ended, but its tokens are not revoked yet",
    waiting_credential: "Waits for a credential"
  },
  staleInput: "An output that it takes has changed",
  actions: {
    waiting_approval: "Review",
    approved: "Apply or withdraw",
    update_open: "Open the update",
    failed: "See why",
    drifted: "See the drift",
    stale: "Plan the update",
    unknown_safety: "Check",
    lane_failed: "See why",
    automation_paused: "Resume",
    origins_unconfirmed: "Confirm",
    connection_expiring: "Renew",
    connection_expired: "Renew",
    connection_unrenewed: "Reconnect",
    connection_unrevoked: "See why",
    waiting_credential: "See what is missing"
  },
  capsules: "Capsules",
  recent: "Recent runs",
  allRuns: "All runs",
  allCapsules: "All capsules",
  activity: "Activity",
  allActivity: "All activity",
  emptyTitle: "Install your first module",
  emptyText:
    "Give the address of a Git repository with an OpenTofu or Terraform module. You see the plan before anything is changed.",
  steps: [
    "Point at a Git repository and a module in it",
    "Fill in its variables and connect its providers",
    "Review the plan, approve it, and watch it being applied"
  ]
}

const ja: typeof en = {
  title: "ホーム",
  attention: "対応が必要",
  attentionNone: "対応が必要なものはありません。",
  attentionNoneText: "承認待ちのプラン、失敗、ドリフト、更新、確認が必要な接続があるとここに表示されます。",
  kinds: {
    waiting_approval: "プランが承認を待っています",
    approved: "承認済みのプランがまだ適用されていません",
    update_open: "ワークスペースの更新が進行中です",
    failed: "失敗しました",
    drifted: "ステートとの差異があります",
    stale: "新しいコミットがあります",
    unknown_safety: "実際の状態が確認できていません",
    lane_failed: "取得できません",
    automation_paused: "自動処理は一時停止中です",
    origins_unconfirmed: "送信先が確認されるまで、どの Git サーバーにも送られません",
    connection_expiring: "接続の有効期限が近づいています",
    connection_expired: "接続の有効期限が切れました",
    connection_unrenewed: "アクセストークンを更新できませんでした",
    connection_unrevoked: "終了しましたが、トークンはまだ無効化されていません",
    waiting_credential: "認証情報を待っています"
  },
  staleInput: "受け取っている出力が変わりました",
  actions: {
    waiting_approval: "レビュー",
    approved: "適用または取り下げ",
    update_open: "更新を開く",
    failed: "原因を見る",
    drifted: "ドリフトを見る",
    stale: "更新をプラン",
    unknown_safety: "確認する",
    lane_failed: "原因を見る",
    automation_paused: "再開する",
    origins_unconfirmed: "送信先を確認",
    connection_expiring: "更新する",
    connection_expired: "更新する",
    connection_unrenewed: "再接続",
    connection_unrevoked: "原因を見る",
    waiting_credential: "不足を確認"
  },
  capsules: "カプセル",
  recent: "最近の実行",
  allRuns: "すべての実行",
  allCapsules: "すべてのカプセル",
  activity: "アクティビティ",
  allActivity: "すべてのアクティビティ",
  emptyTitle: "最初のモジュールをインストール",
  emptyText:
    "OpenTofu / Terraform モジュールがある Git リポジトリの URL を指定してください。何かが変更される前に、必ずプランを確認できます。",
  steps: [
    "Git リポジトリと、その中のモジュールを選ぶ",
    "変数を入力し、プロバイダーを接続する",
    "プランをレビューして承認し、適用の様子を見守る"
  ]
}

export const homeWords = { en, ja }
