const en = {
  label: "Comment",
  help: "For everybody who may read this run. Known secrets are masked. Type @ to mention somebody.",
  helpMail: "For everybody who may read this run. Known secrets are masked. Type @ to mention somebody by mail.",
  send: "Comment",
  people: "People to mention",
  suggestions: (count: number) => (count === 1 ? "1 person" : `${count} people`),
  remove: "Remove comment",
  removeTitle: "Remove this comment?",
  removeText: "Its text is erased for everybody. A note that there was a comment remains.",
  removedBy: (name: string) => `${name} removed this comment.`,
  story: {
    queued: (name: string) => `${name} started the run.`,
    planned: () => "The plan was ready for review.",
    approved: (name: string) => `${name} approved the plan.`,
    applied: (name: string) => `${name} started the apply.`,
    askedToStop: (name: string) => `${name} asked the run to stop.`,
    cancelled: (name: string) => `${name} cancelled the run.`,
    discarded: (name: string) => `${name} discarded the plan.`,
    approval_withdrawn: (name: string) => `${name} withdrew the approval.`,
    superseded: () => "The plan was superseded.",
    expired: () => "The plan expired.",
    failed: () => "The run failed.",
    finished: () => "The run ended."
  },
  openApply: "Open the apply",
  ofPlan: "The discussion before the apply is on its plan:",
  openPlan: "open the plan"
}

const ja: typeof en = {
  label: "コメント",
  help: "この実行を閲覧できる全員に表示されます。把握している機密の値は伏せ字になります。@ を入力すると、人を指名できます。",
  helpMail:
    "この実行を閲覧できる全員に表示されます。把握している機密の値は伏せ字になります。@ を入力すると、人を指名してメールで知らせることができます。",
  send: "コメントする",
  people: "指名できる人",
  suggestions: (count: number) => `${count} 人`,
  remove: "コメントを削除",
  removeTitle: "このコメントを削除しますか？",
  removeText: "本文は全員に対して消去されます。コメントがあったことは表示されたままになります。",
  removedBy: (name: string) => `${name} がこのコメントを削除しました。`,
  story: {
    queued: (name: string) => `${name} が実行を開始しました。`,
    planned: () => "プランをレビューできるようになりました。",
    approved: (name: string) => `${name} がプランを承認しました。`,
    applied: (name: string) => `${name} が適用を開始しました。`,
    askedToStop: (name: string) => `${name} が実行の停止を求めました。`,
    cancelled: (name: string) => `${name} が実行を中止しました。`,
    discarded: (name: string) => `${name} がプランを取り下げました。`,
    approval_withdrawn: (name: string) => `${name} が承認を取り消しました。`,
    superseded: () => "プランは新しいものに置き換えられました。",
    expired: () => "プランの期限が切れました。",
    failed: () => "実行が失敗しました。",
    finished: () => "実行が終わりました。"
  },
  openApply: "適用の実行を開く",
  ofPlan: "適用前の話し合いはプランのページにあります:",
  openPlan: "プランを開く"
}

export const discussionWords = { en, ja }
