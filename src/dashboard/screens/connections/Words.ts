const en = {
  title: "Connections",
  about:
    "Credentials for providers, Git and forges. Write-only: once saved, nobody can read them back, here or through the API.",
  create: "New connection",
  emptyTitle: "No connections yet",
  emptyText:
    "Modules that use a cloud need credentials. A run receives them only while it is executing, and its log never shows them.",
  needsAdmin: "An admin of this workspace can add connections.",
  operator: "From the operator of this server",
  lastUsed: "used",
  neverUsed: "never used",
  expires: "expires",
  test: "Test",
  testedAs: {
    completeness: "All required values are set. The next plan will try them with the provider.",
    pool: "The operator allows this workspace to use it. The agents of the pool have the values, and the next plan uses them.",
    git_server: "The Git server of every source that uses it accepts it.",
    forge: "The forge accepts it, and it can read the repository of every source that uses it."
  },
  providedBy: (pool: string) => `Values stay with the agents of ${pool}`,
  place: "Where its values are",
  placeHelp:
    "Values of a pool remain with its agents: this server never sees them, and only runs of that pool can use them.",
  placeHere: "Sealed on this server",
  placePool: (pool: string, name: string) => `${name}, with the agents of ${pool}`,
  edit: "Edit",
  editTitle: (name: string) => `Edit ${name}`,
  changed: "The connection was changed.",
  rotated: (tested: string, plans: number) =>
    plans === 0
      ? `New values are in use. ${tested}`
      : `New values are in use. Plans to make again: ${plans}. ${tested}`,
  use: "Who may use it",
  useRoles: "Roles",
  usedBy: { owner: "Used by owners", admin: "Used by owners and admins", member: "Used by owners, admins and members" },
  useRefs: "Refs",
  useRefsHelp:
    "One per line. If empty: the adopted lane and the source's default ref. Plans of other refs must be started by an owner or admin, because nobody has reviewed their code.",
  useModules: "Modules",
  useModulesHelp:
    "One per line: where the repository is and the path of the module, such as https://git.example.com/team/ modules/app.",
  useProjects: "Projects",
  useProjectsHelp: "Project ids, one per line. If empty: all projects.",
  confined: "limited to some modules or projects",
  rotate: "New values",
  rotateHelp:
    "Leave empty to keep the current values. If you enter values, enter all of them: svc tests them, then replaces the current values. Plans made with the old values must be made again.",
  helpers: "Connect without typing a credential",
  helpersAbout:
    "You give consent at the provider, and svc stores its access token as a connection. svc renews the token before runs that need it.",
  helperAsks: (host: string, scopes: string) =>
    scopes === "" ? `Asks you at ${host}` : `Asks you at ${host} for: ${scopes}`,
  connectWith: (name: string) => `Connect with ${name}`,
  connected: (name: string) => `${name} is connected.`,
  madeBy: (helper: string) => `connected with ${helper}`,
  reconnect: "Reconnect",
  rotatedByHelper: "Its values come from the provider at which you gave consent. Reconnect to replace them.",
  remove: "Remove",
  removeTitle: (name: string) => `Remove ${name}?`,
  removeText: "Its values are deleted. You cannot remove it while a capsule, source or run uses it.",
  revoke: "Revoke",
  revokeTitle: (name: string) => `Revoke ${name}?`,
  revokeText:
    "svc deletes its values at once. Plans made with it become void, and plans in progress stop. An apply in progress continues. Runs that need this connection are blocked until you bind another one.",
  names: "Sets",
  recipe: "Purpose",
  provider: "Provider",
  providerHelp: "As written in the module, for example hashicorp/aws.",
  mode: "How",
  displayName: "Name",
  displayNameHelp: "The name that people select, for example “AWS production”.",
  variables: "Environment variables",
  variableName: "Name",
  variableValue: "Value",
  addVariable: "Add a variable",
  removeVariable: "Remove",
  file: "File content",
  expiresAt: "Expires on",
  expiresHelp: "svc reminds you before this day, and does not use the connection after it.",
  documentation: "Documentation of this provider",
  origins: "May be sent to",
  originsHelp:
    "One per line, such as https://git.example.com or https://git.example.com/team/. Its values are sent nowhere else, and this cannot be changed later.",
  unconfirmed: "not confirmed, sent nowhere",
  unconfirmedText: "Sent to no Git server until its origins are confirmed.",
  gitAuth: "Git credentials",
  gitAuthNone: "None, the repository is public",
  confirm: "Confirm origins",
  confirmTitle: (name: string) => `Where may ${name} be sent?`,
  confirmText:
    "This connection was created before connections had a list of servers, and is sent nowhere until you confirm servers. You cannot change confirmed servers later; omitted servers remain refused.",
  confirmWarning:
    "The operator of a server on this list can read the token in clear text. Allow only servers you know, and check who chose the connection. If a server is unknown, revoke the token where it was made.",
  confirmNone: "No source used it, so there is nothing to confirm. Create a new connection and revoke this one.",
  chosenBy: (name: string) => `· chosen by ${name}`,
  somebody: "somebody",
  allowOrigin: "It may be sent here",
  origin: "Origin",
  originNarrow: "Add a path to narrow it, such as /team/."
}

