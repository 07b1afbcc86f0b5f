import { counted } from "../../words/Format.ts"

const en = {
  readings: { json: "JSON", base64: "base64, decoded", text: "text" },
  units: {
    statements: (count: number) => counted(count, "statement"),
    keys: (count: number) => counted(count, "key"),
    items: (count: number) => counted(count, "item"),
    lines: (count: number) => counted(count, "line")
  },
  changed: (changed: number, all: string) => `${changed} of ${all} changed`,
  added: (count: number) => `${count} added`,
  removed: (count: number) => `${count} removed`,
  only: {
    whitespace: "only white space changes",
    type: "only the type changes, the value reads the same",
    order: "only the order changes, which has no effect here"
  },
  reordered: (count: number) => `${counted(count, "element")} only changed position, which has no effect here.`,
  unchanged: (what: string) => `${what} unchanged`,
  moved: (from: number, to: number) => `moved from place ${from} to ${to}`,
  more: (count: number, all: string) => `Show ${count.toLocaleString("en")} more of ${all}`,
  comparing: "Comparing…",
  difference: (name: string) => `Difference of ${name}`,
  removedLine: "removed",
  addedLine: "added",
  morePaths: (count: number) => `and ${count} more`,
  nothing: "nothing"
}

const ja: typeof en = {
  readings: { json: "JSON", base64: "base64（復号済み）", text: "テキスト" },
  units: {
    statements: (count: number) => `ステートメント ${count.toLocaleString("ja")} 件`,
    keys: (count: number) => `キー ${count.toLocaleString("ja")} 個`,
    items: (count: number) => `要素 ${count.toLocaleString("ja")} 個`,
    lines: (count: number) => `${count.toLocaleString("ja")} 行`
  },
  changed: (changed: number, all: string) => `${all}のうち ${changed} を変更`,
  added: (count: number) => `追加 ${count}`,
  removed: (count: number) => `削除 ${count}`,
  only: {
    whitespace: "空白のみの変更",
    type: "型のみの変更（値の見た目は同じ）",
    order: "順序のみの変更（ここでは意味を持ちません）"
  },
  reordered: (count: number) => `${count} 個の要素は位置だけが変わりました（ここでは意味を持ちません）。`,
  unchanged: (what: string) => `${what}は変更なし`,
  moved: (from: number, to: number) => `${from} 番目から ${to} 番目へ移動`,
  more: (count: number, all: string) => `全 ${all}のうち続きの ${count.toLocaleString("ja")} 行を表示`,
  comparing: "比較しています…",
  difference: (name: string) => `${name} の差分`,
  removedLine: "削除",
  addedLine: "追加",
  morePaths: (count: number) => `ほか ${count} 件`,
  nothing: "なし"
}

export const differenceWords = { en, ja }
