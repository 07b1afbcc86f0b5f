import { counted } from "../../words/Format.ts"

const en = {
  title: "History",
  about: "Each change in one line: commit, plan, approval, apply, and the drift that was found afterwards.",
  none: "No changes yet",
  all: "All changes",
  plan: "Plan",
  destroyPlan: "Destroy plan",
  noChanges: "no changes",
  purposes: { rollback: "Rollback", reconcile: "Reconcile", accept_drift: "Drift accepted" },
  adopts: "Takeover",
  approvedBy: (name: string) => `approved by ${name}`,
  automatic: "applied automatically",
  waiting: "waits for approval",
  unapproved: "not approved",
  apply: "Apply",
  drift: (count: number) => `${counted(count, "resource")} drifted`,
  someDrift: "drifted",
  noDrift: "no drift",
  notChecked: "not checked"
}

const ja: typeof en = {
  title: "変更履歴",
  about: "変更ごとに 1 行です。コミット、プラン、承認、適用、その後に見つかったドリフトの順に表示します。",
  none: "変更はまだありません",
  all: "すべての変更",
  plan: "プラン",
  destroyPlan: "削除プラン",
  noChanges: "変更なし",
  purposes: { rollback: "ロールバック", reconcile: "復元", accept_drift: "ドリフトを受け入れ" },
  adopts: "引き継ぎ",
  approvedBy: (name: string) => `${name} が承認`,
  automatic: "自動で適用",
  waiting: "承認待ち",
  unapproved: "未承認",
  apply: "適用",
  drift: (count: number) => `${count} 個のリソースにドリフト`,
  someDrift: "ドリフトあり",
  noDrift: "ドリフトなし",
  notChecked: "未確認"
}

export const historyWords = { en, ja }
