import { Schema } from "effect"
import { CapsuleId, RunGroupId, RunId, WorkspaceId } from "./Ids.ts"
import { Timestamp } from "./Primitives.ts"
import { RunWave } from "./RunWaves.ts"

export class RunGroup extends Schema.Opaque<RunGroup>()(
  Schema.Struct({
    id: RunGroupId,
    workspaceId: WorkspaceId,
    type: Schema.Literals(["update", "drift_check"]),
    status: Schema.Literals(["running", "waiting_approval", "succeeded", "failed", "cancelled"]),
    runIds: Schema.Array(RunId),
    /** For an update: its Capsules in waves. A consumer is always in a later wave than its producers. */
    waves: Schema.optionalKey(Schema.Array(RunWave)),
    /** The reason why a person has to act before the next wave can be planned. */
    heldReason: Schema.optionalKey(Schema.String),
    cancelReason: Schema.optionalKey(Schema.String),
    /** The newer update of the Workspace that replaced this one. */
    replacedBy: Schema.optionalKey(RunGroupId),
    createdAt: Timestamp,
    /**
     * Time at which the group had no work left. An update with a failed Capsule remains open, because the update continues
     * once the Capsule has been planned again.
     */
    finishedAt: Schema.optionalKey(Timestamp)
  }).annotate({ identifier: "RunGroup" })
) {}

/** A Capsule of the group that got no Run, with the error that a request for this Capsule alone would have returned. */
export class SkippedCapsule extends Schema.Opaque<SkippedCapsule>()(
  Schema.Struct({
    capsuleId: CapsuleId,
    code: Schema.String,
    message: Schema.String
  }).annotate({ identifier: "SkippedCapsule" })
) {}
