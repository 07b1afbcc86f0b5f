const en = {
  title: "Update",
  about:
    "A capsule that uses outputs of other capsules is planned after they were applied. Nobody has to start the next wave.",
  wave: (number: number) => `Wave ${number}`,
  statuses: {
    running: "Going on",
    waiting_approval: "Needs a person",
    succeeded: "Done",
    failed: "Stopped",
    cancelled: "Cancelled",
    waiting: "Waiting"
  },
  states: {
    waiting: "Waiting",
    planning: "Being planned",
    waiting_approval: "To review",
    approved: "Approved, to apply",
    applying: "Being applied",
    applied: "Applied",
    left_out: "Left out",
    failed: "Failed",
    cancelled: "Cancelled"
  },
  reasons: {},
  waitsFor: "Waits for",
  review: "Review",
  openPlan: "Open the plan",
  openApply: "Open the apply",
  held: "The update is held",
  stopped: "Some capsules were not updated",
  stoppedText:
    "Capsules that use their outputs wait. Plan the failed capsules again to continue: the new plan belongs to this update.",
  replaced: "A newer update took the place of this one.",
  openNewer: "Open it",
  cancel: "Cancel the update",
  cancelTitle: "Cancel this update?",
  cancelText: "svc makes no further plans, and plans that are not applied become void. Applies in progress continue.",
  started: "Started"
}

const ja: typeof en = {
  title: "更新",
  about: "出力を受け取るカプセルは、その元が適用された後にプランされます。次の段階を指示する必要はありません。",
  wave: (number: number) => `第 ${number} 段階`,
  statuses: {
    running: "進行中",
    waiting_approval: "対応が必要",
    succeeded: "完了",
    failed: "停止",
    cancelled: "取り消し済み",
    waiting: "待機中"
  },
  states: {
    waiting: "待機中",
    planning: "プラン中",
    waiting_approval: "レビュー待ち",
    approved: "承認済み・適用待ち",
    applying: "適用中",
    applied: "適用済み",
    left_out: "対象外",
    failed: "失敗",
    cancelled: "取り消し済み"
  },
  reasons: {
    inputs_unchanged: "更新されたカプセルから受け取る値に変更がないため、更新するものがありません。",
    capsule_disabled: "カプセルは無効になっています。",
    capsule_destroyed: "カプセルは削除されています。",
    capsule_released: "カプセルは svc の管理から外れています。",
    expired: "プランの有効期限が切れました。続けるには、再度プランしてください。"
  },
  waitsFor: "待機先:",
  review: "レビュー",
  openPlan: "プランを開く",
  openApply: "適用を開く",
  held: "更新は保留されています",
  stopped: "更新されなかったカプセルがあります",
  stoppedText:
    "その出力を受け取るカプセルは待機しています。再度プランすると、そのプランはこの更新に含まれ、続きが進みます。",
  replaced: "新しい更新に置き換えられました。",
  openNewer: "開く",
  cancel: "更新を取り消す",
  cancelTitle: "この更新を取り消しますか？",
  cancelText: "以降はプランされず、未適用のプランは無効になります。適用中のものはそのまま続きます。",
  started: "開始"
}

export const updateWords = { en, ja }
