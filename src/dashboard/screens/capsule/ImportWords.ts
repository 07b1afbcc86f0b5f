const en = {
  title: "Imported, and disabled until its original is given up",
  text: (name: string) =>
    `This capsule comes from a backup of “${name}” on another svc. Both would manage the same infrastructure, and this server cannot lock the original: release it there first.`,
  ownerOnly: "An owner of this workspace confirms that. Then the first plan is made.",
  confirm: "Confirm that the original is given up",
  dialogTitle: (name: string) => `Does the original of ${name} manage nothing any more?`,
  dialogText:
    "From now on this svc manages the infrastructure, and nobody else may. A plan is made at once; nothing is applied until somebody approves it.",
  from: "Backup of"
}

const ja: typeof en = {
  title: "インポート済み。移行元が手放されるまで無効です",
  text: (name: string) =>
    `このカプセルは、別の svc にある「${name}」のバックアップから作成されました。両方が同じインフラを管理することになり、このサーバーから移行元をロックすることはできません。先に移行元を解放してください。`,
  ownerOnly: "このワークスペースのオーナーが確認すると、最初のプランが作成されます。",
  confirm: "移行元を手放したことを確認",
  dialogTitle: (name: string) => `${name} の移行元は、もう何も管理していませんか？`,
  dialogText:
    "今後はこの svc だけがこのインフラを管理します。すぐにプランが作成されますが、承認されるまで何も適用されません。",
  from: "バックアップの日時"
}

export const importWords = { en, ja }
