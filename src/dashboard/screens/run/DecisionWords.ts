import { counted } from "../../words/Format.ts"

const en = {
  cancel: "Cancel run",
  cancelTitle: "Cancel this run?",
  cancelPlan: "The plan stops. Nothing has been changed.",
  cancelApply:
    "The tool receives a request to stop after its current resource. Changes already made remain and are recorded in the state. The capsule then needs a new plan.",
  cancelReason: "Reason",
  keepRunning: "Keep running",
  discard: "Discard plan",
  discardTitle: "Discard this plan?",
  discardText: "Nothing has been changed. A new plan can be made at any time.",
  withdraw: "Withdraw approval",
  withdrawTitle: "Withdraw this approval?",
  withdrawText:
    "The plan becomes void and can no longer be applied. Nothing has been changed. A new plan can be made at any time.",
  decidedBy: (what: string, name: string) => `${what} by ${name}`,
  ends: {
    cancelled: "Cancelled",
    discarded: "Discarded",
    approval_withdrawn: "Approval withdrawn",
    superseded: "Superseded",
    expired: "Ended as expired"
  },
  askedToStop: "Asked to stop",
  cancelled: "This run was cancelled.",
  discarded: "The plan was discarded. Nothing has been changed.",
  withdrawn: "The approval was withdrawn before the plan was applied. Nothing has been changed.",
  saidBy: (name: string) => `${name} said:`,
  approveAndApply: "Approve and apply",
  approveAndDestroy: "Approve and destroy",
  approveOnly: "Approve only",
  applyNow: "Apply now",
  openApply: "Open the apply",
  expires: "Plan expires",
  approvedBy: "Approved by",
  confinementTitle: "This plan was made with less isolation than svc can provide",
  confinementLevel:
    "The module ran on the server without a separate file system and separate processes. Approve only modules that you would run there by hand.",
  confinementUnbounded: "The limits on memory, processes and disk stop accidents, but a module can evade them.",
  confinementNetwork:
    "The module could reach the server's network, including services that listen only on its loopback. The apply can, too.",
  reviewTitle: "Review this plan",
  reviewNoChanges: "No changes to infrastructure. Applying records this revision as the adopted one.",
  reviewLosses: (count: number) =>
    count === 1
      ? "One resource will be destroyed or replaced. Its data may be lost."
      : `${count} resources will be destroyed or replaced. Their data may be lost.`,
  andMore: (count: number) => `and ${count} more`,
  reviewAccepts: (count: number) =>
    count === 0
      ? "Every resource matches the state. No resource changes."
      : `Only the state changes: ${counted(count, "resource is", "resources are")} recorded as they are now. No resource changes.`,
  reviewOutputs: "No changes to infrastructure. Only outputs change.",
  reviewMoves: "Only addresses change. Nothing real is touched.",
  reviewSafe: "Nothing will be destroyed or replaced.",
  needsAdmin: "An admin of this workspace can approve this plan.",
  approvedTitle: "Approved, not applied yet",
  approvedText:
    "The approval is valid for exactly this plan. If anything behind the plan changes, the apply is refused.",
  approveDialogTitle: "Approve this plan?",
  approveBinds: "You approve exactly this plan. If anything behind it changes before the apply, the apply is refused.",
  confirmHelp: "Because resources will be destroyed or replaced.",
  comment: "Comment",
  commentHelp: "Everybody who can read the run or the activity can read the comment.",
  superseded:
    "Superseded: a newer plan or configuration replaced this plan, or a value that it used is no longer available. It can no longer be applied.",
  expired: "Expired: nobody approved this plan in time. Make a new plan.",
  runAgain: "Plan again",
  revisionAgain: (ref: string) => `Plan ${ref} again`,
  because: "Reason:",
  cancelRequested: "Cancelling. The tool is finishing its current operation."
}

