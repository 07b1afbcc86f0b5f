const en = {
  changes: "Planned changes",
  changesDrift: "What differs from the state",
  noChanges: "No changes",
  noChangesText: "The infrastructure matches the configuration.",
  noDriftText: "The real infrastructure matches the last recorded state.",
  searchChanges: "Search address, type or attribute",
  matchingChanges: (count: number) => (count === 1 ? "1 change" : `${count} changes`),
  kinds: {
    destroy: "Destroy",
    replace: "Replace",
    forget: "Forget",
    update: "Update",
    create: "Create",
    import: "Import",
    read: "Read",
    none: "No change"
  },
  noise: (count: number) => (count === 1 ? "1 quiet change" : `${count} quiet changes`),
  noiseAbout: "labels, tags, and values that are only recomputed",
  outputs: "Outputs",
  holdsSecret: (origins: string) =>
    `Stays private: it repeats ${origins === "" ? "a secret" : origins}. The apply does not publish it.`,
  expandAll: "Open all",
  collapseAll: "Close all",
  attributes: (count: number) => (count === 1 ? "1 attribute" : `${count} attributes`),
  attribute: "Attribute",
  before: "Before",
  after: "After",
  hidden: "hidden",
  later: "known after apply",
  absent: "not set",
  reasons: {
    replace_because_cannot_update: "cannot be changed in place",
    replace_because_tainted: "marked as damaged",
    replace_by_request: "asked for",
    replace_by_triggers: "a trigger changed",
    delete_because_no_resource_config: "no longer in the configuration",
    delete_because_wrong_repetition: "count or for_each changed",
    delete_because_count_index: "count was lowered",
    delete_because_each_key: "its key left for_each",
    delete_because_no_module: "its module was removed",
    delete_because_no_move_target: "its move has no target",
    read_because_config_unknown: "depends on values known after apply",
    read_because_dependency_pending: "depends on a change"
  }
}

const ja: typeof en = {
  changes: "変更の予定",
  changesDrift: "ステートとの差異",
  noChanges: "変更なし",
  noChangesText: "インフラは構成どおりです。",
  noDriftText: "実際のインフラは、最後に記録されたステートと一致しています。",
  searchChanges: "アドレス、種類、属性を検索",
  matchingChanges: (count: number) => `${count} 件の変更`,
  kinds: {
    destroy: "削除",
    replace: "再作成",
    forget: "管理対象外へ",
    update: "更新",
    create: "作成",
    import: "取り込み",
    read: "読み取り",
    none: "変更なし"
  },
  noise: (count: number) => `軽微な変更 ${count} 件`,
  noiseAbout: "ラベル、タグ、再計算されるだけの値",
  outputs: "出力",
  holdsSecret: (origins: string) =>
    `${origins === "" ? "秘密の値" : `秘密の値（${origins}）`}を含むため非公開のままとし、適用後も公開しません。`,
  expandAll: "すべて開く",
  collapseAll: "すべて閉じる",
  attributes: (count: number) => `${count} 属性`,
  attribute: "属性",
  before: "変更前",
  after: "変更後",
  hidden: "非表示",
  later: "適用後に確定",
  absent: "未設定",
  reasons: {
    replace_because_cannot_update: "その場での変更ができないため",
    replace_because_tainted: "破損の印があるため",
    replace_by_request: "再作成が指定されたため",
    replace_by_triggers: "トリガーの変更による",
    delete_because_no_resource_config: "構成から削除されたため",
    delete_because_wrong_repetition: "count / for_each の変更による",
    delete_because_count_index: "count が減ったため",
    delete_because_each_key: "for_each からキーが外れたため",
    delete_because_no_module: "モジュールが削除されたため",
    delete_because_no_move_target: "移動先がないため",
    read_because_config_unknown: "適用後に決まる値に依存",
    read_because_dependency_pending: "変更に依存"
  }
}

export const planWords = { en, ja }
