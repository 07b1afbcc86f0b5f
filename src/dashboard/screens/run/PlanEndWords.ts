const en = {
  title: "This plan can no longer be decided on",
  reasons: {
    superseded:
      "It was superseded: a newer plan or configuration replaced it, or a value that it used is no longer available.",
    expired: "It expired: nobody approved it in time.",
    withdrawn: "Its approval was withdrawn, which voids the plan.",
    discarded: "Somebody discarded it.",
    failed: "It failed.",
    applied: "Somebody has already started its apply.",
    capsule_ended: "Its capsule has ended.",
    moved: "The capsule has changed since: its configuration, state or authority differs from the plan's.",
    lapsed: "An approval that it needs no longer counts. Close this dialog to see which approvals are missing."
  },
  newer: "Open the newer plan"
}

const ja: typeof en = {
  title: "このプランはもう承認・適用できません",
  reasons: {
    superseded: "新しいプランまたは構成に置き換えられたか、使った値が提供されなくなりました。",
    expired: "承認の期限が過ぎ、失効しました。",
    withdrawn: "承認が取り消され、プランは無効になりました。",
    discarded: "ほかの人が取り下げました。",
    failed: "プランは失敗しました。",
    applied: "ほかの人がすでに適用を開始しました。",
    capsule_ended: "カプセルは終了しています。",
    moved: "プランの作成後に、カプセルの構成・ステート・権限のいずれかが変わりました。",
    lapsed: "必要な承認が無効になりました。このダイアログを閉じると、足りない承認を確認できます。"
  },
  newer: "新しいプランを開く"
}

export const planEndWords = { en, ja }
