const en = {
  problems: {
    required: "This needs a value.",
    number: "This must be a number.",
    long_number: "A number has more digits than JSON can represent. Write it as a string.",
    json: "This is not valid JSON.",
    boolean: "Choose yes or no."
  },
  advanced: (count: number) => `Advanced (${count})`,
  advancedAbout: "These inputs have defaults. Leave an input empty to keep its default.",
  type: "Type",
  default: "default",
  moduleDefault: "Module default",
  keepDefault: "Leave empty to use the module's default.",
  secretHelp: "Stored sealed and never shown again.",
  chooseFirst: "Choose…",
  format: "Format JSON",
  filled: "Filled in for you",
  origins: {
    user: "asked for",
    capsule_name: "the capsule's name",
    workspace_scoped_capsule_name: "the capsule's name, unique in this workspace",
    module_default: "the module's default",
    host: "delivered by this server",
    operator: "set by the operator"
  },
  drift: {
    label: "Check for drift",
    help: "Compares the state with the real infrastructure, and changes neither. People's requests always run first.",
    inherit: "Same as the workspace",
    off: "Only when asked",
    every: (hours: number) =>
      hours === 1 ? "Every hour" : hours === 24 ? "Every day" : hours === 168 ? "Every week" : `Every ${hours} hours`
  },
  noInputs: "This module has no inputs.",
  secretKept: "For your safety, secret values are lost on reload. Enter them again."
}

const ja: typeof en = {
  problems: {
    required: "値を入力してください。",
    number: "数値を入力してください。",
    long_number: "JSON で保持できない桁数の数値があります。数字の文字列として入力してください。",
    json: "JSON として正しくありません。",
    boolean: "はい / いいえを選択してください。"
  },
  advanced: (count: number) => `詳細設定 (${count})`,
  advancedAbout: "既定値があります。空のままにすると既定値が使われます。",
  type: "型",
  default: "既定値",
  moduleDefault: "モジュールの既定値",
  keepDefault: "空のままにすると、モジュールの既定値が使われます。",
  secretHelp: "暗号化して保存され、再表示されることはありません。",
  chooseFirst: "選択してください…",
  format: "JSON を整形",
  filled: "自動で入力される値",
  origins: {
    user: "入力が必要",
    capsule_name: "カプセルの名前",
    workspace_scoped_capsule_name: "カプセルの名前（ワークスペース内で一意）",
    module_default: "モジュールの既定値",
    host: "このサーバーから渡されます",
    operator: "運用者が設定した値"
  },
  drift: {
    label: "ドリフトの確認",
    help: "ステートと実際のインフラを比較します。どちらも変更しません。依頼された操作より先に実行されることはありません。",
    inherit: "ワークスペースの設定に従う",
    off: "依頼されたときのみ",
    every: (hours: number) =>
      hours === 1 ? "1時間ごと" : hours === 24 ? "毎日" : hours === 168 ? "毎週" : `${hours}時間ごと`
  },
  noInputs: "このモジュールに入力項目はありません。",
  secretKept: "安全のため、秘密の値は再読み込み後に保持されません。もう一度入力してください。"
}

export const formWords = { en, ja }
