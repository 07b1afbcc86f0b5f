import { counted } from "../../words/Format.ts"

export const capsuleListWords = {
  en: {
    title: "Capsules",
    about: "Each capsule is one deployed instance of one module.",
    search: "Search name, environment, module or source",
    status: "Status",
    drift: "Drift",
    revision: "Revision",
    last: "Last run",
    never: "None yet",
    name: "Name",
    found: (count: number) => counted(count, "capsule"),
    emptyTitle: "No capsules yet",
    emptyText: "Install a module from a Git repository. You see its plan before anything is changed.",
    emptyFiltered: "No capsule matches."
  },
  ja: {
    title: "カプセル",
    about: "カプセルは、1 つのモジュールをデプロイした 1 つの実体です。",
    search: "名前、環境、モジュール、ソースを検索",
    status: "状態",
    drift: "ドリフト",
    revision: "リビジョン",
    last: "最新の実行",
    never: "まだありません",
    name: "名前",
    found: (count: number) => `${count} 件`,
    emptyTitle: "カプセルはまだありません",
    emptyText: "Git リポジトリからモジュールをインストールしてください。変更の前に、必ずプランを確認できます。",
    emptyFiltered: "一致するカプセルはありません。"
  }
}
