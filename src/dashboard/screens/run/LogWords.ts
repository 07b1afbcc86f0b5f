const en = {
  log: "Log",
  logEmpty: "No output yet.",
  logRemoved: (at: string) => `The log was removed on ${at}: it was older than this server keeps logs.`,
  logLines: (count: string) => `${count} lines`,
  follow: "Follow",
  followHelp: "Stay at the newest line",
  jump: "Jump to latest",
  searchLog: "Search the log",
  match: (at: number, of: number) => (of === 0 ? "No match" : `${at} of ${of}`),
  nextMatch: "Next match",
  previousMatch: "Previous match",
  download: "Download",
  streamLive: "Live",
  streamWaiting: "Connection lost. It resumes by itself.",
  streamRefused: "The server refused the live view.",
  retryNow: "Reconnect now"
}

const ja: typeof en = {
  log: "ログ",
  logEmpty: "まだ出力はありません。",
  logRemoved: (at: string) => `ログは保存期間を過ぎたため、${at} に削除されました。`,
  logLines: (count: string) => `${count} 行`,
  follow: "追従",
  followHelp: "常に最新の行を表示",
  jump: "最新へ移動",
  searchLog: "ログを検索",
  match: (at: number, of: number) => (of === 0 ? "一致なし" : `${at} / ${of}`),
  nextMatch: "次の一致",
  previousMatch: "前の一致",
  download: "ダウンロード",
  streamLive: "ライブ",
  streamWaiting: "接続が切れました。自動的に再開します。",
  streamRefused: "ライブ表示がサーバーに拒否されました。",
  retryNow: "今すぐ再接続"
}

export const logWords = { en, ja }
