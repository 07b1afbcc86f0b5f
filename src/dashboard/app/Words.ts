const en = {
  home: "Home",
  capsules: "Capsules",
  runs: "Runs",
  sources: "Sources",
  connections: "Connections",
  activity: "Activity",
  graph: "Graph",
  workspace: "Workspace",
  account: "Account",
  install: "Install",
  installLong: "Install a module from Git",
  navigation: "Main",
  openNavigation: "Open navigation",
  switchWorkspace: "Switch workspace",
  newWorkspace: "New workspace",
  automationPaused: "Automation is paused",
  automationPausedText: "Nothing is planned or applied in this workspace without a person.",
  automationPausedBy: (who: string) => `Paused by ${who}`,
  automationSettings: "Settings",
  restoreReview: "Restored from a backup",
  restoreReviewText:
    "Some memberships, connections, shares, agents and pools have no effect until the operator confirms them with `svc admin restore-review`.",
  accountChanged: "How you sign in, or your address, was changed",
  accountChangedLook: "Review the change, and confirm that you made it",
  accountMenu: "Account menu",
  signOut: "Sign out",
  theme: "Theme",
  themes: { system: "System", light: "Light", dark: "Dark" },
  language: "Language",
  shortcuts: "Keyboard shortcuts",
  palette: "Search and commands",
  paletteEmpty: "Nothing matches.",
  groupGo: "Go to",
  groupCapsules: "Capsules",
  groupDo: "Do",
  groupWorkspaces: "Workspaces",
  changeTheme: "Change to the next theme",
  changeLanguage: "日本語に切り替える",
  letterKeys: "Single-letter shortcuts",
  letterKeysHelp: "Turn off if you use voice input or press keys by accident.",
  keysGo: "then",
  keyHelp: "Show this list",
  keySearch: "Search the list on this page",
  keyInstall: "Install a module",
  noWorkspaceTitle: "No such workspace",
  noWorkspaceText: "The workspace in this address does not exist, or you are not a member of it.",
  notFoundTitle: "No such page",
  notFoundText: "The address may be mistyped, or what it named was removed.",
  goHome: "Go to home",
  crashTitle: "This page stopped working",
  crashText: "The error is shown below. You can reload safely: all your data is on the server.",
  reload: "Reload",
  unreachable: "The server does not answer.",
  unreachableStays: "This page stays open and updates automatically.",
  unreachableClick: "The page you requested opens as soon as the server responds.",
  unreachableRetry: "Try now",
  signOutFailed: "The server does not answer: you are still signed in.",
  plainHttpTitle: "This connection is not encrypted",
  plainHttpText:
    "You reach this server over plain http: your password, your session and everything you see can be read and changed on the network. Ask the operator to put it behind https.",
  backupFailed: {
    title: "The scheduled backups of this server fail",
    text: "Earlier backups are kept. The server's log and svc doctor show the reason."
  },
  databaseDamaged: {
    title: "The database of this server is damaged",
    text: "A background check found damaged pages. Keep a copy of the data folder as it is, and restore the newest backup into a new folder. The server's log and svc doctor list the pages."
  },
  keyBesideData: {
    title: "The master key is in the data folder",
    text: "If the data folder is lost, the key is lost too, and no backup can be opened without it. Keep a copy elsewhere, or move the key; svc doctor explains how."
  },
  isolationOff: {
    title: "Modules are not isolated on this server",
    text: "The operator switched the isolation off. A module that runs here can read every secret of this server and change everything it keeps. Run only modules you would run there by hand."
  },
  runsRefused: {
    title: "Runs are refused on this server",
    text: "The machine gives no isolation that would keep a module from the secrets of this server. The operator can run svc doctor to see what is missing."
  },
  version: (version: string) => `Version ${version}`
}

