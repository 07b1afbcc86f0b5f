import { at, consumer, id, plan, subject, team_id, times, workspace_id, type Rows } from "./RowValues.ts"

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
      carry_over: "approval",
      ...times
    }
  ],
  ["run_approvals", { run_id: plan, approver: "service", created_at: at, behind: "[]" }],
  ["change_bases", { run_id: plan, consumed_outputs: "[]", deliveries: "{}", provided: "[]", commit_authors: "[]" }],
  [
    "change_approvals",
    {
      id: id("cha", "a"),
      workspace_id,
      capsule_id: consumer,
      run_id: plan,
      subject,
      behind: "[]",
      plan_digest: "d",
      change_digest: "d",
      resolved_commit: "c",
      rules: "[]",
      created_at: at
    }
  ],
  ["plan_authors", { run_id: plan, subject, part: "starter" }]
]
