const en = {
  pinnedTitle: "A rollback or restore holds this capsule",
  pinnedBy: (who: string) => `Applied by ${who}`,
  pinnedRun: "its run",
  pinnedUntilPerson: "Auto-update follows no commit until somebody resumes it.",
  pinnedUntilCommit: "Auto-update continues with the next new commit, or when somebody resumes it.",
  pinnedResume: "Resume auto-update",
  decisions: "Auto-update",
  decisionsAbout: "What it did about the newest commits.",
  decisionKinds: { taken: "Taken", waiting: "Waits for a person", skipped: "Skipped", deferred: "Later" },
  decisionReasons: {
    planned: "A plan was made.",
    applied: "It was planned, approved and applied without a person.",
    review: "Somebody has to approve and apply the plan.",
    destroys: "The plan destroys, replaces or forgets something.",
    configuration: "Nobody has applied this configuration yet.",
    pinned: "A rollback or restore holds the capsule.",
    automation_paused: "Automation of the workspace is paused.",
    lane_moved: "The ref has moved to another commit since.",
    source_stopped: "The source was disabled or stopped following its ref.",
    approval: "An approval rule requires more approvals.",
    capsule_not_ready: "The capsule's problem has to be resolved first.",
    refused: "It was refused.",
    already_applied: "This commit is what is applied.",
    planned_before: "It has already been planned.",
    queue_full: "The queue was full. It is planned as soon as there is room."
  }
}

const ja: typeof en = {
  pinnedTitle: "ロールバックまたは復元によって固定されています",
  pinnedBy: (who: string) => `適用した人: ${who}`,
  pinnedRun: "その実行",
  pinnedUntilPerson: "再開されるまで、自動更新はどのコミットにも追従しません。",
  pinnedUntilCommit: "次の新しいコミット、または再開の操作で、自動更新が再開します。",
  pinnedResume: "自動更新を再開",
  decisions: "自動更新",
  decisionsAbout: "新しいコミットをどう扱ったかを示します。",
  decisionKinds: { taken: "実施", waiting: "人の対応待ち", skipped: "見送り", deferred: "保留" },
  decisionReasons: {
    planned: "プランを作成しました。",
    applied: "人の操作なしにプラン、承認、適用されました。",
    review: "プランの承認と適用が必要です。",
    destroys: "プランに削除、置き換え、管理対象からの除外が含まれます。",
    configuration: "この構成はまだ適用されたことがありません。",
    pinned: "ロールバックまたは復元によって固定されています。",
    automation_paused: "ワークスペースの自動処理が一時停止中です。",
    lane_moved: "その後、ref は別のコミットを指しています。",
    source_stopped: "ソースが無効にされたか、ref の追跡が停止されました。",
    approval: "承認ルールにより、ほかの承認が必要です。",
    capsule_not_ready: "先にカプセルの問題を解消する必要があります。",
    refused: "拒否されました。",
    already_applied: "このコミットは適用済みです。",
    planned_before: "すでにプランされています。",
    queue_full: "待機列が上限に達していました。空きしだいプランされます。"
  }
}

export const autoUpdateWords = { en, ja }
