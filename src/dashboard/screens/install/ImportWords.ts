const en = {
  title: "Import from a backup",
  about:
    "For a capsule of another svc installation. Upload the backup that you downloaded there. The operator of this server must first add the other installation's master key to its settings. The new capsule stays disabled until an owner confirms that the original no longer manages the infrastructure.",
  file: "Backup file",
  fileHelp: "The file that you downloaded as a backup. At most 128 MiB.",
  tooLarge: "The file is larger than 128 MiB.",
  capsule: "Capsule of the backup",
  upload: "Upload the backup",
  from: (name: string) => `Capsule ${name} of another installation`,
  origin: "Imported from",
  unlocked: "The other installation is not locked",
  unlockedText:
    "If both manage the same infrastructure, each destroys the other's work. Release the capsule there. This install makes no plan: the new capsule is disabled until you confirm.",
  create: "Create the capsule"
}

const ja: typeof en = {
  title: "バックアップからインポートする",
  about:
    "別の svc のカプセル向けです。そこでダウンロードしたバックアップをアップロードします。この環境の設定に、元の環境のマスターキーが必要です。運用担当者が追加します。新しいカプセルは、元のカプセルによる管理が終了したことをオーナーが確認するまで無効です。",
  file: "バックアップファイル",
  fileHelp: "バックアップのダウンロードで保存したファイル。最大 128 MiB。",
  tooLarge: "ファイルが 128 MiB を超えています。",
  capsule: "バックアップ内のカプセル",
  upload: "バックアップをアップロードする",
  from: (name: string) => `別の環境のカプセル ${name}`,
  origin: "インポート元",
  unlocked: "元の環境はロックされません",
  unlockedText:
    "両方が同じインフラを管理すると、互いの変更を破壊します。元の環境でカプセルの管理を終了してください。このインストールではプランを作成しません。確認するまで新しいカプセルは無効です。",
  create: "カプセルを作成する"
}

export const importWords = { en, ja }
