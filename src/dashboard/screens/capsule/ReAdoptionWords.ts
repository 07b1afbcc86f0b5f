const en = {
  title: "Re-adoption",
  about:
    "Derives this capsule's configuration again from the operator's current settings. It changes no infrastructure and makes no plan.",
  start: "Re-adopt…",
  dialogTitle: (name: string) => `Re-adopt ${name}`,
  voids: "Every plan that is not applied yet becomes void. Plan the capsule afterwards.",
  checkFailedTitle: "Only a check after the apply failed",
  checkFailedText:
    "The apply succeeded; its state and outputs are saved. Fix the problem that the check found and plan again. If the check itself was wrong and the operator has corrected it, re-adopt the capsule, then plan and apply it.",
  afterCheck: "The capsule stays in error until a new plan has been applied.",
  reason: "Reason",
  reasonHelp: "Everybody in the workspace can read it in the activity. Do not enter secrets.",
  snapshot: "Snapshot",
  snapshots: {
    configuration: (id: string) => `Current configuration (${id})`,
    adopted: (id: string) => `Last applied (${id})`
  },
  noSnapshot: "This capsule has no source snapshot to re-adopt. Plan it first.",
  review: "Enter the inputs again",
  reviewHelp:
    "Replaces all inputs that are not secret. An optional input that you leave empty is unset. If this is off, all inputs keep their values.",
  noInputs: "This module has no inputs to review. All values are kept.",
  disabled: "A disabled capsule cannot be re-adopted. Enable it first.",
  submit: "Re-adopt",
  done: "The capsule was re-adopted. Plan it next."
}

const ja: typeof en = {
  title: "再採用",
  about:
    "現在の運用者の設定に基づいて、このカプセルの構成を作り直します。インフラは変更されず、プランも作成されません。",
  start: "再採用…",
  dialogTitle: (name: string) => `${name} を再採用`,
  voids: "まだ適用されていないプランは、すべて無効になります。再採用のあとでプランを作成してください。",
  checkFailedTitle: "適用後の確認だけが失敗しました",
  checkFailedText:
    "適用は成功し、ステートと出力は保存されています。確認の対象を修正して、もう一度プランを作成してください。確認の設定が誤っていて、運用者が修正した場合は、カプセルを再採用してから、プランを作成して適用してください。",
  afterCheck: "新しいプランが適用されるまで、カプセルはエラーのままです。",
  reason: "理由",
  reasonHelp: "アクティビティに記録され、ワークスペースの全員が閲覧できます。秘密の値は書かないでください。",
  snapshot: "スナップショット",
  snapshots: {
    configuration: (id: string) => `現在の構成のもの (${id})`,
    adopted: (id: string) => `最後に適用したもの (${id})`
  },
  noSnapshot: "再採用できるソーススナップショットがありません。先にプランを作成してください。",
  review: "入力を指定し直す",
  reviewHelp:
    "秘密の値を除くすべての入力を置き換えます。空のままの任意の入力は未設定になります。選ばない場合、入力はすべて現在の値のままです。",
  noInputs: "このモジュールには、見直す入力がありません。値はすべてそのままです。",
  disabled: "無効なカプセルは再採用できません。先に有効にしてください。",
  submit: "再採用",
  done: "カプセルを再採用しました。次にプランを作成してください。"
}

export const reAdoptionWords = { en, ja }
