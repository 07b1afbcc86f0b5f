const en = {
  title: "Release",
  about:
    "Stops managing this capsule without destroying anything. Use it if the infrastructure is already gone or is now managed elsewhere. This cannot be undone.",
  release: "Release capsule",
  dialogTitle: (name: string) => `Release ${name}?`,
  keeps: "State versions, outputs, runs, logs and the activity stay readable.",
  ends: "It can no longer be planned, applied or checked. Its sign-in client, interfaces and shares end, and waiting plans become void.",
  consumers: (names: string) => `The next plan of these capsules receives no values from it: ${names}.`,
  never: "Nothing has been applied yet. Remove the capsule instead, below.",
  why: "State of its infrastructure",
  reasons: { infrastructure_gone: "It is gone", moved_elsewhere: "It moved elsewhere" },
  comment: "Comment",
  commentHelp: "Shown on the capsule and in the activity.",
  ownerOnly: "Only an owner of this workspace can release a capsule.",
  done: "The capsule was released.",
  releasedTitle: "This capsule was released",
  ended: {
    infrastructure_gone: "Its infrastructure was gone. Nothing was destroyed, and its history remains available.",
    moved_elsewhere:
      "Somebody else manages its infrastructure. Nothing was destroyed, and its history remains available."
  },
  releasedBy: (name: string) => `By ${name}`
}

const ja: typeof en = {
  title: "管理の終了",
  about:
    "何も削除せずに、このカプセルの管理を終了します。インフラがすでに存在しない場合や、今後は別の場所で管理する場合に使います。元には戻せません。",
  release: "管理を終了",
  dialogTitle: (name: string) => `${name} の管理を終了しますか？`,
  keeps: "ステート・出力・実行・ログ・アクティビティは、引き続き閲覧できます。",
  ends: "プラン・適用・確認はできなくなります。サインインクライアント・インターフェース・共有は終了し、待機中のプランは無効になります。",
  consumers: (names: string) => `次のカプセルには、次のプランから値が渡されなくなります: ${names}`,
  never: "一度も適用されていません。下の「削除」を使ってください。",
  why: "インフラの状況",
  reasons: { infrastructure_gone: "すでに存在しない", moved_elsewhere: "別の場所で管理する" },
  comment: "コメント",
  commentHelp: "カプセルとアクティビティに記録されます。",
  ownerOnly: "管理の終了には、ワークスペースのオーナー権限が必要です。",
  done: "カプセルの管理を終了しました。",
  releasedTitle: "このカプセルの管理は終了しました",
  ended: {
    infrastructure_gone: "インフラはすでに存在しませんでした。何も削除されておらず、履歴は残っています。",
    moved_elsewhere: "インフラは別の場所で管理されています。何も削除されておらず、履歴は残っています。"
  },
  releasedBy: (name: string) => `実行者: ${name}`
}

export const releaseWords = { en, ja }
