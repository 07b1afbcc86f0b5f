import { Schema } from "effect"
import { AutoUpdateDecisionId, CapsuleId, RunId, SourceSnapshotId } from "./Ids.ts"
import { Timestamp } from "./Primitives.ts"

/** A reviewed rollback holds a Capsule where it is: auto-update passes newer commits over until somebody resumes it. */
export const AutoUpdatePin = Schema.Struct({
  /** The plan of the rollback. */
  runId: RunId,
  /** Who applied it. */
  subject: Schema.optionalKey(Schema.String),
  at: Timestamp,
  reason: Schema.String,
  /** A commit other than the one the lane stood at when it was rolled back ends the pin. */
  resumeOnNewCommit: Schema.Boolean
}).annotate({ identifier: "AutoUpdatePin" })
export type AutoUpdatePin = typeof AutoUpdatePin.Type

export const AutoUpdate = Schema.Struct({
  enabled: Schema.Boolean,
  apply: Schema.Boolean,
  /** Absent while auto-update is not held by a rollback. */
  pinnedBy: Schema.optionalKey(AutoUpdatePin)
}).annotate({ identifier: "AutoUpdate" })
export type AutoUpdate = typeof AutoUpdate.Type

/** What is absent stays as it is. `resume` ends the pin; `resumeOnNewCommit` says whether a newer commit ends it. */
export const AutoUpdateChange = Schema.Struct({
  enabled: Schema.optionalKey(Schema.Boolean),
  apply: Schema.optionalKey(Schema.Boolean),
  resume: Schema.optionalKey(Schema.Literal(true)),
  resumeOnNewCommit: Schema.optionalKey(Schema.Boolean)
}).annotate({ identifier: "AutoUpdateChange" })
export type AutoUpdateChange = typeof AutoUpdateChange.Type

/**
 * - `taken`: a plan was made of it (`planned`), or applied without a person (`applied`).
 * - `waiting`: for a person, because of `reason`.
 * - `skipped`: because of `reason`.
 * - `deferred`: taken up by the service when it can: the queue has room, or automation is resumed.
 */
export const AutoUpdateVerdict = Schema.Literals(["taken", "waiting", "skipped", "deferred"])
export type AutoUpdateVerdict = typeof AutoUpdateVerdict.Type

/** What auto-update did about one snapshot of the lane that a Capsule follows. */
export const AutoUpdateDecision = Schema.Struct({
  id: AutoUpdateDecisionId,
  capsuleId: CapsuleId,
  sourceSnapshotId: SourceSnapshotId,
  resolvedCommit: Schema.String,
  decision: AutoUpdateVerdict,
  /** One word for programs. */
  reason: Schema.String,
  /** The same for people. */
  message: Schema.String,
  /** The plan that was made, or the apply of it. */
  runId: Schema.optionalKey(RunId),
  createdAt: Timestamp,
  updatedAt: Timestamp
}).annotate({ identifier: "AutoUpdateDecision" })
export type AutoUpdateDecision = typeof AutoUpdateDecision.Type
