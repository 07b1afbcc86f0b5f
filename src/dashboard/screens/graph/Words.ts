const en = {
  title: "Dependency graph",
  about: "Which capsule takes outputs from which. Changes flow in the direction of the arrows.",
  emptyTitle: "No dependencies",
  emptyText: "When one capsule takes in an output of another one, both appear here with the link between them.",
  list: "The same as a list",
  takes: (from: string) => `takes from ${from}`
}

const ja: typeof en = {
  title: "依存グラフ",
  about: "カプセル間の出力の受け渡しです。変更は矢印の向きに伝わります。",
  emptyTitle: "依存関係はありません",
  emptyText: "あるカプセルが別のカプセルの出力を受け取ると、両者の関係がここに表示されます。",
  list: "一覧で表示",
  takes: (from: string) => `${from} から受け取る`
}

export const graphWords = { en, ja }
