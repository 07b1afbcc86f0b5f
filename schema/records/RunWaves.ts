import { Schema } from "effect"
import { CapsuleId, RunId } from "./Ids.ts"

/**
 * The progress of a Capsule in an update.
 *
 * - `waiting`: the Capsule waits for the Capsules in `waitsFor`, or for its turn
 * - `planning`: its plan is queued or running
 * - `waiting_approval`, `approved`: a person has to approve or apply the plan
 * - `left_out`: none of its inputs has changed, see `reason`
 * - `failed`, `cancelled`: the Capsule was not updated; its consumers wait until it has been planned again and applied
 */
export const WaveMemberState = Schema.Literals([
  "waiting",
  "planning",
  "waiting_approval",
  "approved",
  "applying",
  "applied",
  "left_out",
  "failed",
  "cancelled"
])
export type WaveMemberState = typeof WaveMemberState.Type

export class WaveMember extends Schema.Opaque<WaveMember>()(
  Schema.Struct({
    capsuleId: CapsuleId,
    name: Schema.String,
    state: WaveMemberState,
    planRunId: Schema.optionalKey(RunId),
    applyRunId: Schema.optionalKey(RunId),
    /** Producers in the group that must be updated first. */
    waitsFor: Schema.optionalKey(
      Schema.Array(Schema.Struct({ capsuleId: CapsuleId, name: Schema.String, state: WaveMemberState }))
    ),
    reason: Schema.optionalKey(Schema.Struct({ code: Schema.String, message: Schema.String }))
  }).annotate({ identifier: "WaveMember" })
) {}

/** Capsules that may be updated at the same time, because all their inputs come from earlier waves. */
export class RunWave extends Schema.Opaque<RunWave>()(
  Schema.Struct({
    wave: Schema.Int,
    state: Schema.Literals(["waiting", "running", "waiting_approval", "succeeded", "failed", "cancelled"]),
    capsules: Schema.Array(WaveMember)
  }).annotate({ identifier: "RunWave" })
) {}
