import type { ApprovalRule, Run, RunApprovals, Team } from "../../../../src/dashboard/api/Types.ts"
import { me } from "./People.ts"
import { ago } from "./Seeds.ts"
import { workspaceId } from "./Workspaces.ts"

const times = { createdAt: ago(600), updatedAt: ago(600) }

export const teams: ReadonlyArray<Team> = [
  {
    id: "team_0000000000000001",
    workspaceId,
    name: "sre",
    members: [me],
    grants: [{ environment: "production", role: "admin" }],
    ...times
  }
]

const rule: ApprovalRule = {
  id: "apr_0000000000000001",
  workspaceId,
  environment: "production",
  approvers: 2,
  role: "admin",
  teamId: "team_0000000000000001",
  planAuthorCounts: false,
  commitAuthorCounts: true,
  automationCounts: false,
  carryOver: "off",
  ...times
}

export const approvalRules: ReadonlyArray<ApprovalRule> = [rule]

/**
 * No approval rule applies to the demo's Runs and no team grants rights, so rights depend only on the caller's role in the
 * Workspace.
 */
export const unruled = (run: Run): RunApprovals => ({
  runId: run.id,
  state: run.approvedAt === undefined ? "waiting" : "approved",
  message: "The plan waits for an approval.",
  approvals: [],
  rules: [],
  authors: [],
  own: { status: "not_needed" }
})

/**
 * The existing approval no longer counts because the approver lost the required role, but an approval by the caller would
 * count.
 */
export const lapsed = (run: Run): RunApprovals => ({
  runId: run.id,
  state: "lapsed",
  message: "The plan waits for 2 more approvals.",
  approvals: [
    {
      approver: "usr_0000000000000002",
      kind: "person",
      comment: "fine by me",
      createdAt: ago(30),
      problem: "role"
    }
  ],
  rules: [{ rule, teamName: "sre", approvedBy: [], missing: 2 }],
  authors: [{ subject: "usr_0000000000000001", part: "starter" }],
  own: { status: "does_not_count", problem: "plan_author" }
})
