const en = {
  product: "svc",
  save: "Save",
  saved: "Saved",
  cancel: "Cancel",
  close: "Close",
  back: "Back",
  retry: "Try again",
  remove: "Remove",
  create: "Create",
  choose: "Choose…",
  copy: "Copy",
  copied: "Copied",
  search: "Search",
  more: "More",
  loadMore: "Show more",
  loading: "Loading",
  none: "None",
  yes: "Yes",
  no: "No",
  optional: "optional",
  required: "Required",
  all: "All",
  unknown: "Unknown",
  requestId: "Request id",
  skipToContent: "Skip to content",
  opensNewTab: "opens in a new tab",
  runStatus: {
    queued: "Queued",
    running: "Running",
    waiting_approval: "Needs approval",
    succeeded: "Succeeded",
    failed: "Failed",
    cancelled: "Cancelled",
    superseded: "Superseded",
    expired: "Expired"
  },
  planApproved: "Approved",
  runType: {
    source_sync: "Source sync",
    compatibility_check: "Compatibility check",
    plan: "Plan",
    apply: "Apply",
    destroy_plan: "Destroy plan",
    destroy_apply: "Destroy",
    drift_check: "Drift check",
    backup: "Backup",
    restore: "Restore"
  },
  trigger: {
    user: "by hand",
    webhook: "by webhook",
    schedule: "on schedule",
    auto_update: "by auto-update",
    service: "by the service"
  },
  capsuleStatus: {
    pending: "Not applied yet",
    active: "Active",
    stale: "Update available",
    error: "Error",
    disabled: "Disabled",
    destroyed: "Destroyed"
  },
  drift: { unknown: "Not checked", none: "No drift", drifted: "Drifted" },
  role: { owner: "Owner", admin: "Admin", member: "Member", viewer: "Viewer" },
  connectionStatus: {
    pending: "Not tested",
    verified: "Verified",
    expired: "Expired",
    revoked: "Revoked",
    error: "Failed its test"
  },
  sourceStatus: { active: "Active", disabled: "Disabled", error: "Error" },
  fault: {
    network: "The server cannot be reached. Check your connection; this page tries again by itself.",
    forbidden: "Your role in this workspace does not allow this.",
    notFound: "This does not exist, or it was removed.",
    notAvailable: "This server does not offer this yet.",
    title: "That did not work"
  },
  needsRole: (role: string) => `Only a ${role} of this workspace may do this.`
}

const ja: typeof en = {
  product: "svc",
  save: "保存",
  saved: "保存しました",
  cancel: "キャンセル",
  close: "閉じる",
  back: "戻る",
  retry: "再試行",
  remove: "削除",
  create: "作成",
  choose: "選択してください",
  copy: "コピー",
  copied: "コピーしました",
  search: "検索",
  more: "その他",
  loadMore: "さらに表示",
  loading: "読み込み中",
  none: "なし",
  yes: "はい",
  no: "いいえ",
  optional: "任意",
  required: "必須",
  all: "すべて",
  unknown: "不明",
  requestId: "リクエスト ID",
  skipToContent: "本文へ移動",
  opensNewTab: "新しいタブで開きます",
  runStatus: {
    queued: "待機中",
    running: "実行中",
    waiting_approval: "承認待ち",
    succeeded: "成功",
    failed: "失敗",
    cancelled: "中止",
    superseded: "置き換え済み",
    expired: "期限切れ"
  },
  planApproved: "承認済み",
  runType: {
    source_sync: "ソース同期",
    compatibility_check: "互換性チェック",
    plan: "プラン",
    apply: "適用",
    destroy_plan: "削除プラン",
    destroy_apply: "削除",
    drift_check: "ドリフト確認",
    backup: "バックアップ",
    restore: "復元"
  },
  trigger: {
    user: "手動",
    webhook: "Webhook",
    schedule: "スケジュール",
    auto_update: "自動更新",
    service: "サービス"
  },
  capsuleStatus: {
    pending: "未適用",
    active: "稼働中",
    stale: "更新あり",
    error: "エラー",
    disabled: "無効",
    destroyed: "削除済み"
  },
  drift: { unknown: "未確認", none: "ドリフトなし", drifted: "ドリフトあり" },
  role: { owner: "オーナー", admin: "管理者", member: "メンバー", viewer: "閲覧者" },
  connectionStatus: {
    pending: "未テスト",
    verified: "確認済み",
    expired: "期限切れ",
    revoked: "取り消し済み",
    error: "テスト失敗"
  },
  sourceStatus: { active: "有効", disabled: "無効", error: "エラー" },
  fault: {
    network: "サーバーに接続できません。通信環境を確認してください。この画面は自動的に再試行します。",
    forbidden: "このワークスペースでのあなたのロールでは、この操作はできません。",
    notFound: "存在しないか、すでに削除されています。",
    notAvailable: "このサーバーではまだ提供されていません。",
    title: "操作を完了できませんでした"
  },
  needsRole: (role: string) => `この操作には${role}以上のロールが必要です。`
}

export const vocabulary = { en, ja }
