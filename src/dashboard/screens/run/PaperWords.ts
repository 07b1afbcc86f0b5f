const en = {
  print: "Print",
  save: "Save as a page",
  taken: (time: string) => `As of ${time}`,
  address: "Address",
  run: "Run",
  digest: "Plan digest",
  plannedBy: "Planned by",
  decision: "Decision",
  undecided: "Nobody has decided yet.",
  approved: (name: string, time: string) => `Approved by ${name}, ${time}`,
  ended: (what: string, name: string, time: string) => `${what} by ${name}, ${time}`,
  notes: "Warnings and errors",
  checks: "Checks of the module",
  noChanges: "No resource changes.",
  unchanged: (count: number) => `… ${count} unchanged`,
  moved: (from: number, to: number) => `moved from place ${from} to ${to}`
}

const ja: typeof en = {
  print: "印刷",
  save: "ページとして保存",
  taken: (time: string) => `${time} 時点`,
  address: "アドレス",
  run: "実行",
  digest: "プランのダイジェスト",
  plannedBy: "プラン作成者",
  decision: "判断",
  undecided: "まだ誰も判断していません。",
  approved: (name: string, time: string) => `${name} が承認（${time}）`,
  ended: (what: string, name: string, time: string) => `${what}: ${name}（${time}）`,
  notes: "警告とエラー",
  checks: "モジュールの確認",
  noChanges: "リソースの変更はありません。",
  unchanged: (count: number) => `… 変更なし ${count}`,
  moved: (from: number, to: number) => `${from} 番目から ${to} 番目へ移動`
}

export const paperWords = { en, ja }
