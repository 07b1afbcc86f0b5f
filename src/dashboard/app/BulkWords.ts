import { counted } from "../words/Format.ts"

const en = {
  choose: (name: string) => `Choose the plan of ${name}`,
  chooseAll: (count: number) => `Choose all ${counted(count, "plan")} that destroy nothing`,
  chosen: (count: number) => `${counted(count, "plan")} chosen`,
  bar: "Chosen plans",
  only: { create: "only creates", update: "only updates", import: "only imports", none: "no changes" },
  approve: "Approve",
  discard: "Discard",
  clear: "Clear the choice",
  approveTitle: (count: number) => `Approve ${counted(count, "plan")}?`,
  approveText:
    "Each approval is for exactly the plan that is listed here. A plan that has changed or needs a separate confirmation is refused and does not change.",
  discardTitle: (count: number) => `Discard ${counted(count, "plan")}?`,
  discardText: "Nothing has been changed. New plans can be made at any time.",
  approveAndApply: (count: number) => `Approve and apply ${count}`,
  approveOnly: "Approve only",
  comment: "Comment",
  reason: "Reason",
  discardDo: (count: number) => `Discard ${counted(count, "plan")}`,
  resultTitle: (failed: number, of: number) => `${failed} of ${counted(of, "plan")} could not be decided`,
  results: {
    applied: "Approved, and its apply has started",
    approved: "Approved",
    given: "Your approval is recorded; more approvals are needed",
    discarded: "Discarded"
  },
  done: (count: number) => `${counted(count, "plan")} decided.`
}

const ja: typeof en = {
  choose: (name) => `${name} のプランを選ぶ`,
  chooseAll: (count) => `何も削除しないプラン ${count} 件をすべて選ぶ`,
  chosen: (count) => `${count} 件のプランを選択中`,
  bar: "選択したプラン",
  only: { create: "作成のみ", update: "更新のみ", import: "取り込みのみ", none: "変更なし" },
  approve: "承認",
  discard: "取り下げ",
  clear: "選択を解除",
  approveTitle: (count) => `${count} 件のプランを承認しますか？`,
  approveText:
    "承認の対象は、ここに表示されているプランそのものです。内容が変わったプランや個別の確認が必要なプランは拒否され、そのまま残ります。",
  discardTitle: (count) => `${count} 件のプランを取り下げますか？`,
  discardText: "変更は何も行われていません。プランはいつでも作り直せます。",
  approveAndApply: (count) => `${count} 件を承認して適用`,
  approveOnly: "承認のみ",
  comment: "コメント",
  reason: "理由",
  discardDo: (count) => `${count} 件のプランを取り下げる`,
  resultTitle: (failed, of) => `${of} 件のうち ${failed} 件のプランを処理できませんでした`,
  results: {
    applied: "承認し、適用を開始しました",
    approved: "承認しました",
    given: "承認を記録しました。ほかの承認を待っています",
    discarded: "取り下げました"
  },
  done: (count) => `${count} 件のプランを処理しました。`
}

export const bulkWords = { en, ja }
