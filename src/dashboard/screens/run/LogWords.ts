import { counted, integer } from "../../words/Format.ts"

const en = {
  log: "Log",
  logEmpty: "No output yet.",
  logRemoved: (at: string) => `The log was removed on ${at}, after the retention period of this server.`,
  logLines: (count: number) => counted(count, "line"),
  follow: "Follow",
  followHelp: "Stay at the newest line",
  jump: "Jump to latest",
  searchLog: "Search the log",
  match: (at: number, of: number) => (of === 0 ? "No match" : `${at} of ${of}`),
  nextMatch: "Next match",
  previousMatch: "Previous match",
  wrap: "Wrap",
  full: "Full screen",
  fullHelp: "Show only the log; Esc goes back (F)",
  problems: "Problems",
  problemsHelp: "Only errors and warnings, each with its details",
  nextError: (at: number, of: number) => (at === 0 ? `Errors: ${of}` : `Error ${at} of ${of}`),
  nextErrorHelp: "Go to the next error (E)",
  lineLink: (line: number) => `Link to line ${line}`,
  noProblems: "No errors and no warnings.",
  download: "Download",
  streamLive: "Live",
  streamWaiting: "Connection lost. It resumes automatically.",
  streamRefused: "The server refused the live view.",
  retryNow: "Reconnect now"
}

const ja: typeof en = {
  log: "ログ",
  logEmpty: "まだ出力はありません。",
  logRemoved: (at: string) => `ログは保存期間を過ぎたため、${at} に削除されました。`,
  logLines: (count: number) => `${integer("ja", count)} 行`,
  follow: "追従",
  followHelp: "常に最新の行を表示",
  jump: "最新へ移動",
  searchLog: "ログを検索",
  match: (at: number, of: number) => (of === 0 ? "一致なし" : `${at} / ${of}`),
  nextMatch: "次の一致",
  previousMatch: "前の一致",
  wrap: "折り返し",
  full: "全画面",
  fullHelp: "ログだけを表示します。Esc で戻ります（F）",
  problems: "問題のみ",
  problemsHelp: "エラーと警告だけを、その内容とともに表示",
  nextError: (at: number, of: number) => (at === 0 ? `エラー ${of} 件` : `エラー ${at} / ${of}`),
  nextErrorHelp: "次のエラーへ移動（E）",
  lineLink: (line: number) => `${line} 行目へのリンク`,
  noProblems: "エラーと警告はありません。",
  download: "ダウンロード",
  streamLive: "ライブ",
  streamWaiting: "接続が切れました。自動的に再開します。",
  streamRefused: "ライブ表示がサーバーに拒否されました。",
  retryNow: "今すぐ再接続"
}

export const logWords = { en, ja }
