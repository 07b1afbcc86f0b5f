import { Schema } from "effect"
import { ChangeApprovalId, PullRequestId, RunId } from "./Ids.ts"

/** The approvals that svc carried over to a plan of the lane, and the speculative plan in which people gave them. */
export class CarriedFrom extends Schema.Opaque<CarriedFrom>()(
  Schema.Struct({
    changeApprovalIds: Schema.Array(ChangeApprovalId),
    runId: RunId,
    pullRequestId: Schema.optionalKey(PullRequestId),
    pullRequestNumber: Schema.optionalKey(Schema.Int),
    /** The digest of the speculative plan, and the digest of the change in both plans. */
    planDigest: Schema.String,
    changeDigest: Schema.String,
    /** True if the rules let svc apply the plan. */
    applies: Schema.optionalKey(Schema.Literal(true))
  }).annotate({ identifier: "CarriedFrom" })
) {}

/**
 * The reason why svc did not carry over the approvals of a change to a plan of the lane.
 *
 * - `off`: a rule of the Capsule does not allow it, or there is no rule
 * - `change`: the plans do not make the same change
 * - `files`: files of the module graph differ, such as the command of a provisioner
 * - `configuration`, `inputs`, `connection`, `authority`, `state`, `provider_lock`, `tool`, `profile`, `agent_credentials`,
 *   `deliveries`: this part of the inputs differs between the plans
 * - `rule`: the rules were changed after an approval
 * - `approver`: too few approvals still count
 * - `stale`: the base changed the same files after the branch was created
 * - `uncertain`: it is uncertain which objects exist
 * - `used`: the approvals were already used for a plan that was applied or discarded
 * - `unknown`: an older release or agent did not record the facts for the comparison
 */
export const DifferenceCode = Schema.Literals([
  "off",
  "change",
  "files",
  "configuration",
  "inputs",
  "connection",
  "authority",
  "state",
  "provider_lock",
  "tool",
  "profile",
  "agent_credentials",
  "deliveries",
  "rule",
  "approver",
  "stale",
  "uncertain",
  "used",
  "unknown"
])
export type DifferenceCode = typeof DifferenceCode.Type

/** A line of the review that only one of the two plans has. */
export const DifferingLine = Schema.Struct({
  side: Schema.Literals(["approved", "planned"]),
  text: Schema.String
})
export type DifferingLine = typeof DifferingLine.Type

/**
 * The differences between a plan of the lane and the change that people approved in a speculative plan. Contains no private
 * values.
 */
export class DiffersFrom extends Schema.Opaque<DiffersFrom>()(
  Schema.Struct({
    runId: RunId,
    pullRequestId: Schema.optionalKey(PullRequestId),
    pullRequestNumber: Schema.optionalKey(Schema.Int),
    /** The head commit of the speculative plan. */
    commit: Schema.optionalKey(Schema.String),
    reasons: Schema.Array(Schema.Struct({ code: DifferenceCode, message: Schema.String })),
    lines: Schema.Array(DifferingLine),
    /** Number of differing lines that are not in `lines`. */
    moreLines: Schema.optionalKey(Schema.Int)
  }).annotate({ identifier: "DiffersFrom" })
) {}
