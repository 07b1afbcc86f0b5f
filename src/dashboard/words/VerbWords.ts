export const verbWords = {
  en: {
    destroy: "Destroy",
    replace: "Replace",
    forget: "Forget",
    move: "Move",
    update: "Update",
    create: "Create",
    import: "Import",
    read: "Read",
    none: "No change"
  },
  ja: {
    destroy: "削除",
    replace: "再作成",
    forget: "管理対象外へ",
    move: "移動",
    update: "更新",
    create: "作成",
    import: "取り込み",
    read: "読み取り",
    none: "変更なし"
  }
}
