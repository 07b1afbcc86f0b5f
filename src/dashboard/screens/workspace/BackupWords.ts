const en = {
  download: "Download",
  restore: "Restore",
  restoreTitle: "Restore a capsule from this backup?",
  restoreText:
    "Nothing changes yet: a run says what the backup would change, and waits for approval. Once it is carried out, the capsule has the state and configuration of the backup, and needs a plan.",
  capsule: "Capsule",
  review: "Review the restore"
}

const ja: typeof en = {
  download: "ダウンロード",
  restore: "復元",
  restoreTitle: "このバックアップからカプセルを復元しますか？",
  restoreText:
    "まだ何も変更されません。変更される内容を実行が示し、承認を待ちます。復元すると、カプセルの状態と構成はバックアップの時点のものになり、新しいプランが必要です。",
  capsule: "カプセル",
  review: "復元の内容を確認"
}

export const backupWords = { en, ja }
