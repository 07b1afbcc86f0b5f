import type { ChangeCause } from "../../api/Types.ts"

type Change = Extract<ChangeCause, { readonly kind: "input" }>["change"]

const en = {
  first: "This is the first apply by svc, so there is no earlier state to compare: everything is new.",
  destroy: "This plan was requested to destroy everything.",
  notRecorded: "This run recorded too little to explain the change.",
  since: "What differs since the last apply:",
  nothing:
    "Nothing that is recorded differs since the last apply. What changes comes from what the module reads or computes itself, or from its providers.",
  unknown: {
    commit: "The commit of the last apply is not known, so it may differ as well.",
    inputs: "The inputs of the last apply are not known, so they may differ as well."
  },
  because: (cause: string) => `Because ${cause}.`,
  possible: (causes: ReadonlyArray<string>) =>
    causes.length === 1
      ? `Possibly because ${causes[0]}. The evidence does not prove it.`
      : `Possibly because ${causes.slice(0, -1).join(", ")} or ${causes.at(-1)}. The evidence does not single out one.`,
  unexplained: "Nothing that is recorded explains this.",
  commit: (from: string, to: string, fileCount: number | undefined) =>
    fileCount === undefined
      ? `the commit is ${to} instead of ${from}`
      : `the commit ${to} changes ${fileCount === 1 ? "1 file" : `${fileCount} files`} of the module since ${from}`,
  input: (input: string, change: Change) =>
    `the input ${input} ${{ added: "was set", changed: "has another value", removed: "is no longer set" }[change]}`,
  dependency: (input: string, change: Change, capsule: string | undefined) =>
    `${capsule === undefined ? "another capsule" : `the capsule ${capsule}`} ${
      { added: "now gives", changed: "gives another", removed: "no longer gives a" }[change]
    } value for the input ${input}`,
  driftHere: "it was changed outside of svc",
  drift: (names: string, count: number) =>
    count === 1 ? `${names} was changed outside of svc` : `${count} resources were changed outside of svc: ${names}`,
  resource: (names: string, count: number) =>
    count === 0
      ? "a resource changes that it has to be replaced with"
      : `it refers to ${names}, which ${count === 1 ? "changes" : "change"}`,
  data: (names: string) => `${names} may read something else than at the last apply`,
  connection: "other connections serve its providers",
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
  because: (cause: string) => `理由: ${cause}。`,
  possible: (causes: ReadonlyArray<string>) =>
    causes.length === 1
      ? `考えられる理由: ${causes[0]}。記録だけでは断定できません。`
      : `考えられる理由: ${causes.join("、または")}。記録だけでは一つに絞れません。`,
  unexplained: "記録されている範囲では、この変更の理由は分かりません。",
  commit: (from: string, to: string, fileCount: number | undefined) =>
    fileCount === undefined
      ? `コミットが ${from} から ${to} に変わった`
      : `コミット ${to} で、${from} からモジュールの ${fileCount} ファイルが変わった`,
  input: (input: string, change: Change) =>
    `入力 ${input} ${{ added: "が設定された", changed: "の値が変わった", removed: "の設定がなくなった" }[change]}`,
  dependency: (input: string, change: Change, capsule: string | undefined) =>
    `${capsule === undefined ? "ほかのカプセル" : `カプセル ${capsule} `}から入力 ${input} ${
      { added: "に値が渡されるようになった", changed: "に渡される値が変わった", removed: "に値が渡されなくなった" }[
        change
      ]
    }`,
  driftHere: "svc の外で変更された",
  drift: (names: string, count: number) =>
    count === 1 ? `${names} が svc の外で変更された` : `${count} 個のリソースが svc の外で変更された: ${names}`,
  resource: (names: string, count: number) =>
    count === 0 ? "一緒に置き換えるよう指定されたリソースが変わる" : `参照している ${names} が変わる`,
  data: (names: string) => `${names} が前回の適用時と異なる値を読み取る可能性がある`,
  connection: "プロバイダーに使う接続が異なる",
  operator: "運用者のプロファイルまたは基本構成が異なる",
  tool: "ツールまたはプロバイダーのバージョンが異なる",
  unfinished: "前回の適用が完了せずに終わった",
  function: "timestamp() など、毎回異なる結果になる関数をモジュールが使っている"
}

export const whyWords = { en, ja }
