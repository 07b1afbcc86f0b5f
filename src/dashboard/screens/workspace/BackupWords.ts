const en = {
  download: "Download",
  restore: "Restore",
  restoreTitle: "Restore a capsule from this backup?",
  restoreText:
    "Nothing changes yet: a run shows the changes, and waits for approval. Once it is carried out, the capsule has the state and configuration of the backup, and needs a plan.",
  capsule: "Capsule",
  review: "Review the restore",
  server: "Backups of this server",
  serverAbout: "The operator's schedule creates and verifies them. Only operators see this.",
  serverNewest: "Newest verified backup",
  serverNone: "No backup yet. The first backup is made soon after the start; the log reports failures."
}

const ja: typeof en = {
  download: "ダウンロード",
  restore: "復元",
  restoreTitle: "このバックアップからカプセルを復元しますか？",
  restoreText:
    "まだ何も変更されません。実行に変更内容が表示され、承認を待ちます。復元すると、カプセルのステートと構成はバックアップの時点のものになり、新しいプランが必要です。",
  capsule: "カプセル",
  review: "復元の内容を確認",
  server: "このサーバーのバックアップ",
  serverAbout: "運用者が設定したスケジュールで作成され、検証されたバックアップです。運用者だけに表示されます。",
  serverNewest: "検証済みの最新バックアップ",
  serverNone: "まだありません。最初のバックアップは起動後まもなく作成されます。失敗はログに記録されます。"
}

export const backupWords = { en, ja }
