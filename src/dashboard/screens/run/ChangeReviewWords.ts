import type { Run } from "../../api/Types.ts"

type DifferenceCode = NonNullable<Run["differsFrom"]>["reasons"][number]["code"]

const en = {
  carried: (pullRequest?: number) =>
    pullRequest === undefined ? "Approved as the same change" : `Approved as the same change in #${pullRequest}`,
  carriedText:
    "People approved exactly this change in a speculative plan, and everything it was computed from is the same. Their approvals were carried over to this plan.",
  applies: "The approval rules let svc apply it.",
  differs: (pullRequest?: number) =>
    pullRequest === undefined
      ? "Differs from the change that was approved"
      : `Differs from the change that was approved in #${pullRequest}`,
  differsText: "The approvals of the change in a speculative plan do not count for this plan, because:",
  openChange: "Open the speculative plan",
  pullRequest: (number?: number) => (number === undefined ? "Pull request" : `Pull request #${number}`),
  lines: "Lines that differ",
  sides: { approved: "approved", planned: "this plan" },
  moreLines: (count: number) => (count === 1 ? "and 1 more line" : `and ${count} more lines`),
  reasons: {
    off: "The approval rules of this capsule carry no approvals over.",
    change: "The plan makes another change.",
    files: "Files of the module differ.",
    configuration: "The configuration or an input was changed.",
    inputs: "A value from another capsule was changed.",
    connection: "A connection is another one, or has new values.",
    authority: "The authority of the capsule was replaced.",
    state: "The state of the capsule was changed.",
    provider_lock: "The versions of providers differ.",
    tool: "Another tool made the plan.",
    profile: "The execution profile, network or pool differs.",
    agent_credentials: "The credentials of an agent differ, or cannot be compared.",
    deliveries: "Values that the service delivers differ.",
    rule: "The approval rules were changed.",
    approver: "Not enough approvals count.",
    stale: "The base changed the same files after the branch left it.",
    uncertain: "It is uncertain which objects exist.",
    used: "The approvals were used before.",
    unknown: "Something that is needed to compare the plans was not recorded."
  } satisfies Record<DifferenceCode, string>,
  change: "Approval of the change",
  changeText:
    "This plan only shows what its commit would change, and nobody applies it. If the approval rules allow it, an approval of the change also approves the plan after the merge that makes exactly the same change.",
  none: "Nobody has approved the change.",
  approvedBy: (name: string) => `${name} approved the change.`,
  withdrawnBy: (name: string) => `${name} withdrew it.`,
  usedFor: "Carried over to a plan",
  approve: "Approve the change",
  approveTitle: "Approve this change?",
  approveText:
    "Your approval is bound to this commit and to exactly this change. It may approve the plan after the merge, without another review.",
  comment: "Comment",
  withdraw: "Withdraw",
  withdrawTitle: "Withdraw this approval of the change?",
  withdrawText: "It no longer counts for a plan after the merge."
}

const ja: typeof en = {
  carried: (pullRequest?: number) =>
    pullRequest === undefined ? "同じ変更として承認済み" : `#${pullRequest} で同じ変更として承認済み`,
  carriedText:
    "投機的プランで承認された変更とまったく同じで、計算に使われたものもすべて同じです。承認をこのプランに引き継ぎました。",
  applies: "承認ルールにより、svc が自動で適用します。",
  differs: (pullRequest?: number) =>
    pullRequest === undefined ? "承認された変更と異なります" : `#${pullRequest} で承認された変更と異なります`,
  differsText: "投機的プランの変更への承認は、次の理由でこのプランには引き継がれません。",
  openChange: "投機的プランを開く",
  pullRequest: (number?: number) => (number === undefined ? "プルリクエスト" : `プルリクエスト #${number}`),
  lines: "異なる行",
  sides: { approved: "承認済み", planned: "このプラン" },
  moreLines: (count: number) => `ほか ${count} 行`,
  reasons: {
    off: "このカプセルの承認ルールでは、承認を引き継ぎません。",
    change: "変更の内容が異なります。",
    files: "モジュールのファイルが異なります。",
    configuration: "設定または入力が変更されました。",
    inputs: "ほかのカプセルから受け取る値が変わりました。",
    connection: "接続が異なるか、接続の値が更新されました。",
    authority: "カプセルの権限が置き換えられました。",
    state: "カプセルのステートが変わりました。",
    provider_lock: "プロバイダーのバージョンが異なります。",
    tool: "別のツールで作られたプランです。",
    profile: "実行プロファイル、ネットワーク、またはプールが異なります。",
    agent_credentials: "エージェントの認証情報が異なるか、比較できません。",
    deliveries: "サービスから渡す値が異なります。",
    rule: "承認ルールが変更されました。",
    approver: "有効な承認が足りません。",
    stale: "ブランチの作成後に、ベース側で同じファイルが変更されました。",
    uncertain: "存在するオブジェクトを確定できません。",
    used: "承認はすでに使われています。",
    unknown: "プランの比較に必要な情報が記録されていません。"
  },
  change: "変更の承認",
  changeText:
    "このプランは、コミットによる変更を確認するためのもので、適用できません。承認ルールで許可されている場合、変更への承認は、マージ後にまったく同じ変更をするプランに引き継がれます。",
  none: "この変更はまだ承認されていません。",
  approvedBy: (name: string) => `${name} が変更を承認しました。`,
  withdrawnBy: (name: string) => `${name} が取り消しました。`,
  usedFor: "引き継ぎ先のプラン",
  approve: "変更を承認する",
  approveTitle: "この変更を承認しますか?",
  approveText:
    "承認は、このコミットとこの変更だけに対するものです。マージ後のプランが、あらためて確認されずに承認されることがあります。",
  comment: "コメント",
  withdraw: "取り消す",
  withdrawTitle: "変更への承認を取り消しますか?",
  withdrawText: "マージ後のプランには引き継がれなくなります。"
}

export const changeReviewWords = { en, ja }
