import { counted } from "../../words/Format.ts"

const en = {
  rules: "Approval rules",
  rulesAbout:
    "The approvals that an apply needs beyond one approval by an admin. Rules apply to people, tokens, updates and automation; every matching rule must be met.",
  noRules: "No rules",
  noRulesText: "One approval by an admin or owner is enough, and they may approve their own plans.",
  newRule: "Add rule",
  newRuleTitle: "Add an approval rule",
  editRuleTitle: "Change the approval rule",
  edit: "Change",
  everywhere: "Every environment",
  environment: "Environment",
  environmentHelp: "Empty: every environment.",
  approvers: "Approvers",
  approverRole: "Role of an approver",
  roles: { admin: "Admin or owner", owner: "Owner" },
  team: "Team",
  anyTeam: "Any member with the role",
  planAuthor: "Authors of the plan count",
  planAuthorHelp:
    "The person who started it, the person who created the automation or token that started it, and the person who turned on or last changed its auto-update.",
  commitAuthor: "The author of the commit counts",
  automation: "Automation counts",
  automationHelp: "Auto-update and automation members. Otherwise a followed plan waits for people.",
  needs: (count: number, role: string) => `${counted(count, "approval")}: ${role}`,
  ofTeam: (name: string) => `team ${name}`,
  notPlanAuthor: "not by an author of the plan",
  notCommitAuthor: "not by the author of the commit",
  withAutomation: "automation counts",
  carryOver: "Approvals given in a pull request",
  carryOverHelp:
    "An approval of the change in a speculative plan can count for the plan after the merge, if that plan makes exactly the same change from the same files and inputs.",
  carryOvers: {
    off: "Never count for the plan after the merge",
    approval: "Count for the plan after the merge",
    approval_and_apply: "Count for the plan after the merge, which svc then applies"
  },
  carriesOver: {
    approval: "approvals of the same change are carried over",
    approval_and_apply: "approvals of the same change are carried over and applied"
  },
  removeRule: "Remove this rule?",
  removeRuleText: "Its approvals are no longer required, also for plans that wait now.",
  teams: "Teams",
  teamsAbout:
    "A named group of members. A team may add a role for the capsules of an environment; it never removes a role.",
  noTeams: "No teams",
  noTeamsText: "Approval rules can require members of a team.",
  newTeam: "Create team",
  newTeamTitle: "Create a team",
  editTeamTitle: (name: string) => `Change ${name}`,
  teamName: "Name",
  teamNameHelp: "1 to 39 of a-z, 0-9 and -.",
  teamMembers: "Members of the team",
  membersOf: (count: number) => counted(count, "member"),
  grant: "Role that it adds",
  grantNumber: (at: number) => `Role ${at}`,
  addGrant: "Add a role",
  removeGrant: (at: number) => `Remove role ${at}`,
  project: "Project",
  everyProject: "Every Project",
  ofProject: (name: string) => `Project ${name}`,
  grantEnvironment: "In the environment",
  grantIn: (role: string, environment: string | undefined, project: string | undefined) => {
    const where = [...(environment === undefined ? [] : [environment]), ...(project === undefined ? [] : [project])]
    return where.length === 0 ? `${role} everywhere` : `${role} in ${where.join(" of ")}`
  },
  removeTeam: (name: string) => `Remove ${name}?`,
  removeTeamText: "Its grants end. A team that a rule refers to cannot be removed."
}

const ja: typeof en = {
  rules: "承認ルール",
  rulesAbout:
    "管理者 1 人の承認に加えて、適用に必要な条件です。人・トークン・一括更新・自動処理のすべてに等しく適用され、当てはまるルールをすべて満たす必要があります。",
  noRules: "ルールはありません",
  noRulesText: "管理者またはオーナー 1 人の承認で適用できます。自分のプランも承認できます。",
  newRule: "ルールを追加",
  newRuleTitle: "承認ルールを追加",
  editRuleTitle: "承認ルールを変更",
  edit: "変更",
  everywhere: "すべての環境",
  environment: "環境",
  environmentHelp: "空欄の場合は、すべての環境が対象です。",
  approvers: "承認者の人数",
  approverRole: "承認者のロール",
  roles: { admin: "管理者またはオーナー", owner: "オーナー" },
  team: "チーム",
  anyTeam: "ロールを持つ全メンバー",
  planAuthor: "プランの作成者の承認を数える",
  planAuthorHelp:
    "プランを開始した人、開始した自動処理やそのトークンを作成した人、開始した自動更新を有効にした人または最後に変更した人です。",
  commitAuthor: "コミットの作成者の承認を数える",
  automation: "自動処理の承認を数える",
  automationHelp: "自動更新と自動処理メンバーが対象です。数えない場合、自動で作られたプランは人の承認を待ちます。",
  needs: (count: number, role: string) => `${role}の承認 ${count} 件`,
  ofTeam: (name: string) => `チーム ${name}`,
  notPlanAuthor: "プランの作成者を除く",
  notCommitAuthor: "コミットの作成者を除く",
  withAutomation: "自動処理を含む",
  carryOver: "プルリクエストでの承認",
  carryOverHelp:
    "プルリクエストのプランが示す変更への承認を、マージ後のプランに引き継げます。引き継ぐのは、同じファイルと入力からまったく同じ変更になる場合だけです。",
  carryOvers: {
    off: "マージ後のプランには引き継がない",
    approval: "マージ後のプランに引き継ぐ",
    approval_and_apply: "マージ後のプランに引き継ぎ、自動で適用する"
  },
  carriesOver: {
    approval: "同じ変更の承認を引き継ぐ",
    approval_and_apply: "同じ変更の承認を引き継いで適用する"
  },
  removeRule: "このルールを削除しますか？",
  removeRuleText: "待機中のプランも含め、このルールの条件は不要になります。",
  teams: "チーム",
  teamsAbout: "メンバーをまとめたものです。環境のカプセルに対するロールを追加できます。ロールが減ることはありません。",
  noTeams: "チームはありません",
  noTeamsText: "承認ルールでは、チームのメンバーによる承認を条件にできます。",
  newTeam: "チームを作成",
  newTeamTitle: "チームを作成",
  editTeamTitle: (name: string) => `${name} を変更`,
  teamName: "名前",
  teamNameHelp: "a〜z、0〜9、- を 1〜39 文字。",
  teamMembers: "チームのメンバー",
  membersOf: (count: number) => `メンバー ${count} 人`,
  grant: "追加するロール",
  grantNumber: (at: number) => `ロール ${at}`,
  addGrant: "ロールを追加",
  removeGrant: (at: number) => `ロール ${at} を削除`,
  project: "プロジェクト",
  everyProject: "すべてのプロジェクト",
  ofProject: (name: string) => `プロジェクト ${name}`,
  grantEnvironment: "対象の環境",
  grantIn: (role: string, environment: string | undefined, project: string | undefined) => {
    const where = [...(project === undefined ? [] : [project]), ...(environment === undefined ? [] : [environment])]
    return where.length === 0 ? `${role}（すべての環境）` : `${role}（${where.join("・")}）`
  },
  removeTeam: (name: string) => `${name} を削除しますか？`,
  removeTeamText: "追加されていたロールは失われます。ルールで使われているチームは削除できません。"
}

export const approvalWords = { en, ja }
