const en = {
  steps: {
    queue: "Queue",
    prepare: "Prepare",
    build: "Build",
    init: "Initialise",
    plan: "Plan",
    approval: "Approval",
    apply: "Apply",
    state: "Save state",
    check: "Check"
  },
  stepStates: {
    done: "done",
    active: "in progress",
    waiting: "waiting for a person",
    failed: "failed",
    skipped: "skipped",
    pending: "not started",
    discarded: "discarded",
    withdrawn: "approval withdrawn"
  },
  timeline: "Progress",
  facts: "Details",
  purpose: "Purpose",
  purposes: {
    rollback: "Return to an earlier state",
    reconcile: "Revert changes made outside svc",
    accept_drift: "Accept changes made outside svc"
  },
  startedBy: "Started",
  who: (name: string, how: string) => `${name}, ${how}`,
  how: {
    user: "by hand",
    webhook: "by webhook",
    schedule: "on schedule",
    auto_update: "by auto-update",
    service: "by the service"
  },
  capsule: "Capsule",
  environment: "Environment",
  source: "Source",
  commit: "Commit",
  tool: "Tool",
  profile: "Execution profile",
  operatorConfig: "Operator's configuration",
  operatorSets: (names: string) => `sets ${names}`,
  operatorDefault: "base configuration of this module",
  signIn: "Sign-in of the application",
  signInReturns: "People return to",
  signOutReturns: "After a sign-out they may return to",
  checks: "Checks after the apply",
  checkStates: { passed: "passed", failed: "failed", not_run: "not made" },
  checkPlanned: (target: string, path: string, status: string, seconds: number) =>
    `${target}${path} answers ${status} within ${seconds} s`,
  sandbox: "Isolation",
  sandboxes: {
    bubblewrap: "Sandbox: own file system, process and user space",
    namespaces: "Sandbox: own file system, process and user space, without bubblewrap",
    user_landlock: "Own system user, files and system calls restricted",
    landlock: "Files and system calls restricted, user of the service",
    seatbelt: "Files restricted by macOS, user of the service",
    user: "Separate system user",
    process: "None: the module could read and change everything that the service can"
  },
  network: "Network",
  networks: {
    isolated: "Its own, without the server's loopback and forbidden addresses",
    host: "The server's own, with its loopback"
  },
  attempt: "Attempt",
  planDigest: "Plan digest",
  changeDigest: "Change digest",
  basedOn: "Based on state generation",
  lockDigest: "Provider lock",
  approvedBy: "Approved by",
  took: "Took",
  planRun: "Reviewed plan",
  update: "Update",
  openUpdate: "Its waves",
  providers: "Providers",
  resolution: {
    resolved_provider_connection: "connected",
    blocked_missing_connection: "no connection",
    blocked_policy: "blocked by policy"
  },
  connectionUse: (name: string, roles: string) => `Connection “${name}”, for ${roles}`,
  useRoles: { owner: "owners", admin: "owners and admins", member: "owners, admins and members" },
  otherRef: (ref: string) => `${ref} is not one of its refs; an owner or admin started this run`,
  automaticUse: "by the authority of the person who enabled the automation",
  newerCommit: "Newer commit",
  newerCommitUse: (ref: string, commit: string) =>
    `${ref} is at ${commit}. This run uses the deployed commit; to use the newer one, plan and apply it first.`,
  openedForRef: "Opened for this ref",
  openedFor: (ref: string, data: string, who: string) =>
    `${ref} is neither the adopted lane nor the default ref. Its code received ${data}; ${who} opened them`,
  openedByRule: "a rule allows this ref",
  privateData: {
    inputs: "private inputs",
    outputs: "Outputs of other capsules",
    state: "the state",
    connections: "connections"
  },
  listed: ", ",
  noConnectionNeeded: "no credentials needed",
  progress: "Resources",
  progressCount: (done: number, total: number) => `${done} of ${total} done`,
  progressFailed: (count: number) => `${count} failed`,
  progressWaiting: (count: number) => `${count} not started`,
  progressMore: (count: number) => `${count} more`,
  notStarted: "not started",
  actions: { create: "creating", update: "updating", delete: "destroying", read: "reading" }
}

