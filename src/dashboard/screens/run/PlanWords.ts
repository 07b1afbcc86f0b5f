import { verbWords } from "../../words/VerbWords.ts"
import { counted } from "../../words/Format.ts"

const en = {
  changes: "Planned changes",
  why: "Why did this change?",
  changesDrift: "Changed outside svc",
  changesAccepted: "What this plan accepts",
  was: "was",
  is: "is",
  noChanges: "No changes",
  noChangesText: "The infrastructure matches the configuration.",
  noDriftText: "The real infrastructure matches the last recorded state.",
  searchChanges: "Search address, type or attribute",
  matchingChanges: (count: number) => counted(count, "change"),
  kinds: verbWords.en,
  about: {
    destroy: "Removed for good. The data cannot be brought back.",
    replace: "Destroyed and created again. Downtime and data loss are possible.",
    forget: "No longer managed. The real object remains, and its drift is no longer detected.",
    update: "Changed in place.",
    import: "Exists already, and is managed from the apply on.",
    move: "A new address only. Nothing real is touched.",
    read: "Looked up during the apply. Nothing is changed."
  },
  driftKinds: {
    ...verbWords.en,
    destroy: "gone",
    forget: "gone",
    replace: "replaced",
    update: "changed",
    create: "new",
    move: "moved by the module"
  },
  driftGone: "The real object no longer exists. This check has changed nothing.",
  acceptGone:
    "The real object no longer exists. The apply takes it out of the state; while the module has it, the next plan creates it again.",
  deposed: (key: string) => `deposed object ${key}, left over from a replacement that failed; not the live object`,
  imports: (id: string | undefined) => (id === undefined ? "exists already" : `adopts ${id}`),
  movedFrom: (address: string) => `moved from ${address}`,
  importId: "import id",
  address: "address",
  forces: "forces replacement",
  hiddenChanges: "the value changes; neither is ever shown",
  becomesSensitive: "becomes sensitive; the value is not shown",
  noLongerSensitive: "no longer sensitive after the apply; the value is not shown before",
  publication: {
    published: (reason: string) => `The apply makes it public: ${reason}.`,
    withdrawn: (reason: string) => `The apply withdraws it; it is no longer public: ${reason}.`
  },
  publicationReasons: {
    new: "it is new and not marked as sensitive",
    mark_removed: "the module no longer marks it as sensitive",
    secret_gone: "it no longer repeats a secret",
    restored: "it was so in the backup",
    removed: "the module no longer has it",
    marked_sensitive: "the module marks it as sensitive",
    holds_secret: "it repeats a secret"
  },
  copyBefore: "Copy before",
  copyAfter: "Copy after",
  noise: (count: number) => `${counted(count, "update")} of labels only`,
  noiseAbout: "labels, tags, and values that are recomputed for them",
  outputs: "Outputs",
  holdsSecret: (origins: string) =>
    `Stays private: it repeats ${origins === "" ? "a secret" : origins}. The apply does not publish it.`,
  expandAll: "Open all",
  collapseAll: "Close all",
  attributes: (count: number) => counted(count, "attribute"),
  hidden: "hidden",
  later: "known after apply",
  absent: "not set",
  reasons: {
    replace_because_cannot_update: "cannot be changed in place",
    replace_because_tainted: "tainted: marked as damaged",
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
  why: "なぜ変わるのか",
  changesDrift: "svc の外での変更",
  changesAccepted: "このプランが受け入れる内容",
  was: "以前",
  is: "現在",
  noChanges: "変更なし",
  noChangesText: "インフラは構成どおりです。",
  noDriftText: "実際のインフラは、最後に記録されたステートと一致しています。",
  searchChanges: "アドレス、種類、属性を検索",
  matchingChanges: (count: number) => `${count} 件の変更`,
  kinds: verbWords.ja,
  about: {
    destroy: "完全に削除されます。データは元に戻せません。",
    replace: "削除してから作り直します。停止やデータ消失の可能性があります。",
    forget: "管理対象から外れます。実体は残りますが、以後の差異は検出されません。",
    update: "その場で変更されます。",
    import: "既に存在し、適用後に管理対象になります。",
    move: "アドレスだけが変わります。実体には触れません。",
    read: "適用中に参照されます。変更はありません。"
  },
  driftKinds: {
    ...verbWords.ja,
    destroy: "消失",
    forget: "消失",
    replace: "再作成",
    update: "変更",
    create: "新規",
    move: "モジュールによる移動"
  },
  driftGone: "実体がなくなっています。この確認では何も変更していません。",
  acceptGone:
    "実体がなくなっています。適用するとステートから外れます。モジュールに定義が残っている間は、次のプランで作成されます。",
  deposed: (key: string) => `失敗した再作成で残った旧オブジェクト ${key}（現在のオブジェクトではありません）`,
  imports: (id: string | undefined) => (id === undefined ? "既存のもの" : `${id} を取り込み`),
  movedFrom: (address: string) => `${address} から移動`,
  importId: "取り込む ID",
  address: "アドレス",
  forces: "再作成の原因",
  hiddenChanges: "値は変わりますが、表示されません",
  becomesSensitive: "機密扱いになります。値は表示されません",
  noLongerSensitive: "適用後は機密扱いではなくなります。適用前の値は表示されません",
  publication: {
    published: (reason: string) => `適用すると公開されます（${reason}）。`,
    withdrawn: (reason: string) => `適用すると公開されなくなります（${reason}）。`
  },
  publicationReasons: {
    new: "新しい出力で、機密の指定がないため",
    mark_removed: "モジュールが機密の指定を外したため",
    secret_gone: "秘密の値を含まなくなったため",
    restored: "バックアップの時点の設定に戻るため",
    removed: "モジュールからなくなったため",
    marked_sensitive: "モジュールが機密に指定したため",
    holds_secret: "秘密の値を含むため"
  },
  copyBefore: "変更前をコピー",
  copyAfter: "変更後をコピー",
  noise: (count: number) => `ラベルのみの更新 ${count} 件`,
  noiseAbout: "ラベル、タグ、それに伴い再計算される値",
  outputs: "出力",
  holdsSecret: (origins: string) =>
    `${origins === "" ? "秘密の値" : `秘密の値（${origins}）`}を含むため非公開のままとし、適用後も公開しません。`,
  expandAll: "すべて開く",
  collapseAll: "すべて閉じる",
  attributes: (count: number) => `${count} 属性`,
  hidden: "非表示",
  later: "適用後に確定",
  absent: "未設定",
  reasons: {
    replace_because_cannot_update: "その場での変更ができないため",
    replace_because_tainted: "破損の印（tainted）があるため",
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