const ja: typeof en = {
  cancel: "実行を中止",
  cancelTitle: "この実行を中止しますか？",
  cancelPlan: "プランの作成を中止します。変更は何も行われていません。",
  cancelApply:
    "処理中のリソースが終わった時点で止まります。すでに行われた変更は元に戻らず、ステートに記録されます。その後は新しいプランが必要です。",
  cancelReason: "理由",
  keepRunning: "実行を続ける",
  discard: "プランを取り下げる",
  discardTitle: "このプランを取り下げますか？",
  discardText: "変更は何も行われていません。プランはいつでも作り直せます。",
  withdraw: "承認を取り消す",
  withdrawTitle: "この承認を取り消しますか？",
  withdrawText: "プランは無効になり、適用できなくなります。変更は何も行われていません。プランはいつでも作り直せます。",
  decidedBy: (what: string, name: string) => `${what}: ${name}`,
  ends: {
    cancelled: "中止",
    discarded: "取り下げ",
    approval_withdrawn: "承認の取り消し",
    superseded: "置き換え",
    expired: "期限切れ"
  },
  askedToStop: "停止の依頼",
  cancelled: "この実行は中止されました。",
  discarded: "プランは取り下げられました。何も変更されていません。",
  withdrawn: "このプランの承認は、適用前に取り消されました。変更は何も行われていません。",
  saidBy: (name: string) => `${name} のコメント:`,
  approveAndApply: "承認して適用",
  approveAndDestroy: "承認して削除",
  approveOnly: "承認のみ",
  applyNow: "今すぐ適用",
  openApply: "適用の実行を開く",
  expires: "プランの期限",
  approvedBy: "承認者",
  confinementTitle: "このプランは、通常より弱い隔離で作成されました",
  confinementLevel:
    "モジュールは、専用のファイルシステムやプロセス空間なしでサーバー上で実行されました。そのサーバーで直接実行してよいモジュールだけを承認してください。",
  confinementUnbounded: "メモリ、プロセス、ディスクの上限は事故を防ぐだけで、モジュールはこれを回避できます。",
  confinementNetwork:
    "モジュールはサーバー自身のネットワークに接続でき、ループバックでのみ待ち受けるサービスにも届きます。適用のときも同じです。",
  reviewTitle: "プランをレビューしてください",
  reviewNoChanges: "インフラに変更はありません。適用すると、このリビジョンが採用済みとして記録されます。",
  reviewLosses: (count: number) =>
    `${count} 個のリソースが削除または再作成されます。データが失われる可能性があります。`,
  andMore: (count: number) => `ほか ${count} 件`,
  reviewAccepts: (count: number) =>
    count === 0
      ? "すべてのリソースがステートと一致しています。リソースは変更されません。"
      : `ステートだけが変わります。${count} 件のリソースが現在の内容で記録されます。リソースは変更されません。`,
  reviewOutputs: "インフラに変更はありません。出力だけが変わります。",
  reviewMoves: "アドレスだけが変わります。実物には何も起きません。",
  reviewSafe: "削除・再作成されるリソースはありません。",
  needsAdmin: "このプランの承認には、ワークスペースの管理者権限が必要です。",
  approvedTitle: "承認済み・未適用",
  approvedText: "承認はこのプランだけに有効です。元になった情報が変わった場合、適用は拒否されます。",
  approveDialogTitle: "このプランを承認しますか？",
  approveBinds: "承認の対象は、このプランそのものです。適用までに元の情報が変わった場合、適用は拒否されます。",
  confirmHelp: "リソースの削除または再作成が含まれるためです。",
  comment: "コメント",
  commentHelp: "実行とアクティビティに記録され、閲覧できる全員に表示されます。",
  superseded:
    "新しいプランまたは構成に置き換えられたか、使った値が提供されなくなったため、このプランは適用できません。",
  expired: "期限内に承認されなかったため、このプランは失効しました。新しいプランを作成してください。",
  runAgain: "プランを作り直す",
  revisionAgain: (ref: string) => `${ref} のプランを作り直す`,
  because: "理由:",
  cancelRequested: "中止しています。処理中の作業が終わるのを待っています。"
}

export const decisionWords = { en, ja }
