import type { CapsuleVerdict, PullRequest } from "../../api/Types.ts"

const states: Readonly<Record<PullRequest["state"], string>> = { open: "Open", merged: "Merged", closed: "Closed" }

const verdicts: Readonly<Record<CapsuleVerdict, string>> = {
  failed: "Failed",
  differs: "Differs",
  needs_approval: "Needs approval",
  refused: "Not planned",
  planning: "In progress",
  superseded: "Superseded",
  approved: "Approved",
  planned: "Planned",
  applied: "Applied",
  unchanged: "No changes"
}

const en = {
  title: "Pull requests",
  about: "The pull requests of your repositories, and what each would change in the capsules that follow its base.",
  state: "State",
  states,
  verdicts,
  into: (head: string, base: string) => `${head} into ${base}`,
  by: (author: string) => `by ${author}`,
  draft: "Draft",
  elsewhere: "From elsewhere",
  untitled: "Pull request",
  untouched: "Touches no capsule",
  atForge: "Open at the forge",
  ofSource: "Only one source",
  allSources: "Show all sources",
  emptyTitle: "No pull requests",
  emptyOpen:
    "svc looks every five minutes, and after each webhook. A pull request appears here when it touches a followed branch.",
  emptyOther: "No pull request of this state is known.",
  offTitle: "No source follows its pull requests",
  offText:
    "A source follows them while it syncs automatically and its setting for pull requests is not off. Open a source and edit these settings.",
  openSources: "Open the sources",
  capsuleEmpty: "No pull request touches this capsule",
  capsuleEmptyText: "The setting of its source decides what svc does with pull requests.",
  openSource: "Open the source"
}

const ja: typeof en = {
  title: "プルリクエスト",
  about: "リポジトリのプルリクエストと、マージ先のブランチを使うカプセルへの影響を表示します。",
  state: "状態",
  states: { open: "オープン", merged: "マージ済み", closed: "クローズ" },
  verdicts: {
    failed: "失敗",
    differs: "承認内容と相違",
    needs_approval: "承認待ち",
    refused: "プランなし",
    planning: "処理中",
    superseded: "置き換え済み",
    approved: "承認済み",
    planned: "プラン済み",
    applied: "適用済み",
    unchanged: "変更なし"
  },
  into: (head, base) => `${head} → ${base}`,
  by: (author) => `作成者: ${author}`,
  draft: "下書き",
  elsewhere: "外部から",
  untitled: "プルリクエスト",
  untouched: "影響するカプセルなし",
  atForge: "Git サービスで開く",
  ofSource: "1 つのソースだけを表示中",
  allSources: "すべてのソースを表示",
  emptyTitle: "プルリクエストはありません",
  emptyOpen:
    "svc は 5 分ごとと Webhook の受信時に確認します。使用中のブランチに影響するプルリクエストがあるとここに表示されます。",
  emptyOther: "この状態のプルリクエストはありません。",
  offTitle: "プルリクエストを確認するソースがありません",
  offText:
    "ソースの自動同期が有効で、プルリクエストの設定がオフでないときに確認します。ソースを開いて設定を編集してください。",
  openSources: "ソースを開く",
  capsuleEmpty: "このカプセルに影響するプルリクエストはありません",
  capsuleEmptyText: "プルリクエストの扱いは、ソースの設定で決まります。",
  openSource: "ソースを開く"
}

export const pullRequestListWords = { en, ja }
