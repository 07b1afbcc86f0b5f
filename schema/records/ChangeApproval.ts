import { Schema } from "effect"
import { ChangeApprovalId, RunId, Subject } from "./Ids.ts"
import { Timestamp } from "./Primitives.ts"

/**
 * The approval of the change in a speculative plan. It does not approve the speculative plan itself. If the rules allow it,
 * svc carries the approval over to the plan of the lane that makes the same change.
 */
export class ChangeApproval extends Schema.Opaque<ChangeApproval>()(
  Schema.Struct({
    id: ChangeApprovalId,
    /** The speculative plan. */
    runId: RunId,
    subject: Subject,
    planDigest: Schema.String,
    changeDigest: Schema.String,
    /** The head commit of the speculative plan. */
    commit: Schema.String,
    comment: Schema.optionalKey(Schema.String),
    at: Timestamp,
    withdrawnAt: Schema.optionalKey(Timestamp),
    withdrawnBy: Schema.optionalKey(Subject),
    /** The plan of the lane that svc approved with this approval. */
    carriedToRunId: Schema.optionalKey(RunId)
  }).annotate({ identifier: "ChangeApproval" })
) {}
