const en = {
  title: "This capsule was imported and is disabled",
  text: (name: string) =>
    `It was copied from the capsule ${name} of another installation, which svc cannot lock. If both manage the same infrastructure, each destroys the other's work. Release the original first.`,
  asOf: "Its state is as it was in the backup, from",
  ownerOnly: "An owner must confirm that the original no longer manages its infrastructure.",
  confirm: "Confirm the import",
  dialogTitle: (name: string) => `Confirm the import of ${name}`,
  effect:
    "The capsule can then be planned. Nothing is applied automatically: the first plan shows the differences between the backup and the real infrastructure, and must be approved.",
  stated: "By typing the name, you confirm that the original no longer manages this infrastructure.",
  done: "Import confirmed. Plan the capsule next."
}

const ja: typeof en = {
  title: "このカプセルはインポートされたもので、無効です",
  text: (name: string) =>
    `別の環境のカプセル ${name} からインポートされました。元の環境はロックされません。両方が同じインフラを管理すると、互いの変更を破壊します。先に元のカプセルの管理を終了してください。`,
  asOf: "ステートはバックアップ時点のものです:",
  ownerOnly: "元のカプセルによる管理が終了したことを、オーナーが確認する必要があります。",
  confirm: "インポートを確認する",
  dialogTitle: (name: string) => `${name} のインポートを確認する`,
  effect:
    "確認するとプランを作成できます。自動的に適用されることはありません。最初のプランにはバックアップと実際のインフラとの違いが表示され、承認が必要です。",
  stated: "入力することで、元のカプセルがこのインフラをもう管理していないことを表明します。",
  done: "インポートを確認しました。次にプランを作成してください。"
}

export const importConfirmationWords = { en, ja }