const ja: typeof en = {
  home: "ホーム",
  capsules: "カプセル",
  runs: "実行",
  sources: "ソース",
  connections: "接続",
  activity: "アクティビティ",
  graph: "依存グラフ",
  workspace: "ワークスペース",
  account: "アカウント",
  install: "インストール",
  installLong: "Git からモジュールをインストール",
  navigation: "メイン",
  openNavigation: "ナビゲーションを開く",
  switchWorkspace: "ワークスペースを切り替え",
  newWorkspace: "新しいワークスペース",
  automationPaused: "自動処理は一時停止中です",
  automationPausedText: "このワークスペースでは、人の操作なしにプランや適用は行われません。",
  automationPausedBy: (who: string) => `一時停止した人: ${who}`,
  automationSettings: "設定",
  restoreReview: "バックアップから復元されました",
  restoreReviewText:
    "運用者が `svc admin restore-review` で確認するまで、一部のメンバーシップ・接続・共有・エージェント・プールは無効です。",
  accountChanged: "サインイン方法またはメールアドレスが変更されました",
  accountChangedLook: "変更内容を確認し、ご自身の操作かどうかを回答してください",
  accountMenu: "アカウントメニュー",
  signOut: "サインアウト",
  theme: "テーマ",
  themes: { system: "システム", light: "ライト", dark: "ダーク" },
  language: "言語",
  shortcuts: "キーボードショートカット",
  palette: "検索とコマンド",
  paletteEmpty: "一致するものがありません。",
  groupGo: "移動",
  groupCapsules: "カプセル",
  groupDo: "操作",
  groupWorkspaces: "ワークスペース",
  changeTheme: "テーマを切り替える",
  changeLanguage: "Switch to English",
  letterKeys: "1 文字のショートカット",
  letterKeysHelp: "音声入力を使う場合や、誤操作が気になる場合はオフにしてください。",
  keysGo: "続けて",
  keyHelp: "この一覧を表示",
  keySearch: "このページの一覧を検索",
  keyInstall: "モジュールをインストール",
  noWorkspaceTitle: "ワークスペースが見つかりません",
  noWorkspaceText: "この URL のワークスペースは存在しないか、あなたはメンバーではありません。",
  notFoundTitle: "ページが見つかりません",
  notFoundText: "URL が間違っているか、対象が削除された可能性があります。",
  goHome: "ホームへ",
  crashTitle: "このページでエラーが発生しました",
  crashText: "エラーの内容は以下のとおりです。再読み込みしても失われるデータはありません。",
  reload: "再読み込み",
  unreachable: "サーバーが応答しません。",
  unreachableStays: "この画面はそのまま残り、復旧すると自動的に更新されます。",
  unreachableClick: "復旧すると、選んだ画面が開きます。",
  unreachableRetry: "今すぐ再試行",
  signOutFailed: "サーバーが応答しないため、サインアウトできませんでした。",
  plainHttpTitle: "この接続は暗号化されていません",
  plainHttpText:
    "このサーバーには平文の http で接続しています。パスワード、セッション、表示内容はすべてネットワーク上で読み取られたり改ざんされたりするおそれがあります。https を経由するよう運用者に依頼してください。",
  backupFailed: {
    title: "このサーバーの定期バックアップが失敗しています",
    text: "以前のバックアップは残っています。原因はサーバーのログと svc doctor で確認できます。"
  },
  databaseDamaged: {
    title: "このサーバーのデータベースが破損しています",
    text: "バックグラウンドの検査で破損したページが見つかりました。データフォルダーをそのままコピーして保管し、最新のバックアップを新しいフォルダーに復元してください。ページはサーバーのログと svc doctor で確認できます。"
  },
  keyBesideData: {
    title: "マスターキーがデータと同じ場所にあります",
    text: "データフォルダーを失うとキーも失われ、キーがなければバックアップを開けません。別の場所に控えを保管するか、キーを移してください。方法は svc doctor で確認できます。"
  },
  isolationOff: {
    title: "このサーバーではモジュールが隔離されません",
    text: "運用者が隔離を無効にしています。ここで実行されるモジュールは、サーバーのすべての秘密を読み、保存されたものを変更できます。このサーバーで手動実行してもよいモジュールだけを実行してください。"
  },
  runsRefused: {
    title: "このサーバーでは実行が拒否されます",
    text: "モジュールをサーバーの秘密から隔てる手段がこのマシンにありません。運用者は svc doctor で不足しているものを確認できます。"
  },
  version: (version: string) => `バージョン ${version}`
}

export const appWords = { en, ja }
