import { counted } from "../../words/Format.ts"

const en = {
  title: "Changes from the backup",
  about: "Names and positions; values are not shown.",
  backup: "Backup of",
  state: "State",
  now: "now",
  restored: "in the backup",
  standing: (generation: number, serial: number, resources: number) =>
    `generation ${generation}, serial ${serial}, ${counted(resources, "resource")}`,
  noState: "no state",
  next: "After the restore",
  nextStanding: (generation: number, serial: number) => `generation ${generation}, serial ${serial}`,
  pointers: "Moves",
  pointer: {
    installConfigId: "Configuration",
    modulePath: "Module",
    sourceSnapshotId: "Snapshot",
    ref: "Revision",
    path: "Folder",
    resolvedCommit: "Commit",
    tool: "Tool"
  },
  configuration: "Configuration",
  same: "The configuration is the same.",
  kind: { input: "Input", provider: "Provider", output: "Output" },
  change: { added: "is set again", removed: "is no longer set", changed: "gets its earlier value" },
  reviewTitle: "Review this restore",
  reviewText:
    "It changes svc's records and no infrastructure. The capsule then needs a plan, and auto-update is paused until somebody resumes it.",
  approveTitle: "Approve this restore?",
  approve: "Approve and restore",
  approvedText: "The approval is valid for exactly this restore. If the capsule changes, the restore is refused.",
  confirmHelp: "Because the state and configuration of the capsule are replaced.",
  restoreNow: "Restore now",
  opened: "Open the restore"
}

const ja: typeof en = {
  title: "バックアップによる変更",
  about: "名前と位置だけを示します。値は表示されません。",
  backup: "バックアップの日時",
  state: "ステート",
  now: "現在",
  restored: "バックアップ",
  standing: (generation: number, serial: number, resources: number) =>
    `世代 ${generation}、シリアル ${serial}、リソース ${resources} 個`,
  noState: "ステートなし",
  next: "復元後",
  nextStanding: (generation: number, serial: number) => `世代 ${generation}、シリアル ${serial}`,
  pointers: "参照先の変更",
  pointer: {
    installConfigId: "構成",
    modulePath: "モジュール",
    sourceSnapshotId: "スナップショット",
    ref: "リビジョン",
    path: "フォルダー",
    resolvedCommit: "コミット",
    tool: "ツール"
  },
  configuration: "構成",
  same: "構成に違いはありません。",
  kind: { input: "入力", provider: "プロバイダー", output: "出力" },
  change: { added: "再び設定されます", removed: "設定されなくなります", changed: "以前の値に戻ります" },
  reviewTitle: "復元の内容を確認してください",
  reviewText:
    "変わるのは svc の記録だけで、インフラは変更されません。その後、カプセルには新しいプランが必要です。自動更新は、再開されるまで止まります。",
  approveTitle: "この復元を承認しますか？",
  approve: "承認して復元",
  approvedText: "承認はこの復元だけに有効です。カプセルが変わった場合、復元は拒否されます。",
  confirmHelp: "カプセルのステートと構成が置き換わるためです。",
  restoreNow: "今すぐ復元",
  opened: "復元の実行を開く"
}

export const restoreWords = { en, ja }
