import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiSchema } from "effect/http-api"
import { ApprovalRule, ApproverRole, mostApprovers, RunApprovals } from "../records/Approval.ts"
import { ProjectId, TeamId } from "../records/Ids.ts"
import { EnvironmentName } from "../records/Primitives.ts"
import { created, described, describedGroup } from "./Endpoint.ts"
import { nextCursor, pageQuery } from "./Paging.ts"
import { accessOf } from "./Roles.ts"

const inWorkspace = { workspaceId: Schema.String }
const ofRule = { ...inWorkspace, ruleId: Schema.String }
const record = Schema.Struct({ approvalRule: ApprovalRule })

const Approvers = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: mostApprovers }))

/** `null` for Project, environment or team: every one. */
export class RuleChange extends Schema.Opaque<RuleChange>()(
  Schema.Struct({
    projectId: Schema.optionalKey(Schema.NullOr(ProjectId)),
    environment: Schema.optionalKey(Schema.NullOr(EnvironmentName)),
    approvers: Schema.optionalKey(Approvers),
    role: Schema.optionalKey(ApproverRole),
    teamId: Schema.optionalKey(Schema.NullOr(TeamId)),
    planAuthorCounts: Schema.optionalKey(Schema.Boolean),
    commitAuthorCounts: Schema.optionalKey(Schema.Boolean),
    automationCounts: Schema.optionalKey(Schema.Boolean)
  })
) {}

export class NewRule extends Schema.Opaque<NewRule>()(Schema.Struct({ ...RuleChange.fields, approvers: Approvers })) {}

export class ApprovalsApi extends describedGroup("approvals", "How many people have to approve what.")
  .add(
    HttpApiEndpoint.get("rules", "/api/v1/workspaces/:workspaceId/approval-rules", {
      params: inWorkspace,
      query: pageQuery,
      success: Schema.Struct({ approvalRules: Schema.Array(ApprovalRule), ...nextCursor })
    }).annotateMerge(
      described(
        accessOf("GET /api/v1/workspaces/:workspaceId/approval-rules"),
        "List rules of approval, oldest first",
        "Every rule that fits a Capsule's Project and environment has to be met. Where none fits, one approval by an admin is enough."
      )
    )
  )
  .add(
    HttpApiEndpoint.post("createRule", "/api/v1/workspaces/:workspaceId/approval-rules", {
      params: inWorkspace,
      payload: NewRule,
      success: record.pipe(created)
    }).annotateMerge(
      described(
        accessOf("POST /api/v1/workspaces/:workspaceId/approval-rules"),
        "Add a rule of approval",
        "Binds every apply from now on, also of plans that are approved already. Defaults: `role` admin, every Project, environment and team, `planAuthorCounts` false, `commitAuthorCounts` true, `automationCounts` false."
      )
    )
  )
  .add(
    HttpApiEndpoint.patch("updateRule", "/api/v1/workspaces/:workspaceId/approval-rules/:ruleId", {
      params: ofRule,
      payload: RuleChange,
      success: record
    }).annotateMerge(
      described(
        accessOf("PATCH /api/v1/workspaces/:workspaceId/approval-rules/:ruleId"),
        "Change a rule of approval",
        "Plans that wait, and applies that are queued, are judged by the changed rule."
      )
    )
  )
  .add(
    HttpApiEndpoint.delete("removeRule", "/api/v1/workspaces/:workspaceId/approval-rules/:ruleId", {
      params: ofRule,
      success: HttpApiSchema.NoContent
    }).annotateMerge(
      described(
        accessOf("DELETE /api/v1/workspaces/:workspaceId/approval-rules/:ruleId"),
        "Remove a rule of approval",
        "What it asked for is no longer needed. A plan that waited for it needs one more call of approve."
      )
    )
  )
  .add(
    HttpApiEndpoint.get("ofRun", "/api/v1/runs/:runId/approvals", {
      params: { runId: Schema.String },
      success: Schema.Struct({ approvals: RunApprovals })
    }).annotateMerge(
      described(
        accessOf("GET /api/v1/runs/:runId/approvals"),
        "Who approved a plan, who is missing, and why it waits",
        "Decided by the rules and the rights of this moment: an approval lapses when its approver loses the right. `own` says what the caller's approval would be worth. 409 for a Run that is no plan."
      )
    )
  ) {}
