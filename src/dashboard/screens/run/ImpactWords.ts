import { counted } from "../../words/Format.ts"

const en = {
  title: "Before you decide",
  takers: "Capsules that take the changed outputs",
  noOutputs: "No output changes.",
  noTakers: (outputs: string) => `No capsule takes them: ${outputs}.`,
  noTakersAtAll: "No capsule takes its outputs.",
  takes: "takes",
  becomesStale: "becomes stale after the apply; plan it then",
  plannedNext: "is planned next in this update",
  losesThem: "has no outputs to read after the apply",
  otherWorkspace: "Another workspace",
  cost: "Cost per month",
  noCost: "No estimate.",
  costSetUp: "The operator lists the prices of resources under prices in the policy file:",
  costLeftOut: "Not in the sum:",
  costReason: (reason: string) => reason,
  checks: "Checks of the module",
  checkStates: { pass: "passed", fail: "failed", error: "not evaluated", unknown: "known after apply" },
  noChecks:
    "The module has none. A check block, or a condition of a resource, an output or a variable, would be listed here.",
  moreChecks: (count: number) => `and ${counted(count, "more check")}`,
  afterApply: "Checks after the apply",
  noAfterApply: "Not set up. The operator adds them as lifecycle.postApply of a base configuration:",
  loading: "Reading…"
}

/**
 * The reasons, as `actors/ledger/run/CostEstimates.ts` writes them: either for the whole plan, or after a resource type and
 * its count.
 */
const japaneseReasons: ReadonlyMap<string, string> = new Map(
  Object.entries({
    "The operator of this server has given no price table.": "このサーバーの運用者は価格表を設定していません。",
    "This Run has no plan to estimate.": "この実行には、見積もりの対象となるプランがありません。",
    "the price table has no price.": "価格表に価格がありません。",
    "its price depends on a value that is not known before the apply, or not shown.":
      "適用前に確定しない値、または表示されない値によって価格が決まります。"
  })
)

const japaneseReason = (reason: string): string => {
  const whole = japaneseReasons.get(reason)
  if (whole !== undefined) return whole
  const [, type, count, why] = /^(\S+) \((\d+)\): (.+)$/.exec(reason) ?? []
  const known = why === undefined ? undefined : japaneseReasons.get(why)
  return known === undefined ? reason : `${type}（${count} 件）: ${known}`
}

const ja: typeof en = {
  title: "判断の前に",
  takers: "変更される出力の利用先",
  noOutputs: "出力は変更されません。",
  noTakers: (outputs: string) => `利用しているカプセルはありません（${outputs}）。`,
  noTakersAtAll: "出力を利用しているカプセルはありません。",
  takes: "が利用:",
  becomesStale: "適用後に古くなります。適用してからプランを作成してください",
  plannedNext: "この更新で次にプランが作成されます",
  losesThem: "適用後は読み取る出力がなくなります",
  otherWorkspace: "別のワークスペース",
  cost: "月額費用",
  noCost: "見積もりはありません。",
  costSetUp: "運用者が、ポリシーファイルの prices にリソースの価格を設定します:",
  costLeftOut: "合計に含まれないもの:",
  costReason: japaneseReason,
  checks: "モジュールの確認",
  checkStates: { pass: "成功", fail: "失敗", error: "評価不能", unknown: "適用後に確定" },
  noChecks:
    "モジュールに定義されていません。check ブロックや、リソース、出力、変数の条件があれば、ここに表示されます。",
  moreChecks: (count: number) => `ほか ${count} 件`,
  afterApply: "適用後の確認",
  noAfterApply: "設定されていません。運用者が、ベース構成の lifecycle.postApply に追加します:",
  loading: "読み込み中…"
}

export const impactWords = { en, ja }
