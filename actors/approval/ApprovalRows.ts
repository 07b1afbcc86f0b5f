import { Schema } from "effect"
import { Approver, ApproverRole } from "../../schema/records/Approval.ts"
import { ApprovalRuleId, ProjectId, RunId, TeamId, WorkspaceId } from "../../schema/records/Ids.ts"
import { Timestamp } from "../../schema/records/Primitives.ts"
import { Flag, type RowOf, table } from "../database/Table.ts"

/** What an apply requires. */
export const ApprovalRuleRow = table("approval_rules", {
  id: ApprovalRuleId,
  workspace_id: WorkspaceId,
  project_id: Schema.NullOr(ProjectId),
  environment: Schema.NullOr(Schema.String),
  approvers: Schema.Int,
  role: ApproverRole,
  team_id: Schema.NullOr(TeamId),
  plan_author_counts: Flag,
  commit_author_counts: Flag,
  automation_counts: Flag,
  created_at: Timestamp,
  updated_at: Timestamp
})
export type ApprovalRuleRow = RowOf<typeof ApprovalRuleRow.columns>

/** Who has approved which plan; each person counts once. */
export const RunApprovalRow = table("run_approvals", {
  run_id: RunId,
  approver: Approver,
  comment: Schema.NullOr(Schema.String),
  created_at: Timestamp
})
export type RunApprovalRow = RowOf<typeof RunApprovalRow.columns>
