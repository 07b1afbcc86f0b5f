import { Schema } from "effect"
import { ApprovalRuleId, ProjectId, RunId, Subject, TeamId, WorkspaceId } from "./Ids.ts"
import { Timestamp } from "./Primitives.ts"
import { Uncertainty } from "./UncertainGround.ts"
import { SubjectKind } from "./Workspace.ts"

/** Recorded as the approver when svc itself approves the plan of a Capsule that follows its lane. */
export const ServiceApprover = Schema.Literal("service")
export const Approver = Schema.Union([ServiceApprover, Subject])
export type Approver = typeof Approver.Type

/** The minimum role of an approver. */
export const ApproverRole = Schema.Literals(["admin", "owner"])
export type ApproverRole = typeof ApproverRole.Type

/** Maximum number of approvers in a rule. A higher number is assumed to be a typing error. */
export const mostApprovers = 10

/**
 * The effect on the lane's plan if people approved the same change in a speculative plan.
 * - `off`: never
 * - `approval`: the plan of the lane is approved, and people apply it
 * - `approval_and_apply`: svc also applies the plan
 */
export const CarryOver = Schema.Literals(["off", "approval", "approval_and_apply"])
export type CarryOver = typeof CarryOver.Type

/**
 * The approvals required for an apply in a Project and environment. A rule without a Project or environment matches all
 * Projects or environments. A Capsule must meet every rule that matches it.
 */
export class ApprovalRule extends Schema.Opaque<ApprovalRule>()(
  Schema.Struct({
    id: ApprovalRuleId,
    workspaceId: WorkspaceId,
    projectId: Schema.optionalKey(ProjectId),
    environment: Schema.optionalKey(Schema.String),
    approvers: Schema.Int,
    role: ApproverRole,
    /** If set, only approvals by members of this team count. */
    teamId: Schema.optionalKey(TeamId),
    /** True if an approval by an author of the plan counts. */
    planAuthorCounts: Schema.Boolean,
    /** True if an approval by an author of the commit counts. */
    commitAuthorCounts: Schema.Boolean,
    /** True if approvals by automation count. Automation includes auto-update, and subjects that cannot sign in. */
    automationCounts: Schema.Boolean,
    /** Effective only if every rule that matches the Capsule allows it. */
    carryOver: CarryOver,
    createdAt: Timestamp,
    updatedAt: Timestamp
  }).annotate({ identifier: "ApprovalRule" })
) {}

/**
 * The reason why a subject counts as an author of a plan.
 * - `starter`: started the plan
 * - `automation`: created the automation that started the plan, or that automation's token
 * - `auto_update`: enabled or last changed the auto-update that started the plan
 */
export const AuthorPart = Schema.Literals(["starter", "automation", "auto_update"])
export type AuthorPart = typeof AuthorPart.Type

/** An author of a plan. The author is `service` if svc started the plan for a Capsule that follows its lane. */
export class PlanAuthor extends Schema.Opaque<PlanAuthor>()(
  Schema.Struct({ subject: Approver, part: AuthorPart }).annotate({ identifier: "PlanAuthor" })
) {}

/**
 * The reason why an approval does not count towards a rule. `plan_author`, `automation_author` and `auto_update_author`: the
 * approver is an author of the plan. `author_automation`: the approver is an automation of an author of the plan or commit.
 */
export const ApprovalProblem = Schema.Literals([
  "automation",
  "no_member",
  "role",
  "team",
  "plan_author",
  "automation_author",
  "auto_update_author",
  "author_automation",
  "commit_author",
  "commit_author_unknown"
])
export type ApprovalProblem = typeof ApprovalProblem.Type

/** `lapsed`: an approval was given but no longer counts, so another approval is needed. */
export const ApprovalState = Schema.Literals(["approved", "waiting", "lapsed"])
export type ApprovalState = typeof ApprovalState.Type

/** The extent to which a plan meets one rule. */
export class RuleStanding extends Schema.Opaque<RuleStanding>()(
  Schema.Struct({
    rule: ApprovalRule,
    teamName: Schema.optionalKey(Schema.String),
    approvedBy: Schema.Array(Approver),
    missing: Schema.Int
  }).annotate({ identifier: "ApprovalRuleStanding" })
) {}

/** The approvals that a plan has, the approvals that it still needs, and the reason why the plan is waiting. */
export class RunApprovals extends Schema.Opaque<RunApprovals>()(
  Schema.Struct({
    runId: RunId,
    state: ApprovalState,
    /** Human-readable explanation. */
    message: Schema.String,
    approvals: Schema.Array(
      Schema.Struct({
        approver: Approver,
        kind: SubjectKind,
        comment: Schema.optionalKey(Schema.String),
        createdAt: Timestamp,
        /** The reason why the approval counts towards no rule; absent if it counts. */
        problem: Schema.optionalKey(ApprovalProblem)
      })
    ),
    rules: Schema.Array(RuleStanding),
    /** The authors of the plan, as recorded when it was created. */
    authors: Schema.Array(PlanAuthor),
    /** Reasons why objects may exist that the plan does not include; absent if there are none. Never present on a restore. */
    uncertain: Schema.optionalKey(Schema.Array(Uncertainty)),
    /** True if an approval by the caller would count. */
    own: Schema.Struct({
      status: Schema.Literals(["given", "counts", "not_needed", "does_not_count"]),
      problem: Schema.optionalKey(ApprovalProblem)
    })
  }).annotate({ identifier: "RunApprovals" })
) {}

/** A request to the people who may approve a plan. */
export class ApprovalRequest extends Schema.Opaque<ApprovalRequest>()(
  Schema.Struct({
    runId: RunId,
    subject: Subject,
    at: Timestamp,
    /** Number of people whose approval would count now. */
    asked: Schema.Int
  }).annotate({ identifier: "ApprovalRequest" })
) {}
