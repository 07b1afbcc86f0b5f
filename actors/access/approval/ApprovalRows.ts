import { Schema } from "effect"
import { Approver, ApproverRole, AuthorPart, CarryOver } from "../../../schema/records/Approval.ts"
import {
  ApprovalRuleId,
  CapsuleId,
  ChangeApprovalId,
  ProjectId,
  RunId,
  Subject,
  TeamId,
  WorkspaceId
} from "../../../schema/records/Ids.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { SubjectsJson } from "../account/PeopleBehind.ts"
import { jsonText } from "../../base/database/StoredRecord.ts"
import { Flag, type RowOf, table } from "../../base/database/Table.ts"

/** Approval rules. */
export const ApprovalRuleRow = table(
  "approval_rules",
  {
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
    updated_at: Timestamp,
    carry_over: CarryOver
  },
  ["carry_over"]
)
export type ApprovalRuleRow = RowOf<typeof ApprovalRuleRow.columns>

/** The keys of uncertainties that the approver acknowledged. */
export const AcknowledgedJson = jsonText(Schema.Array(Schema.String))

/** The approvals of each plan. Each person counts once. */
export const RunApprovalRow = table("run_approvals", {
  run_id: RunId,
  approver: Approver,
  comment: Schema.NullOr(Schema.String),
  created_at: Timestamp,
  /**
   * If the approver is an automation, the people who created the automation or its token. `NULL` for approvals that earlier
   * releases recorded.
   */
  behind: Schema.NullOr(SubjectsJson),
  /** The uncertainties that the approver acknowledged (see `UncertainGround.ts`). */
  acknowledged: Schema.NullOr(AcknowledgedJson)
})
export type RunApprovalRow = RowOf<typeof RunApprovalRow.columns>

/** The authors of each plan. Earlier releases recorded no authors. */
export const PlanAuthorRow = table("plan_authors", {
  run_id: RunId,
  subject: Approver,
  part: AuthorPart
})
export type PlanAuthorRow = RowOf<typeof PlanAuthorRow.columns>

/** The rules that matched a Capsule when its change was approved, in a canonical form for comparison. */
export const rulesText = (rules: ReadonlyArray<ApprovalRuleRow>): string =>
  JSON.stringify(
    rules
      .map((rule) => [
        rule.id,
        rule.approvers,
        rule.role,
        rule.team_id,
        rule.plan_author_counts,
        rule.commit_author_counts,
        rule.automation_counts,
        rule.carry_over
      ])
      .toSorted(([a], [b]) => (String(a) < String(b) ? -1 : 1))
  )

/**
 * Approvals of the changes in speculative plans. Each person has at most one active approval per change, not counting
 * withdrawn approvals.
 */
export const ChangeApprovalRow = table("change_approvals", {
  id: ChangeApprovalId,
  workspace_id: WorkspaceId,
  capsule_id: CapsuleId,
  run_id: RunId,
  subject: Subject,
  /** If the approver is an automation, the people who created the automation or its token. */
  behind: SubjectsJson,
  plan_digest: Schema.String,
  change_digest: Schema.String,
  resolved_commit: Schema.String,
  /** The rules at the time of the approval (`rulesText`). */
  rules: Schema.String,
  comment: Schema.NullOr(Schema.String),
  created_at: Timestamp,
  withdrawn_at: Schema.NullOr(Timestamp),
  withdrawn_by: Schema.NullOr(Subject),
  /** The newest plan of the lane to which svc carried the approval over. */
  carried_to_run_id: Schema.NullOr(RunId)
})
export type ChangeApprovalRow = RowOf<typeof ChangeApprovalRow.columns>
