import type { Approver, ApprovalProblem } from "../../../schema/records/Approval.ts"
import type { TeamId } from "../../../schema/records/Ids.ts"
import type { ApprovalDecision, BindingRule } from "./ApprovalDecision.ts"

/** Why an approval does not count, worded to follow "because". */
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

/** Why a plan is waiting, worded for people; `undefined` if it is approved. */
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
