import { Schema } from "effect"
import { ApprovalRuleId, ProjectId, RunId, Subject, TeamId, WorkspaceId } from "./Ids.ts"
import { Timestamp } from "./Primitives.ts"
import { Uncertainty } from "./UncertainGround.ts"
import { SubjectKind } from "./Workspace.ts"

/** The approver of plans that the service approves for Capsules that follow their lane. */
export const ServiceApprover = Schema.Literal("service")
export const Approver = Schema.Union([ServiceApprover, Subject])
export type Approver = typeof Approver.Type

/** The minimum role of an approver. */
export const ApproverRole = Schema.Literals(["admin", "owner"])
export type ApproverRole = typeof ApproverRole.Type

/** A rule that requires more approvers than this is a mistake. */
export const mostApprovers = 10

/**
 * Requirements for an apply in a Project and environment; a rule without a Project or environment applies to all of them. Every
 * rule that matches a Capsule has to be met.
 */
export class ApprovalRule extends Schema.Opaque<ApprovalRule>()(
  Schema.Struct({
    id: ApprovalRuleId,
    workspaceId: WorkspaceId,
    projectId: Schema.optionalKey(ProjectId),
    environment: Schema.optionalKey(Schema.String),
    approvers: Schema.Int,
    role: ApproverRole,
    /** Only members of this team count. */
    teamId: Schema.optionalKey(TeamId),
    /** True if an approval by an author of the plan counts. */
    planAuthorCounts: Schema.Boolean,
    /** True if an approval by an author of the commit counts. */
    commitAuthorCounts: Schema.Boolean,
    /** True if automation counts: auto-update, and subjects that cannot sign in. */
    automationCounts: Schema.Boolean,
    createdAt: Timestamp,
    updatedAt: Timestamp
  }).annotate({ identifier: "ApprovalRule" })
) {}

/**
 * Reasons why somebody is an author of a plan.
 *
 * - `starter`: started it.
 * - `automation`: made the automation that started it, or minted its token.
 * - `auto_update`: turned on or last changed the auto-update that started it.
 */
export const AuthorPart = Schema.Literals(["starter", "automation", "auto_update"])
export type AuthorPart = typeof AuthorPart.Type

/** An author of a plan. `service` started the plans of a Capsule that follows its lane. */
export class PlanAuthor extends Schema.Opaque<PlanAuthor>()(
  Schema.Struct({ subject: Approver, part: AuthorPart }).annotate({ identifier: "PlanAuthor" })
) {}

/**
 * Reasons why an approval does not count towards a rule. `plan_author`, `automation_author` and `auto_update_author`: the
 * approver is an author of the plan. `author_automation`: the approver is an automation of an author of the plan or of the
 * commit.
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

/** `lapsed`: an approval was given but no longer counts, so it is now missing. */
export const ApprovalState = Schema.Literals(["approved", "waiting", "lapsed"])
export type ApprovalState = typeof ApprovalState.Type

/** The status of one rule for a plan. */
export class RuleStanding extends Schema.Opaque<RuleStanding>()(
  Schema.Struct({
    rule: ApprovalRule,
    teamName: Schema.optionalKey(Schema.String),
    approvedBy: Schema.Array(Approver),
    missing: Schema.Int
  }).annotate({ identifier: "ApprovalRuleStanding" })
) {}

/** The approvals of a plan, the missing approvals, and the reason why the plan is waiting. */
export class RunApprovals extends Schema.Opaque<RunApprovals>()(
  Schema.Struct({
    runId: RunId,
    state: ApprovalState,
    /** A readable explanation, for people. */
    message: Schema.String,
    approvals: Schema.Array(
      Schema.Struct({
        approver: Approver,
        kind: SubjectKind,
        comment: Schema.optionalKey(Schema.String),
        createdAt: Timestamp,
        /** The reason why the approval counts towards no rule; absent while it counts. */
        problem: Schema.optionalKey(ApprovalProblem)
      })
    ),
    rules: Schema.Array(RuleStanding),
    /** The authors of the plan, recorded when it was created. */
    authors: Schema.Array(PlanAuthor),
    /**
     * Reasons why the plan may not include objects that exist; absent if nothing makes it uncertain. Never present on a restore.
     */
    uncertain: Schema.optionalKey(Schema.Array(Uncertainty)),
    /** States if the caller's own approval would count. */
    own: Schema.Struct({
      status: Schema.Literals(["given", "counts", "not_needed", "does_not_count"]),
      problem: Schema.optionalKey(ApprovalProblem)
    })
  }).annotate({ identifier: "RunApprovals" })
) {}
