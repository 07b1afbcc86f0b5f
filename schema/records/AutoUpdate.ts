import { Schema } from "effect"
import { CommitDescription } from "./Commit.ts"
import { AutoUpdateDecisionId, CapsuleId, RunId, SourceSnapshotId } from "./Ids.ts"
import { Timestamp } from "./Primitives.ts"

/** A reviewed rollback pins a Capsule: auto-update skips newer commits until somebody resumes it. */
export class AutoUpdatePin extends Schema.Opaque<AutoUpdatePin>()(
  Schema.Struct({
    /** The plan for the rollback. */
    runId: RunId,
    /** The person who applied it. */
    subject: Schema.optionalKey(Schema.String),
    at: Timestamp,
    reason: Schema.String,
    /** The pin ends when the lane moves to a commit other than the one it was at during the rollback. */
    resumeOnNewCommit: Schema.Boolean
  }).annotate({ identifier: "AutoUpdatePin" })
) {}

export class AutoUpdate extends Schema.Opaque<AutoUpdate>()(
  Schema.Struct({
    enabled: Schema.Boolean,
    apply: Schema.Boolean,
    /** Absent unless a rollback holds auto-update. */
    pinnedBy: Schema.optionalKey(AutoUpdatePin)
  }).annotate({ identifier: "AutoUpdate" })
) {}

/** Absent fields are left unchanged. `resume` ends the pin; `resumeOnNewCommit` sets whether a newer commit ends it. */
export class AutoUpdateChange extends Schema.Opaque<AutoUpdateChange>()(
  Schema.Struct({
    enabled: Schema.optionalKey(Schema.Boolean),
    apply: Schema.optionalKey(Schema.Boolean),
    resume: Schema.optionalKey(Schema.Literal(true)),
    resumeOnNewCommit: Schema.optionalKey(Schema.Boolean)
  }).annotate({ identifier: "AutoUpdateChange" })
) {}

/**
 * - `taken`: it was planned (`planned`), or applied without a person (`applied`).
 * - `waiting`: it needs a person; `reason` states why.
 * - `skipped`: it was passed over; `reason` states why.
 * - `deferred`: the service retries it when the queue has room or automation is resumed.
 */
export const AutoUpdateVerdict = Schema.Literals(["taken", "waiting", "skipped", "deferred"])
export type AutoUpdateVerdict = typeof AutoUpdateVerdict.Type

/** Auto-update's decision about one snapshot of the lane that a Capsule follows. */
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
    /** A readable explanation, for people. */
    message: Schema.String,
    /** The plan that was created, or its apply. */
    runId: Schema.optionalKey(RunId),
    createdAt: Timestamp,
    updatedAt: Timestamp
  }).annotate({ identifier: "AutoUpdateDecision" })
) {}
