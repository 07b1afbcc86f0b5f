import { counted } from "../../words/Format.ts"

const en = {
  title: "The real infrastructure differs from the state",
  found: (count: number) =>
    `${counted(count, "resource was", "resources were")} changed outside svc. Both ways are plans: nothing happens before one is approved and applied.`,
  foundSome:
    "Somebody or something changed it outside svc. Both ways are plans: nothing happens before one is approved and applied.",
  putBack: "Put it back",
  putBackHelp: "Makes a plan that restores the resources to the applied configuration.",
  accept: "Accept as it is",
  acceptHelp: "Makes a plan that records the current infrastructure in the state. No resource changes.",
  resources: "Changed outside svc",
  openCheck: "Open the check",
  more: (count: number) => `and ${counted(count, "more resource")} in the check`
}

const ja: typeof en = {
  title: "実際のインフラがステートと異なります",
  found: (count: number) =>
    `${count} 件のリソースが svc の外で変更されています。どちらの方法もプランを作成するだけで、承認して適用するまで何も起こりません。`,
  foundSome:
    "svc の外で変更が行われています。どちらの方法もプランを作成するだけで、承認して適用するまで何も起こりません。",
  putBack: "元に戻す",
  putBackHelp: "適用済みのコミットのとおりにリソースを戻すプランを作成します。",
  accept: "このまま受け入れる",
  acceptHelp: "現在の内容をステートに記録するプランを作成します。リソースは変更されません。",
  resources: "svc の外での変更",
  openCheck: "確認結果を開く",
  more: (count: number) => `ほか ${count} 件は確認結果に表示されます`
}

export const driftFoundWords = { en, ja }
