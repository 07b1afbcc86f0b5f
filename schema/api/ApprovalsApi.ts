import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import {
  ApprovalRequest,
  ApprovalRule,
  ApproverRole,
  CarryOver,
  mostApprovers,
  RunApprovals
} from "../records/Approval.ts"
import { ProjectId, TeamId } from "../records/Ids.ts"
import { EnvironmentName } from "../records/Primitives.ts"
import { created } from "./AnswerStatus.ts"
import { nextCursor, pageQuery } from "./Paging.ts"
import { ExtensionFamily } from "./ExtensionFamily.ts"

const inWorkspace = { workspaceId: Schema.String }
const ofRule = { ...inWorkspace, ruleId: Schema.String }
const record = Schema.Struct({ approvalRule: ApprovalRule })

const Approvers = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: mostApprovers }))

/** `null` for Project, environment or team removes the restriction. */
export class RuleChange extends Schema.Opaque<RuleChange>()(
  Schema.Struct({
    projectId: Schema.optionalKey(Schema.NullOr(ProjectId)),
    environment: Schema.optionalKey(Schema.NullOr(EnvironmentName)),
    approvers: Schema.optionalKey(Approvers),
    role: Schema.optionalKey(ApproverRole),
    teamId: Schema.optionalKey(Schema.NullOr(TeamId)),
    planAuthorCounts: Schema.optionalKey(Schema.Boolean),
    commitAuthorCounts: Schema.optionalKey(Schema.Boolean),
    automationCounts: Schema.optionalKey(Schema.Boolean),
    carryOver: Schema.optionalKey(CarryOver)
  })
) {}

export class NewRule extends Schema.Opaque<NewRule>()(Schema.Struct({ ...RuleChange.fields, approvers: Approvers })) {}

export class ApprovalsApi extends HttpApiGroup.make("approvals")
  .add(
    HttpApiEndpoint.get("rules", "/api/v1/workspaces/:workspaceId/approval-rules", {
      params: inWorkspace,
      query: pageQuery,
      success: Schema.Struct({ approvalRules: Schema.Array(ApprovalRule), ...nextCursor })
    })
  )
  .add(
    HttpApiEndpoint.post("createRule", "/api/v1/workspaces/:workspaceId/approval-rules", {
      params: inWorkspace,
      payload: NewRule,
      success: record.pipe(created)
    })
  )
  .add(
    HttpApiEndpoint.patch("updateRule", "/api/v1/workspaces/:workspaceId/approval-rules/:ruleId", {
      params: ofRule,
      payload: RuleChange,
      success: record
    })
  )
  .add(
    HttpApiEndpoint.delete("removeRule", "/api/v1/workspaces/:workspaceId/approval-rules/:ruleId", {
      params: ofRule,
      success: HttpApiSchema.NoContent
    })
  )
  .add(
    HttpApiEndpoint.get("ofRun", "/api/v1/runs/:runId/approvals", {
      params: { runId: Schema.String },
      success: Schema.Struct({ approvals: RunApprovals })
    })
  )
  .add(
    HttpApiEndpoint.post("ask", "/api/v1/runs/:runId/approval-requests", {
      params: { runId: Schema.String },
      payload: Schema.Struct({}),
      success: Schema.Struct({ approvalRequest: ApprovalRequest }).pipe(created)
    })
  )
  .annotateEndpoints(ExtensionFamily, "approval-rules") {}
