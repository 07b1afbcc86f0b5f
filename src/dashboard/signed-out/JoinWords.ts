const en = {
  title: "You are invited",
  about: "See what you are joining, then accept or decline.",
  titleOf: (workspace: string) => `Join ${workspace}`,
  titleServer: "Join this server",
  invitedBy: (name: string) => `${name} invites you.`,
  role: {
    owner: "You join as an owner: you can do everything, including managing roles and the workspace itself.",
    admin: "You join as an admin: you see everything, plan, approve and apply, and manage connections and members.",
    member: "You join as a member: you see everything but credentials, plan and install. Only admins can approve.",
    viewer: "You join as a viewer: you see everything but credentials."
  },
  offered: {
    owner: "An owner then confirms your account, and you become an owner.",
    admin: "An owner then confirms your account, and you become an admin.",
    member: "",
    viewer: ""
  },
  serverAbout: "You get an account on this server.",
  meantFor: (email: string) => `For ${email}.`,
  until: "Expires",
  signedInAs: (email: string) => `You are signed in as ${email}.`,
  accept: "Accept and join",
  decline: "Decline",
  other: "Use another account",
  haveAccount: "I have an account: sign in",
  create: "Create account and join",
  createByPasskey: "Create account with a passkey",
  byProvider: (name: string) => `Continue with ${name}`,
  onlySignIn:
    "This invitation is for an account whose address was verified. Sign in to it, or with a provider that verified it; if you can do neither, ask for a link without an address.",
  declined: "You declined. The link no longer works.",
  refusedTitle: "This invitation cannot be used",
  refused:
    "The link is incomplete, was used or withdrawn, or has expired. Ask the person who invited you for a new one.",
  failed: "That did not work. The link is still good; try again."
}

const ja: typeof en = {
  title: "招待されています",
  about: "参加先を確認して、承諾するか辞退するかを選んでください。",
  titleOf: (workspace: string) => `${workspace} に参加`,
  titleServer: "このサーバーに参加",
  invitedBy: (name: string) => `${name} さんからの招待です。`,
  role: {
    owner: "オーナーとして参加します。ロールの変更やワークスペース自体を含む、すべての操作ができます。",
    admin: "管理者として参加します。すべての閲覧、プラン、承認、適用、接続とメンバーの管理ができます。",
    member: "メンバーとして参加します。認証情報以外の閲覧、プラン、インストールができます。承認は管理者が行います。",
    viewer: "閲覧者として参加します。認証情報以外のすべてを閲覧できます。"
  },
  offered: {
    owner: "その後、オーナーがアカウントを確認すると、オーナーになります。",
    admin: "その後、オーナーがアカウントを確認すると、管理者になります。",
    member: "",
    viewer: ""
  },
  serverAbout: "このサーバーのアカウントを作成できます。",
  meantFor: (email: string) => `${email} 宛ての招待です。`,
  until: "有効期限:",
  signedInAs: (email: string) => `${email} としてサインインしています。`,
  accept: "承諾して参加",
  decline: "辞退",
  other: "別のアカウントを使う",
  haveAccount: "アカウントを持っている: サインイン",
  create: "アカウントを作成して参加",
  createByPasskey: "パスキーでアカウントを作成",
  byProvider: (name: string) => `${name} で続行`,
  onlySignIn:
    "この招待は、アドレスが確認済みのアカウント宛てです。そのアカウントか、アドレスを確認したプロバイダーでサインインしてください。どちらもない場合は、アドレスを指定しないリンクを依頼してください。",
  declined: "辞退しました。このリンクはもう使えません。",
  refusedTitle: "この招待は使用できません",
  refused: "リンクが不完全か、使用済み、取り消し済み、または期限切れです。招待した人に新しいリンクを依頼してください。",
  failed: "うまくいきませんでした。リンクはまだ有効です。もう一度お試しください。"
}

export const joinWords = { en, ja }
