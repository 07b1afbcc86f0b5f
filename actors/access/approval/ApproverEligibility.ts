import { Effect } from "effect"
import { ApiError } from "../../../schema/errors/ApiError.ts"
import type { ApprovalProblem, ApprovalRule, Approver, AuthorPart } from "../../../schema/records/Approval.ts"
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
  /** The approver's role for this Capsule. Absent if the approver has no active membership, or is svc itself. */
  readonly role: Role | undefined
  readonly teamIds: ReadonlySet<TeamId>
  /** If the approver is an automation, the people who created the automation or its token. */
  readonly behind: ReadonlyArray<Subject>
}

/** The authors of a plan and of its commit. */
export interface PlanAuthors {
  readonly planAuthors: ReadonlyMap<Approver, AuthorPart>
  /** The members of the Workspace who wrote the commit; `unknown` if its authors were not read. */
  readonly commitAuthors: ReadonlySet<Subject> | "unknown"
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
  { commitAuthors, planAuthors }: PlanAuthors
): ApprovalProblem | undefined => {
  if (kind === "automation" && !rule.automationCounts) return "automation"
  // svc has no role, because it is not a member. It approves plans of a Capsule whose owner has allowed auto-update.
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
 * Returns the first reason why an approval counts towards none of the rules. Returns `undefined` if the approval counts
 * towards at least one rule, or if there are no rules.
 */
export const uselessBecause = (
  rules: ReadonlyArray<BindingRule>,
  approval: GivenApproval,
  authors: PlanAuthors
): ApprovalProblem | undefined => {
  const problems = rules.map((rule) => approvalProblem(rule, approval, authors))
  return problems.includes(undefined) ? undefined : problems[0]
}

/**
 * Returns the reason why an approval by this person would not count towards the rules, or `undefined` if it would. Only admins and
 * owners may approve.
 */
export const ineligibleBecause = (
  rules: ReadonlyArray<BindingRule>,
  own: GivenApproval,
  authors: PlanAuthors
): ApprovalProblem | undefined =>
  own.role !== undefined && roleAtLeast(own.role, "admin") ? uselessBecause(rules, own, authors) : "role"

/** Explains why an approval does not count. The text is a clause that follows "because". */
export const problemWords: Readonly<Record<ApprovalProblem, string>> = {
  automation: "approvals by automation do not count here",
  no_member: "the approver is not an active member of the Workspace",
  role: "the approver's role does not allow it",
  team: "the approver is not in the team that has to approve",
  plan_author: "the author of the plan does not count",
  automation_author:
    "the approver created the automation or token that started the plan, and so is an author of the plan",
  auto_update_author:
    "the approver turned on or last changed the auto-update that started the plan, and so is an author of the plan",
  author_automation: "an author of the plan or of the commit created this automation or its token",
  commit_author: "an author of the commit does not count",
  commit_author_unknown:
    "the authors of the commit are unknown, and commit authors do not count; sync the Source and plan again"
}

/** Fails with `permission_denied` if an approval would count towards none of the rules. */
export const requireEligible = (
  rules: ReadonlyArray<BindingRule>,
  approval: GivenApproval,
  authors: PlanAuthors
): Effect.Effect<void, ApiError> => {
  const problem = uselessBecause(rules, approval, authors)
  if (problem === undefined) return Effect.void
  return Effect.fail(
    new ApiError({ code: "permission_denied", message: `This approval would not count: ${problemWords[problem]}.` })
  )
}
