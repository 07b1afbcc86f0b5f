import { counted } from "../../words/Format.ts"

const en = {
  title: (count: number) => counted(count, "input"),
  about: "The origin of each value. Values are private and never shown.",
  none: "This module has no inputs.",
  sensitive: "sensitive",
  ephemeral: "not stored",
  required: "required",
  optional: "optional",
  noDescription: "No description",
  default: (text: string) => `Default ${text}`,
  hiddenDefault: "Has a default",
  from: "From",
  fromConnection: "Default of the connection",
  sources: {
    set: "Set",
    operator: "Set by the operator",
    host: "Delivered by svc",
    capsule_name: "The name of the capsule",
    workspace_scoped_capsule_name: "The name of the workspace and the capsule",
    default: "Default",
    missing: "No value"
  }
}

const ja: typeof en = {
  title: (count: number) => `入力 ${count} 件`,
  about: "各値の出どころです。値は非公開で、表示されることはありません。",
  none: "このモジュールに入力はありません。",
  sensitive: "機密",
  ephemeral: "保存しない",
  required: "必須",
  optional: "任意",
  noDescription: "説明なし",
  default: (text: string) => `既定値 ${text}`,
  hiddenDefault: "既定値あり",
  from: "取得元",
  fromConnection: "接続の既定値:",
  sources: {
    set: "設定済み",
    operator: "運用者が設定",
    host: "svc が提供",
    capsule_name: "カプセル名",
    workspace_scoped_capsule_name: "ワークスペース名とカプセル名",
    default: "既定値",
    missing: "値なし"
  }
}

export const inputWords = { en, ja }
