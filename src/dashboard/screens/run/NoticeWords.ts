const en = {
  waiting: "Approve?",
  drifted: "Drift found",
  done: "Done",
  applied: "Applied",
  failed: "Failed",
  running: "Running",
  count: (done: number, of: number) => `${done} of ${of}`,
  notify: "Notify me",
  notifyHelp: "This browser shows a notice when this or another open run ends or needs approval",
  refused: "This browser blocks notices from this site. Allow them in its settings.",
  ended: (name: string) => `${name} has ended`,
  needsApproval: (name: string) => `${name} needs approval`,
  hasFailed: (name: string) => `${name} failed`
}

const ja: typeof en = {
  waiting: "承認待ち",
  drifted: "ドリフトあり",
  done: "完了",
  applied: "適用済み",
  failed: "失敗",
  running: "実行中",
  count: (done: number, of: number) => `${done} / ${of}`,
  notify: "通知する",
  notifyHelp: "開いている実行が終わったとき、または承認が必要になったときに、このブラウザーで通知します",
  refused: "このサイトからの通知はブラウザーで許可されていません。ブラウザーの設定で許可してください。",
  ended: (name: string) => `${name} が終わりました`,
  needsApproval: (name: string) => `${name} の承認が必要です`,
  hasFailed: (name: string) => `${name} が失敗しました`
}

export const noticeWords = { en, ja }
