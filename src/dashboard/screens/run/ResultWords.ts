import { counted } from "../../words/Format.ts"

const en = {
  applied: (name: string) => `Applied. ${name} runs`,
  appliedIn: (environment: string) => `in ${environment}.`,
  destroyed: (name: string) => `Destroyed. All infrastructure of ${name} is gone.`,
  accepted: (count: number) =>
    `Only the state changed: ${counted(count, "resource was", "resources were")} accepted as found.`,
  nothing: "Nothing had to change.",
  done: {
    create: "created",
    update: "updated",
    replace: "replaced",
    destroy: "destroyed",
    import: "imported",
    move: "moved",
    forget: "forgotten"
  },
  took: (time: string) => `Took ${time}`,
  generation: (before: number, after: number) => `state generation ${before} → ${after}`,
  approved: (name: string) => `approved by ${name}`,
  automatic: "approved automatically",
  outputs: "Outputs",
  outputsNone: "This module has no public outputs.",
  outputsChanged: (changed: number, all: number) => `${changed} of ${all} changed`,
  outputsLater: "A later apply has replaced this state. The capsule's page shows the current outputs.",
  created: "new",
  changed: "changed",
  openAddress: (host: string) => `Open ${host}`,
  openCapsule: "Open the capsule",
  openPlan: "Reviewed plan",
  takers: (count: number) => `${counted(count, "capsule takes", "capsules take")} these outputs`
}

const ja: typeof en = {
  applied: (name: string) => `適用しました。${name} は`,
  appliedIn: (environment: string) => `で ${environment} に動いています。`,
  destroyed: (name: string) => `削除しました。${name} が管理していたものは残っていません。`,
  accepted: (count: number) => `ステートだけが変わりました。${count} 件のリソースを現在の内容で受け入れました。`,
  nothing: "変更は必要ありませんでした。",
  done: {
    create: "作成",
    update: "更新",
    replace: "再作成",
    destroy: "削除",
    import: "取り込み",
    move: "移動",
    forget: "管理対象外"
  },
  took: (time: string) => `所要時間 ${time}`,
  generation: (before: number, after: number) => `ステート世代 ${before} → ${after}`,
  approved: (name: string) => `承認者 ${name}`,
  automatic: "自動承認",
  outputs: "出力",
  outputsNone: "このモジュールに公開の出力はありません。",
  outputsChanged: (changed: number, all: number) => `${all} 件中 ${changed} 件が変更`,
  outputsLater: "その後の適用でステートが置き換わりました。現在の出力はカプセルに表示されます。",
  created: "新規",
  changed: "変更",
  openAddress: (host: string) => `${host} を開く`,
  openCapsule: "カプセルを開く",
  openPlan: "承認したプラン",
  takers: (count: number) => `${count} 個のカプセルがこれらの出力を使用`
}

export const resultWords = { en, ja }