const ja: typeof en = {
  steps: {
    queue: "待機",
    prepare: "準備",
    build: "ビルド",
    init: "初期化",
    plan: "プラン",
    approval: "承認",
    apply: "適用",
    state: "ステート保存",
    check: "確認"
  },
  stepStates: {
    done: "完了",
    active: "進行中",
    waiting: "承認待ち",
    failed: "失敗",
    skipped: "スキップ",
    pending: "未開始",
    discarded: "破棄",
    withdrawn: "承認の取り消し"
  },
  timeline: "進行状況",
  facts: "詳細",
  purpose: "目的",
  purposes: {
    rollback: "以前のステートへ戻す",
    reconcile: "外部の変更を元に戻す",
    accept_drift: "外部の変更を受け入れる"
  },
  startedBy: "開始",
  who: (name: string, how: string) => `${name}（${how}）`,
  how: { user: "手動", webhook: "Webhook", schedule: "スケジュール", auto_update: "自動更新", service: "サービス" },
  capsule: "カプセル",
  environment: "環境",
  source: "ソース",
  commit: "コミット",
  tool: "ツール",
  profile: "実行プロファイル",
  operatorConfig: "運用者の構成",
  operatorSets: (names: string) => `${names} を設定`,
  operatorDefault: "このモジュールの基本構成",
  signIn: "アプリケーションのサインイン",
  signInReturns: "サインイン後の戻り先:",
  signOutReturns: "サインアウト後に戻れるアドレス:",
  checks: "適用後の確認",
  checkStates: { passed: "合格", failed: "失敗", not_run: "未実施" },
  checkPlanned: (target: string, path: string, status: string, seconds: number) =>
    `${target}${path} が ${seconds} 秒以内に ${status} を返す`,
  sandbox: "隔離",
  sandboxes: {
    bubblewrap: "サンドボックス（ファイルシステム・プロセス・ユーザーを分離）",
    namespaces: "サンドボックス（ファイルシステム・プロセス・ユーザーを分離、bubblewrap なし）",
    user_landlock: "専用のシステムユーザー（ファイルとシステムコールを制限）",
    landlock: "サービスのユーザー（ファイルとシステムコールを制限）",
    seatbelt: "サービスのユーザー（macOS がファイルを制限）",
    user: "専用のシステムユーザー",
    process: "なし（モジュールはサービスと同じものを読み書きできました）"
  },
  network: "ネットワーク",
  networks: {
    isolated: "専用（サーバーのループバックと禁止アドレスには届きません）",
    host: "サーバーと共有（ループバックにも届きます）"
  },
  attempt: "試行回数",
  planDigest: "プランのダイジェスト",
  changeDigest: "変更内容のダイジェスト",
  basedOn: "元のステート世代",
  lockDigest: "プロバイダーロック",
  approvedBy: "承認者",
  took: "所要時間",
  planRun: "レビューしたプラン",
  update: "更新",
  openUpdate: "段階を見る",
  providers: "プロバイダー",
  resolution: {
    resolved_provider_connection: "接続済み",
    blocked_missing_connection: "接続がありません",
    blocked_policy: "ポリシーにより拒否"
  },
  connectionUse: (name: string, roles: string) => `接続「${name}」（${roles}用）`,
  useRoles: { owner: "オーナー", admin: "オーナーと管理者", member: "オーナー・管理者・メンバー" },
  otherRef: (ref: string) => `${ref} は許可された ref ではありません。オーナーまたは管理者が開始しました`,
  automaticUse: "自動化を有効にした人の権限で実行",
  newerCommit: "新しいコミット",
  newerCommitUse: (ref: string, commit: string) =>
    `${ref} は ${commit} です。この実行はデプロイ済みのコミットを使います。新しいコミットを使うには、先にプランして適用してください。`,
  openedForRef: "この ref に開示",
  openedFor: (ref: string, data: string, who: string) =>
    `${ref} は採用中の ref でも既定の ref でもありません。このコードは${data}を受け取りました（開示者: ${who}）`,
  openedByRule: "この ref はルールで許可されています",
  privateData: {
    inputs: "非公開の入力",
    outputs: "ほかのカプセルの出力",
    state: "ステート",
    connections: "接続"
  },
  listed: "、",
  noConnectionNeeded: "認証情報は不要",
  progress: "リソース",
  progressCount: (done: number, total: number) => `${total} 個中 ${done} 個が完了`,
  progressFailed: (count: number) => `${count} 個が失敗`,
  progressWaiting: (count: number) => `${count} 件は未開始`,
  progressMore: (count: number) => `残り ${count} 件を表示`,
  notStarted: "未開始",
  actions: { create: "作成中", update: "更新中", delete: "削除中", read: "読み取り中" }
}

export const runWords = { en, ja }
