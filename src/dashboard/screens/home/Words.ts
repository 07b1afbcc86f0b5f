import { counted, integer } from "../../words/Format.ts"

const en = {
  title: "Home",
  needYou: (count: number) => counted(count, "thing needs you", "things need you"),
  allAsConfigured: "Everything is as configured",
  asConfigured: (healthy: number, capsules: number) =>
    `${integer("en", healthy)} of ${counted(capsules, "capsule")} ${healthy === 1 ? "is" : "are"} as configured.`,
  /** The number above includes these Capsules, because they have no known problem. */
  neverChecked: (count: number) => `${counted(count, "of them was", "of them were")} never checked for drift.`,
  attention: "Needs you",
  others: "Waiting for others",
  othersText: "Somebody else must act on these entries.",
  order: "one entry per capsule, riskiest first",
  attentionNone: "Nothing needs you.",
  allIsWell: "Every capsule is applied, and no recent drift check found a difference.",
  uncheckedText: (count: number) =>
    `${counted(count, "capsule was", "capsules were")} never checked for drift: changes made outside svc would not show here.`,
  attentionNoneText: "Plans to approve, failures, drift, available updates and connections to confirm appear here.",
  health: {
    healthy: "As configured",
    unchecked: "Not checked for drift",
    waiting: "Waiting or drifted",
    notApplied: "Not applied yet",
    failed: "Uncertain or failed",
    disabled: "Disabled"
  },
  incomplete: (count: number) => `Counted over the first ${counted(count, "capsule")}; there are more.`,
  capsules: "Health of capsules",
  recent: "Recent runs",
  allRuns: "All runs",
  allCapsules: "All capsules",
  activity: "Activity",
  allActivity: "All activity",
  emptyTitle: "Install your first module",
  emptyText:
    "Give the address of a Git repository with an OpenTofu or Terraform module. You see the plan before anything is changed.",
  steps: [
    "Choose a Git repository and a module in it",
    "Fill in its variables and connect its providers",
    "Review the plan, approve it, and watch it being applied"
  ]
}

const ja: typeof en = {
  title: "ホーム",
  needYou: (count) => `${count} 件の対応が必要です`,
  allAsConfigured: "すべて構成どおりです",
  asConfigured: (healthy, capsules) =>
    `${integer("ja", capsules)} 個のカプセルのうち ${integer("ja", healthy)} 個が構成どおりです。`,
  neverChecked: (count) => `うち ${integer("ja", count)} 個は、まだドリフトを確認していません。`,
  attention: "対応が必要",
  others: "ほかの人の対応待ち",
  othersText: "ほかのメンバーの対応が必要なものです。",
  order: "カプセルごとに 1 件、重要な順",
  attentionNone: "対応が必要なものはありません。",
  allIsWell: "すべてのカプセルが適用済みで、直近のドリフト確認でも差異はありませんでした。",
  uncheckedText: (count) =>
    `${integer("ja", count)} 個のカプセルはまだドリフトを確認していません。svc の外で行われた変更はここに表示されません。`,
  attentionNoneText: "承認待ちのプラン、失敗、ドリフト、更新、確認が必要な接続があるとここに表示されます。",
  health: {
    healthy: "構成どおり",
    unchecked: "ドリフト未確認",
    waiting: "対応待ち・ドリフト",
    notApplied: "未適用",
    failed: "失敗・状態不明",
    disabled: "無効"
  },
  incomplete: (count) => `最初の ${integer("ja", count)} 個のカプセルを数えました。ほかにもあります。`,
  capsules: "カプセルの状態",
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
