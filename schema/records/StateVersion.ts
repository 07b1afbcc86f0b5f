import { Schema } from "effect"
import { CapsuleId, OrphanedStateId, RunId, StateUploadId, StateVersionId, WorkspaceId } from "./Ids.ts"
import { Timestamp } from "./Primitives.ts"

/** A committed state. No response contains the state itself. */
export class StateVersion extends Schema.Opaque<StateVersion>()(
  Schema.Struct({
    id: StateVersionId,
    workspaceId: WorkspaceId,
    capsuleId: CapsuleId,
    generation: Schema.Int,
    serial: Schema.Int,
    digest: Schema.String,
    resourceCount: Schema.Int,
    createdByRunId: RunId,
    createdAt: Timestamp,
    /** True if the apply failed or was interrupted. */
    partial: Schema.Boolean,
    /** The left-over state that was adopted to create this version; absent if an apply committed it. */
    adoptedFrom: Schema.optionalKey(OrphanedStateId),
    /** `adopted`: taken over when the Capsule was installed. */
    origin: Schema.Literals(["run", "left_over", "adopted"]),
    /** The upload that the install took over. */
    stateUploadId: Schema.optionalKey(StateUploadId)
  }).annotate({ identifier: "StateVersion" })
) {}

/** A public Output. Sensitive Outputs are never returned. */
export class Output extends Schema.Opaque<Output>()(
  Schema.Struct({
    name: Schema.String,
    type: Schema.Json,
    value: Schema.Json,
    sensitive: Schema.Literal(false),
    stateVersionId: StateVersionId
  }).annotate({ identifier: "Output" })
) {}
