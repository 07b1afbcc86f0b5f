import type { ChangeCause } from "../../api/Types.ts"
import { counted } from "../../words/Format.ts"

type Change = Extract<ChangeCause, { readonly kind: "input" }>["change"]

const en = {
  first: "This is the first apply by svc, so there is no earlier state to compare: everything is new.",
  destroy: "This plan was requested to destroy everything.",
  notRecorded: "This run recorded too little to explain the change.",
  since: "Differences since the last apply:",
  nothing:
    "No recorded input differs since the last apply. The changes come from data that the module reads or computes, or from its providers.",
  unknown: {
    commit: "The commit of the last apply is not known, so it may differ as well.",
    inputs: "The inputs of the last apply are not known, so they may differ as well."
  },
  because: (cause: string) => `Because ${cause}.`,
  possible: (causes: ReadonlyArray<string>) =>
    causes.length === 1
      ? `Possibly because ${causes[0]}. The evidence does not prove it.`
      : `Possibly because ${causes.slice(0, -1).join(", ")} or ${causes.at(-1)}. The evidence does not single out one.`,
  unexplained: "No recorded change explains this.",
  commit: (from: string, to: string, fileCount: number | undefined) =>
    fileCount === undefined
      ? `the commit changes from ${from} to ${to}`
      : `the commit changes from ${from} to ${to}: ${counted(fileCount, "file")} of the module`,
  input: (input: string, change: Change) =>
    `the input ${input} ${{ added: "was set", changed: "has another value", removed: "is no longer set" }[change]}`,
  dependency: (input: string, change: Change, capsule: string | undefined) =>
    `${capsule === undefined ? "another capsule" : `the capsule ${capsule}`} ${
      { added: "now provides a", changed: "provides a different", removed: "no longer provides a" }[change]
    } value for the input ${input}`,
  driftHere: "it was changed outside of svc",
  drift: (names: string, count: number) =>
    count === 1 ? `${names} was changed outside of svc` : `${count} resources were changed outside of svc: ${names}`,
  resource: (names: string, count: number) =>
    count === 0
      ? "it must be replaced together with a resource that changes"
      : `it refers to ${names}, which ${count === 1 ? "changes" : "change"}`,
  data: (names: string) => `${names} may read other values than at the last apply`,
  connection: "its providers use different connections",
  operator: "the operator's profile or base configuration differs",
  tool: "the tool or a provider has another version",
  unfinished: "the last apply ended before it was complete",
  function: "a function of the module, such as timestamp(), gives another result each time"
}

const ja: typeof en = {
  first: "svc はここにまだ何も適用していないため、比較の対象がありません。すべてが svc にとって新規です。",
  destroy: "すべてを削除するために作成されたプランです。",
  notRecorded: "この実行には、理由を示せるだけの記録がありません。",
  since: "前回の適用から異なるもの:",
  nothing:
    "記録されている範囲では、前回の適用から異なるものはありません。変更は、モジュールが自ら読み取る値や計算する値、またはプロバイダーによるものです。",
  unknown: {
    commit: "前回適用したコミットが不明なため、コミットも異なる可能性があります。",
    inputs: "前回適用した入力が不明なため、入力も異なる可能性があります。"
  },
  because: (cause: string) => `理由: ${cause}`,
  possible: (causes: ReadonlyArray<string>) =>
    causes.length === 1
      ? `考えられる理由: ${causes[0]}（記録だけでは断定できません）`
      : `考えられる理由: ${causes.join("、または")}（記録だけでは一つに絞れません）`,
  unexplained: "記録されている範囲では、この変更の理由は分かりません。",
  commit: (from: string, to: string, fileCount: number | undefined) =>
    fileCount === undefined
      ? `コミットの変更（${from} → ${to}）`
      : `コミットの変更（${from} → ${to}、モジュールの ${fileCount} ファイル）`,
  input: (input: string, change: Change) =>
    `入力 ${input} の${{ added: "設定", changed: "値の変更", removed: "設定の削除" }[change]}`,
  dependency: (input: string, change: Change, capsule: string | undefined) =>
    `${capsule === undefined ? "ほかのカプセル" : `カプセル ${capsule} `}から入力 ${input} に渡される値の${
      { added: "追加", changed: "変更", removed: "終了" }[change]
    }`,
  driftHere: "svc の外で行われた変更",
  drift: (names: string, count: number) =>
    count === 1 ? `svc の外で行われた ${names} の変更` : `svc の外で行われた ${count} 個のリソースの変更（${names}）`,
  resource: (names: string, count: number) =>
    count === 0 ? "一緒に置き換えるよう指定されたリソースの変更" : `参照先 ${names} の変更`,
  data: (names: string) => `${names} が読み取る値の変化（可能性）`,
  connection: "プロバイダーに使う接続の変更",
  operator: "運用者のプロファイルまたは基本構成の変更",
  tool: "ツールまたはプロバイダーのバージョンの変更",
  unfinished: "前回の適用が完了していないこと",
  function: "timestamp() など、毎回異なる結果を返す関数の使用"
}

export const whyWords = { en, ja }