const ja: typeof en = {
  title: "接続",
  about: "プロバイダー、Git、フォージの認証情報です。書き込み専用で、保存後は画面でも API でも読み出せません。",
  create: "新しい接続",
  emptyTitle: "接続はまだありません",
  emptyText: "クラウドを操作するモジュールには認証情報が必要です。実行中だけ渡され、ログに表示されることはありません。",
  needsAdmin: "接続の追加には、ワークスペースの管理者権限が必要です。",
  operator: "このサーバーの運用者が提供",
  lastUsed: "使用:",
  neverUsed: "未使用",
  expires: "期限:",
  test: "テスト",
  testedAs: {
    completeness: "必要な値はそろっています。プロバイダーへの確認は次のプランで行われます。",
    pool: "運用者がこのワークスペースでの利用を許可しています。値はプールのエージェントにあり、次のプランで使われます。",
    git_server: "この接続を使うすべてのソースの Git サーバーで確認しました。",
    forge: "フォージで確認しました。この接続を使うすべてのソースのリポジトリを読み取れます。"
  },
  providedBy: (pool: string) => `値はプール ${pool} のエージェントにあります`,
  place: "値の保管場所",
  placeHelp:
    "プールが持つ値はエージェントにとどまります。このサーバーは値を見ることがなく、そのプールの実行だけが使えます。",
  placeHere: "このサーバーに封印して保管",
  placePool: (pool: string, name: string) => `${name}（プール ${pool} のエージェント）`,
  edit: "編集",
  editTitle: (name: string) => `${name} を編集`,
  changed: "接続を変更しました。",
  rotated: (tested: string, plans: number) =>
    plans === 0 ? `新しい値を使用します。${tested}` : `新しい値を使用します。作り直すプラン: ${plans}。${tested}`,
  use: "使用できる人",
  useRoles: "ロール",
  usedBy: { owner: "オーナーが使用", admin: "オーナーと管理者が使用", member: "オーナー・管理者・メンバーが使用" },
  useRefs: "ref（ブランチやタグ）",
  useRefsHelp:
    "1 行に 1 つ入力します。空の場合は、採用中のレーンとソースの既定の ref です。ほかの ref のプランは未レビューのコードを実行するため、オーナーか管理者が開始する必要があります。",
  useModules: "モジュール",
  useModulesHelp:
    "1 行に 1 つ、リポジトリの場所とモジュールのパスを入力します。例: https://git.example.com/team/ modules/app",
  useProjects: "プロジェクト",
  useProjectsHelp: "プロジェクト ID を 1 行に 1 つ入力します。空の場合はすべてのプロジェクトです。",
  confined: "一部のモジュールまたはプロジェクトに限定",
  rotate: "新しい値",
  rotateHelp:
    "空のままなら現在の値を使い続けます。変更するときはすべて入力してください。テスト後に置き換えられ、以前の値で作られたプランは作り直しが必要です。",
  helpers: "認証情報を入力せずに接続",
  helpersAbout:
    "プロバイダーの画面で許可すると、そのアクセストークンが接続になります。必要な実行の前に自動で更新されます。",
  helperAsks: (host: string, scopes: string) =>
    scopes === "" ? `${host} で許可を求めます` : `${host} で許可を求めます: ${scopes}`,
  connectWith: (name: string) => `${name} で接続`,
  connected: (name: string) => `${name} に接続しました。`,
  madeBy: (helper: string) => `${helper} で接続`,
  reconnect: "再接続",
  rotatedByHelper: "値は許可したプロバイダーから取得されます。置き換えるには再接続してください。",
  remove: "削除",
  removeTitle: (name: string) => `${name} を削除しますか？`,
  removeText: "値は削除されます。カプセル、ソース、実行が使用している間は削除できません。",
  revoke: "取り消す",
  revokeTitle: (name: string) => `${name} を取り消しますか？`,
  revokeText:
    "値はただちに削除されます。この接続で作られたプランは無効になり、作成中のプランは中止されます。進行中の適用は続きます。この接続が必要な実行は、別の接続を割り当てるまで停止します。",
  names: "設定する変数",
  recipe: "用途",
  provider: "プロバイダー",
  providerHelp: "モジュールでの表記どおりに入力します。例: hashicorp/aws",
  mode: "方式",
  displayName: "名前",
  displayNameHelp: "選択時に表示されます。例:「AWS 本番」",
  variables: "環境変数",
  variableName: "名前",
  variableValue: "値",
  addVariable: "変数を追加",
  removeVariable: "削除",
  file: "ファイルの内容",
  expiresAt: "有効期限",
  expiresHelp: "この日を過ぎると使用されなくなります。",
  documentation: "プロバイダーのドキュメント",
  origins: "送信先",
  originsHelp:
    "1 行に 1 つ入力します。例: https://git.example.com、https://git.example.com/team/。値はほかの場所には送られません。あとから変更できません。",
  unconfirmed: "未確認・送信されません",
  unconfirmedText: "送信先が確認されるまで、どの Git サーバーにも送られません。",
  gitAuth: "Git の認証情報",
  gitAuthNone: "なし（公開リポジトリ）",
  confirm: "送信先を確認",
  confirmTitle: (name: string) => `${name} をどこに送ってよいですか？`,
  confirmText:
    "この接続は、送信先を指定する機能より前に作成されたため、確認されるまでどこにも送られません。確認した内容はあとから変更できません。選ばなかった送信先は拒否されたままになります。",
  confirmWarning:
    "ここで許可したサーバーの運用者は、トークンをそのまま読み取れます。知っているサーバーだけを許可し、誰がこの接続を選んだかを確認してください。見覚えのないサーバーがあれば、トークンを発行元で無効にしてください。",
  confirmNone:
    "この接続を使ったソースはないため、確認するものがありません。新しい接続を作成し、この接続は取り消してください。",
  chosenBy: (name: string) => `· ${name} が選択`,
  somebody: "不明なユーザー",
  allowOrigin: "ここに送ってよい",
  origin: "送信先",
  originNarrow: "/team/ のようなパスを加えて範囲を狭められます。"
}

export const connectionWords = { en, ja }
