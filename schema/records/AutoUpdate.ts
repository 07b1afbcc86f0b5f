import { Schema } from "effect"
import { CommitDescription } from "./Commit.ts"
import { AutoUpdateDecisionId, CapsuleId, RunId, SourceSnapshotId } from "./Ids.ts"
import { Timestamp } from "./Primitives.ts"

/** Set by a reviewed rollback. While the Capsule is pinned, auto-update skips newer commits until somebody resumes it. */
export class AutoUpdatePin extends Schema.Opaque<AutoUpdatePin>()(
  Schema.Struct({
    /** The plan of the rollback. */
    runId: RunId,
    /** The person who applied the rollback. */
    subject: Schema.optionalKey(Schema.String),
    at: Timestamp,
    reason: Schema.String,
    /** If true, the pin ends as soon as the lane no longer points to the commit that it had at the time of the rollback. */
    resumeOnNewCommit: Schema.Boolean
  }).annotate({ identifier: "AutoUpdatePin" })
) {}

export class AutoUpdate extends Schema.Opaque<AutoUpdate>()(
  Schema.Struct({
    enabled: Schema.Boolean,
    apply: Schema.Boolean,
    /** Absent unless a rollback pins the Capsule. */
    pinnedBy: Schema.optionalKey(AutoUpdatePin)
  }).annotate({ identifier: "AutoUpdate" })
) {}

/**
 * Absent fields remain unchanged. `resume` removes the pin; `resumeOnNewCommit` sets whether a newer commit removes the pin.
 */
export class AutoUpdateChange extends Schema.Opaque<AutoUpdateChange>()(
  Schema.Struct({
    enabled: Schema.optionalKey(Schema.Boolean),
    apply: Schema.optionalKey(Schema.Boolean),
    resume: Schema.optionalKey(Schema.Literal(true)),
    resumeOnNewCommit: Schema.optionalKey(Schema.Boolean)
  }).annotate({ identifier: "AutoUpdateChange" })
) {}

/**
 * - `taken`: the commit was planned (`planned`) or applied automatically (`applied`)
 * - `waiting`: a person has to act on the commit, see `reason`
 * - `skipped`: the commit was skipped, see `reason`
 * - `deferred`: svc retries when the queue has room or automation is resumed
 */
export const AutoUpdateVerdict = Schema.Literals(["taken", "waiting", "skipped", "deferred"])
export type AutoUpdateVerdict = typeof AutoUpdateVerdict.Type

/** Auto-update's decision about one snapshot of a Capsule's lane. */
export class AutoUpdateDecision extends Schema.Opaque<AutoUpdateDecision>()(
  Schema.Struct({
    id: AutoUpdateDecisionId,
    capsuleId: CapsuleId,
    sourceSnapshotId: SourceSnapshotId,
    resolvedCommit: Schema.String,
    commitDescription: Schema.optionalKey(CommitDescription),
    decision: AutoUpdateVerdict,
    /** A machine-readable code. */
    reason: Schema.String,
    /** Human-readable explanation. */
    message: Schema.String,
    /** The plan or apply that resulted, if any. */
    runId: Schema.optionalKey(RunId),
    createdAt: Timestamp,
    updatedAt: Timestamp
  }).annotate({ identifier: "AutoUpdateDecision" })
) {}
