const en = {
  title: "Export",
  about:
    "Exports everything that Terraform or OpenTofu needs to continue without svc: the state, the module, and the inputs that are not secret. Nothing changes.",
  export: "Export capsule",
  ownerOnly: "Only an owner of this workspace can export a capsule.",
  never: "Nothing has been applied yet, so there is nothing to export.",
  dialogTitle: (name: string) => `Export ${name}?`,
  secrets:
    "The archive contains the state unencrypted, including the secrets of the infrastructure. Protect it like a password.",
  recorded: "The activity records the export and every download.",
  readyTitle: (name: string) => `The export of ${name} is ready`,
  until: "The link works only in this session and expires",
  supply: "The archive does not contain these inputs, so have them ready:",
  download: "Download the export",
  release:
    "svc still manages the infrastructure. Once a plan in the unpacked folder shows no changes, release the capsule. If both places apply, they overwrite each other's changes."
}

const ja: typeof en = {
  title: "エクスポート",
  about:
    "svc を使わずに Terraform や OpenTofu で続けるためのもの（ステート・モジュール・秘密でない入力）を書き出します。何も変更されません。",
  export: "エクスポート",
  ownerOnly: "エクスポートには、ワークスペースのオーナー権限が必要です。",
  never: "一度も適用されていないため、エクスポートするものがありません。",
  dialogTitle: (name: string) => `${name} をエクスポートしますか？`,
  secrets:
    "アーカイブにはステートが暗号化されずに含まれ、インフラの秘密の値も読み取れます。パスワードと同じように保管してください。",
  recorded: "エクスポートとダウンロードは、すべてアクティビティに記録されます。",
  readyTitle: (name: string) => `${name} のエクスポートの準備ができました`,
  until: "リンクはこのセッションでのみ有効です。有効期限:",
  supply: "次の入力はアーカイブに含まれません。手元に用意してください:",
  download: "ダウンロード",
  release:
    "インフラはまだ svc が管理しています。展開したフォルダーのプランに変更がないことを確認したら、カプセルの管理を終了してください。両方から適用すると、互いに上書きしてしまいます。"
}

export const exportWords = { en, ja }
