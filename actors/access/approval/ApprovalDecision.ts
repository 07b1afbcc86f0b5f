import type { ApprovalProblem, ApprovalState, Approver } from "../../../schema/records/Approval.ts"
import type { TeamId } from "../../../schema/records/Ids.ts"
import {
  approvalProblem,
  type BindingRule,
  type GivenApproval,
  type PlanAuthors,
  problemWords,
  uselessBecause
} from "./ApproverEligibility.ts"

/** Facts that decide whether a plan may be applied. */
export interface ApprovalFacts extends PlanAuthors {
  readonly rules: ReadonlyArray<BindingRule>
  readonly approvals: ReadonlyArray<GivenApproval>
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

/** Returns the rules that still need approvals. */
export const openRules = ({ tallies }: Pick<ApprovalDecision, "tallies">): ReadonlyArray<BindingRule> =>
  tallies.flatMap(({ missing, rule }) => (missing > 0 ? [rule] : []))

/**
 * Decides whether a plan may be applied. Every rule that matches the plan's Capsule needs enough approvals that count now.
 * If no rule matches, any approval is enough.
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
