const of = (role: string, team: string | undefined) => (team === undefined ? role : `${role}, team ${team}`)
const ofJa = (role: string, team: string | undefined) => (team === undefined ? role : `チーム ${team} の${role}`)

const en = {
  roles: { admin: "admins and owners", owner: "owners" },
  none: "No approval rule applies: one admin or owner decides.",
  missing: (count: number, role: string, team: string | undefined) =>
    count === 1
      ? `1 more approval is needed: ${of(role, team)}.`
      : `${count} more approvals are needed: ${of(role, team)}.`,
  met: (count: number, role: string, team: string | undefined) =>
    count === 1
      ? `The approval was given: ${of(role, team)}.`
      : `All ${count} approvals were given: ${of(role, team)}.`,
  approved: (name: string) => `${name} approved`,
  notCounted: (reason: string) => `It does not count: ${reason}.`,
  given: "You have approved this plan. It waits for other approvals.",
  yours: (reason: string) => `Your approval would not count: ${reason}.`,
  authors: (names: string) => `Authors of this plan, whose approval does not count: ${names}.`,
  authorParts: {
    starter: "started it",
    automation: "made the automation that started it, or its token",
    auto_update: "turned on or last changed the auto-update"
  },
  moreNeeded: "Approved. The plan waits for further approvals and was not applied.",
  problems: {
    automation: "automation does not count here",
    no_member: "no active member of the workspace",
    role: "the role does not allow it",
    team: "not in the team that has to approve",
    plan_author: "started this plan",
    automation_author: "made the automation that started this plan, or its token",
    auto_update_author: "turned on or last changed the auto-update that started this plan",
    author_automation: "an author of this plan or of its commit created this automation or its token",
    commit_author: "wrote the commit",
    commit_author_unknown: "the authors of the commit are unknown; sync the source and plan again"
  }
}

const ja: typeof en = {
  roles: { admin: "管理者またはオーナー", owner: "オーナー" },
  none: "適用される承認ルールはありません。管理者またはオーナー 1 人が決定します。",
  missing: (count: number, role: string, team: string | undefined) =>
    `${ofJa(role, team)}の承認が、あと ${count} 件必要です。`,
  met: (count: number, role: string, team: string | undefined) =>
    `${ofJa(role, team)}の承認 ${count} 件がそろっています。`,
  approved: (name: string) => `${name} が承認`,
  notCounted: (reason: string) => `この承認は数えられません: ${reason}。`,
  given: "あなたは承認済みです。ほかの人の承認を待っています。",
  yours: (reason: string) => `あなたの承認は数えられません: ${reason}。`,
  authors: (names: string) => `このプランの作成者 (承認は数えません): ${names}`,
  authorParts: {
    starter: "開始した人",
    automation: "開始した自動処理またはそのトークンを作成した人",
    auto_update: "自動更新を有効にした人、または最後に変更した人"
  },
  moreNeeded: "承認しました。ほかの承認を待っているため、まだ適用していません。",
  problems: {
    automation: "ここでは自動処理の承認は数えません",
    no_member: "ワークスペースの有効なメンバーではありません",
    role: "ロールが足りません",
    team: "承認を求められているチームのメンバーではありません",
    plan_author: "このプランを開始した人です",
    automation_author: "このプランを開始した自動処理、またはそのトークンを作成した人です",
    auto_update_author: "このプランを開始した自動更新を有効にした人、または最後に変更した人です",
    author_automation: "このプランまたはコミットの作成者が作成した自動処理、またはトークンによる承認です",
    commit_author: "コミットの作成者です",
    commit_author_unknown: "コミットの作成者が不明です。ソースを同期してプランを作り直してください"
  }
}

export const standingWords = { en, ja }
