import { counted } from "../../words/Format.ts"

const en = {
  what: {
    rollback:
      "This plan returns the capsule to the revision and configuration of an earlier state. Once applied, auto-update is paused until somebody resumes it.",
    accept_drift: "This plan accepts changes made outside svc.",
    reconcile: "This plan reverts changes made outside svc, at the deployed revision.",
    adopt: "This plan takes over the state of infrastructure that existed before the capsule.",
    destroy: "This plan destroys everything that the capsule manages."
  },
  showFiles: "Show the files",
  files: "Files that differ from the applied commit",
  fileCount: (count: number) => counted(count, "file"),
  fileStates: {
    first: "Nothing was applied before: every file is new.",
    not_stored: "The files of one of the two commits are no longer stored.",
    no_source: "This run has no commit."
  },
  fileChange: { added: "added", changed: "changed", removed: "removed" },
  since: "Compared with",
  ofSource: "svc cannot determine which files the module reads, so every file of the source counts.",
  noFiles: "No file of the module differs.",
  publicOutputs: "Outputs that become public",
  withdrawnOutputs: "Outputs that are withdrawn",
  inputs: "Inputs from other capsules that differ",
  inputChange: { added: "new", changed: "changed", removed: "no longer available" },
  rule: "Approval rule",
  noRule: "None: the approval of one admin is enough.",
  notAuthor: "not by an author of the plan",
  needs: (count: number, role: string) => `${counted(count, "approval")}: ${role}`
}

const ja: typeof en = {
  what: {
    rollback:
      "このプランは、カプセルを以前のステートのリビジョンと構成に戻します。適用後は、だれかが再開するまで自動更新が止まります。",
    accept_drift: "このプランは、svc の外で行われた変更を受け入れます。",
    reconcile: "このプランは、svc の外で行われた変更を、デプロイ済みのリビジョンのとおりに戻します。",
    adopt: "このプランは、カプセルより前から存在するインフラのステートを引き継ぎます。",
    destroy: "このプランは、カプセルが管理するものをすべて削除します。"
  },
  showFiles: "ファイルを表示",
  files: "適用済みコミットと異なるファイル",
  fileCount: (count: number) => `${count} ファイル`,
  fileStates: {
    first: "まだ何も適用されていないため、すべてのファイルが新規です。",
    not_stored: "どちらかのコミットのファイルは、もうここに保存されていません。",
    no_source: "この実行にはコミットがありません。"
  },
  fileChange: { added: "追加", changed: "変更", removed: "削除" },
  since: "比較元",
  ofSource: "モジュールが読むファイルを確定できないため、ソースの全ファイルを対象にしています。",
  noFiles: "モジュールのファイルに違いはありません。",
  publicOutputs: "公開される出力",
  withdrawnOutputs: "公開されなくなる出力",
  inputs: "ほかのカプセルから渡され、変わる入力",
  inputChange: { added: "新規", changed: "変更", removed: "提供終了" },
  rule: "承認ルール",
  noRule: "なし: 管理者 1 人の承認で足ります。",
  notAuthor: "プランの作成者を除く",
  needs: (count: number, role: string) => `${role}の承認 ${count} 件`
}

export const planBasisWords = { en, ja }
