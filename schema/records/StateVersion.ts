import { Schema } from "effect"
import { CapsuleId, LeftOverStateId, RunId, StateUploadId, StateVersionId, WorkspaceId } from "./Ids.ts"
import { Timestamp } from "./Primitives.ts"

/** One committed state. The state itself never leaves through the API. */
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
    /** True if it comes from an apply that did not succeed. */
    partial: Schema.Boolean,
    /** The left-over state that it was adopted from; absent when an apply committed it. */
    adoptedFrom: Schema.optionalKey(LeftOverStateId),
    /** `adopted`: the install of the Capsule took it over. */
    origin: Schema.Literals(["run", "left_over", "adopted"]),
    /** The upload that the install took over. */
    stateUploadId: Schema.optionalKey(StateUploadId)
  }).annotate({ identifier: "StateVersion" })
) {}

/** A public Output; sensitive ones are absent everywhere. */
export class Output extends Schema.Opaque<Output>()(
  Schema.Struct({
    name: Schema.String,
    type: Schema.Json,
    value: Schema.Json,
    sensitive: Schema.Literal(false),
    stateVersionId: StateVersionId
  }).annotate({ identifier: "Output" })
) {}
