import type {
  ApprovalProblem,
  ApprovalRule,
  ApprovalState,
  Approver,
  AuthorPart
} from "../../../schema/records/Approval.ts"
import type { Subject, TeamId } from "../../../schema/records/Ids.ts"
import { type Role, roleAtLeast, type SubjectKind } from "../../../schema/records/Workspace.ts"

/** A rule that matches the Capsule. */
export type BindingRule = Pick<
  ApprovalRule,
  "id" | "approvers" | "role" | "teamId" | "planAuthorCounts" | "commitAuthorCounts" | "automationCounts"
>

/** An approval, with the permissions that the approver has now. */
export interface GivenApproval {
  readonly approver: Approver
  readonly kind: SubjectKind
  /** The approver's role for this Capsule. Absent without an active membership, and for svc itself. */
  readonly role: Role | undefined
  readonly teamIds: ReadonlySet<TeamId>
  /** If the approver is an automation: the people who created it or its token. */
  readonly behind: ReadonlyArray<Subject>
}

/** Facts that decide whether a plan may be applied. */
export interface ApprovalFacts {
  readonly rules: ReadonlyArray<BindingRule>
  readonly approvals: ReadonlyArray<GivenApproval>
  readonly planAuthors: ReadonlyMap<Approver, AuthorPart>
  /** The members of the Workspace who wrote the commit; `unknown` if its authors were not read. */
  readonly commitAuthors: ReadonlySet<Subject> | "unknown"
}

/** The approvals that count for one rule. */
export interface RuleTally {
  readonly rule: BindingRule
  readonly approvedBy: ReadonlyArray<Approver>
  readonly missing: number
}

export interface ApprovalDecision {
  readonly state: ApprovalState
  readonly tallies: ReadonlyArray<RuleTally>
  /** Approvals that count towards no rule, with the reason from the first rule. */
  readonly lapsed: ReadonlyMap<Approver, ApprovalProblem>
}

const authorProblems: Readonly<Record<AuthorPart, ApprovalProblem>> = {
  starter: "plan_author",
  automation: "automation_author",
  auto_update: "auto_update_author"
}

/** Returns the reason why an approval does not count towards a rule, or `undefined` if it does. */
export const approvalProblem = (
  rule: BindingRule,
  { approver, behind, kind, role, teamIds }: GivenApproval,
  { commitAuthors, planAuthors }: Pick<ApprovalFacts, "commitAuthors" | "planAuthors">
): ApprovalProblem | undefined => {
  if (kind === "automation" && !rule.automationCounts) return "automation"
  // svc has no role, because it is not a member. It approves for a Capsule whose owner has allowed auto-update.
  if (approver !== "service") {
    if (role === undefined) return "no_member"
    if (!roleAtLeast(role, rule.role)) return "role"
  }
  if (rule.teamId !== undefined && !teamIds.has(rule.teamId)) return "team"
  if (!rule.planAuthorCounts) {
    const part = planAuthors.get(approver)
    if (part !== undefined) return authorProblems[part]
    if (behind.some((person) => planAuthors.has(person))) return "author_automation"
  }
  if (rule.commitAuthorCounts || approver === "service") return undefined
  if (commitAuthors === "unknown") return "commit_author_unknown"
  if (behind.some((person) => commitAuthors.has(person))) return "author_automation"
  return commitAuthors.has(approver) ? "commit_author" : undefined
}

/**
 * Returns the first reason why an approval counts towards none of the rules, or `undefined` if it counts towards one or there is
 * no rule.
 */
export const uselessBecause = (
  rules: ReadonlyArray<BindingRule>,
  approval: GivenApproval,
  authors: Pick<ApprovalFacts, "commitAuthors" | "planAuthors">
): ApprovalProblem | undefined => {
  const problems = rules.map((rule) => approvalProblem(rule, approval, authors))
  return problems.includes(undefined) ? undefined : problems[0]
}

/**
 * Decides whether a plan may be applied. Every rule that matches its Capsule needs enough approvals that count now. Without a
 * rule, any approval is enough.
 */
export const decideApproval = (facts: ApprovalFacts): ApprovalDecision => {
  const approvals = [...new Map(facts.approvals.map((approval) => [approval.approver, approval])).values()]
  if (facts.rules.length === 0) {
    return { state: approvals.length > 0 ? "approved" : "waiting", tallies: [], lapsed: new Map() }
  }
  const tallies = facts.rules.map((rule): RuleTally => {
    const approvedBy = approvals.flatMap((approval) =>
      approvalProblem(rule, approval, facts) === undefined ? [approval.approver] : []
    )
    return { rule, approvedBy, missing: Math.max(0, rule.approvers - approvedBy.length) }
  })
  const lapsed = new Map(
    approvals.flatMap((approval): ReadonlyArray<readonly [Approver, ApprovalProblem]> => {
      const problem = uselessBecause(facts.rules, approval, facts)
      return problem === undefined ? [] : [[approval.approver, problem]]
    })
  )
  const isMet = tallies.every(({ missing }) => missing === 0)
  return { state: isMet ? "approved" : lapsed.size > 0 ? "lapsed" : "waiting", tallies, lapsed }
}

/** Explains why an approval does not count. The text continues a sentence after "because". */
export const problemWords: Readonly<Record<ApprovalProblem, string>> = {
  automation: "automation does not count as an approver here",
  no_member: "the approver is not an active member of the Workspace",
  role: "the approver's role does not allow it",
  team: "the approver is not in the team that has to approve",
  plan_author: "the author of the plan does not count",
  automation_author:
    "the approver made the automation that started the plan, or its token, and so is an author of the plan",
  auto_update_author:
    "the approver turned on or last changed the auto-update that started the plan, and so is an author of the plan",
  author_automation: "an author of the plan or of the commit made this automation, or its token",
  commit_author: "an author of the commit does not count",
  commit_author_unknown:
    "it is not known who wrote the commit, and its authors do not count; sync the Source and plan again"
}

type Names = ReadonlyMap<TeamId, string>

const whose = ({ role, teamId }: BindingRule, names: Names): string => {
  const roles = role === "owner" ? "owners" : "admins and owners"
  return teamId === undefined ? roles : `${roles} of the team ${names.get(teamId) ?? teamId}`
}

const nameOf = (approver: Approver): string => (approver === "service" ? "svc" : approver)

/** Explains to people why a plan is waiting. Returns `undefined` if it is approved. */
export const waitingWords = ({ lapsed, state, tallies }: ApprovalDecision, names: Names): string | undefined => {
  if (state === "approved") return undefined
  if (tallies.length === 0) return "The plan waits for an approval."
  const open = tallies.flatMap(({ missing, rule }) =>
    missing === 0 ? [] : [`${missing} more ${missing === 1 ? "approval" : "approvals"} by ${whose(rule, names)}`]
  )
  const gone = [...lapsed].map(
    ([approver, problem]) => ` The approval by ${nameOf(approver)} does not count: ${problemWords[problem]}.`
  )
  return `The plan waits for ${open.join(", and ")}.${gone.join("")}`
}
