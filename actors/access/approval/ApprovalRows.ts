import { Schema } from "effect"
import { Approver, ApproverRole, AuthorPart } from "../../../schema/records/Approval.ts"
import { ApprovalRuleId, ProjectId, RunId, TeamId, WorkspaceId } from "../../../schema/records/Ids.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { SubjectsJson } from "../account/PeopleBehind.ts"
import { jsonText } from "../../base/database/StoredRecord.ts"
import { Flag, type RowOf, table } from "../../base/database/Table.ts"

/** Approval rules. */
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

/** The keys of uncertainties that the approver acknowledged. */
export const AcknowledgedJson = jsonText(Schema.Array(Schema.String))

/** The approvals of each plan. Each person counts once. */
export const RunApprovalRow = table("run_approvals", {
  run_id: RunId,
  approver: Approver,
  comment: Schema.NullOr(Schema.String),
  created_at: Timestamp,
  /** If the approver is an automation: the people behind it. `NULL` for approvals in earlier releases. */
  behind: Schema.NullOr(SubjectsJson),
  /** The uncertainties that the approver acknowledged (see `UncertainGround.ts`). */
  acknowledged: Schema.NullOr(AcknowledgedJson)
})
export type RunApprovalRow = RowOf<typeof RunApprovalRow.columns>

/** The authors of each plan. Earlier releases recorded none. */
export const PlanAuthorRow = table("plan_authors", {
  run_id: RunId,
  subject: Approver,
  part: AuthorPart
})
export type PlanAuthorRow = RowOf<typeof PlanAuthorRow.columns>
