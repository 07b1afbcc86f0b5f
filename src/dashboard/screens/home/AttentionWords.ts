import type { AttentionItem } from "../../api/Types.ts"
import { counted } from "../../words/Format.ts"

type Kind = AttentionItem["kind"]
type RunType = NonNullable<AttentionItem["run"]>["type"]

const failed: Readonly<Record<RunType, string>> = {
  source_sync: "Its sync failed",
  compatibility_check: "Its check failed",
  plan: "Its plan failed",
  apply: "Its apply failed",
  destroy_plan: "Its destroy plan failed",
  destroy_apply: "Its destroy failed",
  drift_check: "Its drift check failed",
  backup: "Its backup failed",
  restore: "Its restore failed"
}

const kinds: Readonly<Record<Kind, string>> = {
  unknown_safety: "It is uncertain which objects exist",
  failed: "Failed",
  uncertain_ground: "An apply left a state behind, and objects may exist that no plan contains",
  waiting_approval: "A plan waits for approval",
  approved: "An approved plan is not applied yet",
  waiting_change: "A change waits for approval before its merge",
  waiting_credential: "Waits for a credential",
  check_failed: "Its drift check failed",
  update_held: "The update is held",
  lane_failed: "Cannot be fetched",
  work_stuck: "Background work keeps failing; see the server's log",
  origins_unconfirmed: "Not sent to any Git server until its origins are confirmed",
  connection_expired: "Connection expired",
  connection_unrenewed: "Its access token could not be renewed",
  connection_unrevoked: "It has ended, but its tokens are not revoked yet",
  notices_stopped: "Notices are no longer sent there",
  automation_paused: "Automation is paused",
  drifted: "Changed outside svc",
  stale: "A newer commit is available",
  update_open: "The update is under way",
  connection_expiring: "Connection expires"
}

const actions: Readonly<Record<Kind, string>> = {
  unknown_safety: "Check",
  failed: "See why",
  uncertain_ground: "Adopt or discard",
  waiting_approval: "Review",
  approved: "Apply or withdraw",
  waiting_change: "Review",
  waiting_credential: "See what is missing",
  check_failed: "See why",
  update_held: "Open the update",
  lane_failed: "See why",
  work_stuck: "See it",
  origins_unconfirmed: "Confirm",
  connection_expired: "Renew",
  connection_unrenewed: "Reconnect",
  connection_unrevoked: "See why",
  notices_stopped: "See why",
  automation_paused: "Resume",
  drifted: "See the drift",
  stale: "Plan the update",
  update_open: "Open the update",
  connection_expiring: "Renew"
}

const groups: Readonly<Record<AttentionItem["group"], string>> = {
  failed: "Uncertain or failed",
  decision: "To approve or apply",
  blocked: "Held up",
  drifted: "Drifted",
  update: "Updates",
  expiring: "Expires soon"
}

const also: Readonly<Record<Kind, string>> = {
  ...kinds,
  unknown_safety: "uncertain what exists",
  failed: "its last run failed",
  uncertain_ground: "a state that was left behind",
  waiting_approval: "a plan to approve",
  approved: "an approved plan to apply",
  waiting_credential: "waits for a credential",
  check_failed: "its drift check failed",
  drifted: "drifted",
  stale: "a newer commit"
}

const en = {
  groups,
  kinds,
  failed,
  actions,
  stuck: {
    install_plan: "An install does not continue",
    revision_plan: "A plan of another revision does not continue",
    interface: "An interface does not become ready",
    follow_lane: "A new commit is not followed",
    apply_plan: "A plan of auto-update is not applied",
    unread_source: "A source that could not be read is not removed",
    pull_request_look: "The pull requests of a source are not read",
    pull_request: "A pull request is not reviewed",
    pull_request_report: "A pull request gets no comment",
    pull_request_comments: "Comments on pull requests are not read"
  },
  firstPlanFailed: "Its first plan failed: none of its infrastructure exists yet",
  destroyWaits: "A plan to destroy it waits for approval",
  restoreWaits: "A restore waits for approval",
  staleInput: "An input from another capsule has changed",
  staleRestore: "A backup was restored, and nothing has been applied since",
  drifted: (count: number) => `${counted(count, "resource")} changed outside svc`,
  alsoIs: (reasons: string) => `also: ${reasons}`,
  also,
  behind: (count: number) => `${counted(count, "capsule is", "capsules are")} behind`,
  updating: (count: number) => `An update of ${counted(count, "capsule")}`,
  ask: "Ask for approval",
  asked: (count: number) =>
    count === 0
      ? "Nobody else can approve this plan yet. Ask an owner to check the approval rules."
      : `Asked ${counted(count, "person", "people")} for approval.`,
  askedBy: (name: string) => `${name} asked for approval`,
  more: (count: number) => `and ${count} more`,
  planAll: (count: number) => `Plan all ${count}`,
  replaceTitle: "Start a new update?",
  replaceText: "The current update ends, and its plans that are not applied yet become void.",
  replace: "Start the update"
}

