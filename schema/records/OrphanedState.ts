import { Schema } from "effect"
import { CapsuleId, OrphanedStateId, RunId, StateVersionId, Subject, WorkspaceId } from "./Ids.ts"
import { Timestamp } from "./Primitives.ts"

/**
 * The reason why the state was not accepted when its apply was settled. `handed_in`: an agent submitted the state after svc
 * had given up the Run. `unknown`: the state was stored by a release that did not record reasons.
 */
export const OrphanedStateReason = Schema.Literals([
  "lineage_changed",
  "serial_decreased",
  "unreadable",
  "handed_in",
  "unknown"
])
export type OrphanedStateReason = typeof OrphanedStateReason.Type

/** The reason why a left-over state cannot be adopted. */
export const AdoptionProblemCode = Schema.Literals([
  "adopted",
  "discarded",
  "unreadable",
  "encrypted",
  "capsule_ended",
  "capsule_moved",
  "restored",
  "run_open",
  "lineage_differs",
  "serial_older"
])
export type AdoptionProblemCode = typeof AdoptionProblemCode.Type

export class AdoptionProblem extends Schema.Opaque<AdoptionProblem>()(
  Schema.Struct({ code: AdoptionProblemCode, message: Schema.String })
) {}

const by = Schema.optionalKey(Subject)

/**
 * A state that an apply left behind and that was not accepted when the apply was settled. No response contains the state itself.
 */
export class OrphanedState extends Schema.Opaque<OrphanedState>()(
  Schema.Struct({
    id: OrphanedStateId,
    workspaceId: WorkspaceId,
    capsuleId: CapsuleId,
    /** The apply that left the state behind. */
    runId: RunId,
    createdAt: Timestamp,
    status: Schema.Literals(["kept", "adopted", "discarded"]),
    reason: OrphanedStateReason,
    digest: Schema.String,
    sizeBytes: Schema.Int,
    /** Like `serial`, this is absent if the file is not a complete state. */
    lineage: Schema.optionalKey(Schema.String),
    serial: Schema.optionalKey(Schema.Int),
    /** Absent if resources cannot be counted, because the file is truncated or the tool encrypted it. */
    resourceCount: Schema.optionalKey(Schema.Int),
    /** The Capsule's StateVersion, generation and epoch after the apply was settled. */
    base: Schema.Struct({
      stateVersionId: Schema.optionalKey(StateVersionId),
      stateGeneration: Schema.Int,
      executionAuthorityEpoch: Schema.Int
    }),
    /** The reasons why the state cannot be adopted now; empty if it can be adopted. */
    adoptionProblems: Schema.Array(AdoptionProblem),
    adoption: Schema.optionalKey(Schema.Struct({ at: Timestamp, by, stateVersionId: StateVersionId })),
    discard: Schema.optionalKey(Schema.Struct({ at: Timestamp, by }))
  }).annotate({ identifier: "LeftOverState" })
) {}
