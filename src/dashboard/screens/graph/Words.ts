import { counted } from "../../words/Format.ts"

const en = {
  title: "Dependency graph",
  about: (capsules: number, links: number, layers: number) =>
    `Capsules that take outputs from each other: ${counted(capsules, "capsule")}, ${counted(links, "link")}, ${counted(layers, "layer")}.`,
  apart: (count: number) => `${counted(count, "other capsule has none", "other capsules have none")}.`,
  emptyTitle: "No dependencies",
  emptyText: "If a capsule takes an output of another capsule, both appear here with a link between them.",
  overview: (count: number) => `All ${count}, by layer`,
  overviewAbout: "layer 0 takes from none; changes flow to the right",
  layer: (layer: number, count: number) => `Layer ${layer}, ${counted(count, "capsule")}`,
  touched: (name: string) => `${name} and its connected capsules`,
  needsSomeone: "needs someone",
  allLinks: "Show all links",
  search: "Search by name or environment",
  found: (count: number, all: number) => `${count} of ${all}`,
  results: "Capsules",
  inOut: (takes: number, gives: number) => `${takes} in · ${gives} out`,
  nothingFound: "No capsule matches.",
  takesFrom: (count: number) => `Takes from ${count}`,
  givesTo: (count: number) => `Gives to ${count}`,
  further: (count: number) => `${count} further down`,
  furtherUp: (count: number) => `${count} further up`,
  takesNothing: "Takes from no other capsule.",
  givesNothing: "No other capsule takes from it.",
  around: (name: string) => `${name} and its neighbours`,
  open: "Open the capsule",
  changeReaches: (count: number) =>
    count === 0
      ? "A change of its outputs reaches no other capsule."
      : `A change of its outputs can reach ${counted(count, "capsule")}.`,
  all: (count: number) => `Show all ${count}`,
  keys: { walk: "walk along the links", centre: "centre", search: "search" },
  list: "The same graph as a list",
  takes: (from: string) => `takes from ${from}`
}

const ja: typeof en = {
  title: "依存グラフ",
  about: (capsules: number, links: number, layers: number) =>
    `カプセル間の出力の受け渡しです。カプセル ${capsules} 個、リンク ${links} 本、${layers} 層。`,
  apart: (count: number) => `ほかの ${count} 個には依存関係がありません。`,
  emptyTitle: "依存関係はありません",
  emptyText: "あるカプセルが別のカプセルの出力を受け取ると、両者の関係がここに表示されます。",
  overview: (count: number) => `全 ${count} 個（層別）`,
  overviewAbout: "層 0 は何も受け取りません。変更は右へ伝わります",
  layer: (layer: number, count: number) => `層 ${layer}、カプセル ${count} 個`,
  touched: (name: string) => `${name} と影響の及ぶ範囲`,
  needsSomeone: "対応が必要",
  allLinks: "すべてのリンクを表示",
  search: "名前・環境で検索",
  found: (count: number, all: number) => `${all} 個中 ${count} 個`,
  results: "カプセル",
  inOut: (takes: number, gives: number) => `入 ${takes} · 出 ${gives}`,
  nothingFound: "該当するカプセルはありません。",
  takesFrom: (count: number) => `受け取り元 ${count}`,
  givesTo: (count: number) => `受け渡し先 ${count}`,
  further: (count: number) => `その先に ${count} 個`,
  furtherUp: (count: number) => `その手前に ${count} 個`,
  takesNothing: "ほかのカプセルからは受け取りません。",
  givesNothing: "ほかのカプセルは受け取っていません。",
  around: (name: string) => `${name} と隣接するカプセル`,
  open: "カプセルを開く",
  changeReaches: (count: number) =>
    count === 0
      ? "出力が変わっても、ほかのカプセルには及びません。"
      : `出力が変わると、${count} 個のカプセルに及ぶ可能性があります。`,
  all: (count: number) => `${count} 個すべてを表示`,
  keys: { walk: "リンクをたどる", centre: "中央に表示", search: "検索" },
  list: "一覧で表示",
  takes: (from: string) => `${from} から受け取る`
}

export const graphWords = { en, ja }