const ja: typeof en = {
  groups: {
    failed: "失敗・状態不明",
    decision: "承認・適用待ち",
    blocked: "停止中",
    drifted: "ドリフト",
    update: "更新",
    expiring: "まもなく期限切れ"
  },
  kinds: {
    unknown_safety: "実際の状態が確認できていません",
    failed: "失敗しました",
    uncertain_ground: "残されたステートがあり、プランが把握していないオブジェクトが存在する可能性があります",
    waiting_approval: "プランが承認を待っています",
    approved: "承認済みのプランがまだ適用されていません",
    waiting_change: "マージ前の変更が承認を待っています",
    waiting_credential: "認証情報を待っています",
    check_failed: "ドリフト確認が失敗しました",
    update_held: "更新が止まっています",
    lane_failed: "取得できません",
    work_stuck: "サービスの処理が失敗し続けています。理由はサービスのログにあります",
    origins_unconfirmed: "送信先が確認されるまで、どの Git サーバーにも送られません",
    connection_expired: "接続の有効期限が切れました",
    connection_unrenewed: "アクセストークンを更新できませんでした",
    connection_unrevoked: "終了しましたが、トークンはまだ無効化されていません",
    notices_stopped: "通知の送信が停止しています",
    automation_paused: "自動処理は一時停止中です",
    drifted: "svc の外で変更されました",
    stale: "新しいコミットがあります",
    update_open: "更新が進行中です",
    connection_expiring: "接続の有効期限が近づいています"
  },
  failed: {
    source_sync: "同期が失敗しました",
    compatibility_check: "確認が失敗しました",
    plan: "プランが失敗しました",
    apply: "適用が失敗しました",
    destroy_plan: "削除プランが失敗しました",
    destroy_apply: "削除が失敗しました",
    drift_check: "ドリフト確認が失敗しました",
    backup: "バックアップが失敗しました",
    restore: "復元が失敗しました"
  },
  actions: {
    unknown_safety: "確認する",
    failed: "原因を見る",
    uncertain_ground: "採用または破棄",
    waiting_approval: "レビュー",
    approved: "適用または取り下げ",
    waiting_change: "レビュー",
    waiting_credential: "不足を確認",
    check_failed: "原因を見る",
    update_held: "更新を開く",
    lane_failed: "原因を見る",
    work_stuck: "確認する",
    origins_unconfirmed: "送信先を確認",
    connection_expired: "更新する",
    connection_unrenewed: "再接続",
    connection_unrevoked: "原因を見る",
    notices_stopped: "原因を見る",
    automation_paused: "再開する",
    drifted: "ドリフトを見る",
    stale: "更新をプラン",
    update_open: "更新を開く",
    connection_expiring: "更新する"
  },
  stuck: {
    install_plan: "インストールが進みません",
    revision_plan: "別のリビジョンのプランが進みません",
    interface: "インターフェースの準備が進みません",
    follow_lane: "新しいコミットに追従できません",
    apply_plan: "自動更新のプランが適用されません",
    unread_source: "読み取れなかったソースが削除されません",
    pull_request_look: "ソースのプルリクエストを読み取れません",
    pull_request: "プルリクエストがレビューされません",
    pull_request_report: "プルリクエストにコメントできません",
    pull_request_comments: "プルリクエストのコメントを読み取れません"
  },
  firstPlanFailed: "最初のプランが失敗しました。まだ何も作成されていません",
  destroyWaits: "削除プランが承認を待っています",
  restoreWaits: "復元が承認を待っています",
  staleInput: "受け取っている出力が変わりました",
  staleRestore: "バックアップの復元後、まだプランが適用されていません",
  drifted: (count) => `${count} 個のリソースが svc の外で変更されました`,
  alsoIs: (reasons) => `ほかに: ${reasons}`,
  also: {
    unknown_safety: "実際の状態が不明",
    failed: "直近の実行が失敗",
    uncertain_ground: "残されたステート",
    waiting_approval: "承認待ちのプラン",
    approved: "適用待ちのプラン",
    waiting_change: "承認待ちの変更",
    waiting_credential: "認証情報待ち",
    check_failed: "ドリフト確認の失敗",
    update_held: "更新の停止",
    lane_failed: "取得の失敗",
    work_stuck: "サービスの処理の失敗",
    origins_unconfirmed: "送信先の確認待ち",
    connection_expired: "接続の期限切れ",
    connection_unrenewed: "トークンの更新失敗",
    connection_unrevoked: "トークンの無効化待ち",
    notices_stopped: "通知の停止",
    automation_paused: "自動処理の一時停止",
    drifted: "ドリフト",
    stale: "新しいコミット",
    update_open: "進行中の更新",
    connection_expiring: "接続の期限間近"
  },
  behind: (count) => `${count} 個のカプセルに更新があります`,
  updating: (count) => `${count} 個のカプセルの更新`,
  ask: "承認を依頼",
  asked: (count) =>
    count === 0
      ? "このプランを承認できる人がほかにいません。承認ルールの確認をオーナーに依頼してください。"
      : `${count} 人に承認を依頼しました。`,
  askedBy: (name) => `${name} が承認を依頼しました`,
  more: (count) => `ほか ${count} 個`,
  planAll: (count) => `${count} 個すべてをプラン`,
  replaceTitle: "新しい更新を始めますか？",
  replaceText: "進行中の更新は終了し、まだ適用されていないそのプランは無効になります。",
  replace: "更新を始める"
}

export const attentionWords = { en, ja }
