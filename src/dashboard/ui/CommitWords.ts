const en = {
  open: (commit: string) => `Open commit ${commit} at its forge`,
  rest: "Rest of the message",
  by: (name: string) => `by ${name}`
}

const ja: typeof en = {
  open: (commit: string) => `コミット ${commit} をホスティングサイトで開く`,
  rest: "メッセージの続き",
  by: (name: string) => `作成者: ${name}`
}

export const commitWords = { en, ja }
