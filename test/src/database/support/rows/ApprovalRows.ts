import { at, id, plan, subject, team_id, times, workspace_id, type Rows } from "./RowValues.ts"

/** A team, and a rule that requires its approval. */
export const approvalRows: Rows = [
  ["teams", { id: team_id, workspace_id, name: "sre", ...times }],
  ["team_members", { team_id, subject }],
  ["team_grants", { team_id, position: 0, environment: "production", role: "admin" }],
  [
    "approval_rules",
    {
      id: id("apr", "a"),
      workspace_id,
      environment: "production",
      approvers: 2,
      role: "admin",
      team_id,
      plan_author_counts: 0,
      commit_author_counts: 1,
      automation_counts: 0,
      ...times
    }
  ],
  ["run_approvals", { run_id: plan, approver: "service", created_at: at, behind: "[]" }],
  ["plan_authors", { run_id: plan, subject, part: "starter" }]
]
