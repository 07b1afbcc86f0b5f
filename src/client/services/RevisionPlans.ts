import { Context, Effect, Layer, Schema } from "effect"
import { RevisionPlan } from "../../../schema/records/InstallPlan.ts"
import type { Run } from "../../../schema/records/Run.ts"
import { type IdempotencyOptions, idempotencyHeaders } from "../IdempotencyOptions.ts"
import { SvcClient } from "../SvcClient.ts"
import { type Answer, answered, type Items } from "../SvcError.ts"
import { planProgress } from "./PlanProgress.ts"
import { Runs } from "./Runs.ts"

/**
 * Error if the revision ended without a plan for review, or if its plan is void. `revisionPlan.diagnostics` contains the
 * reasons.
 */
export class RevisionFailed extends Schema.TaggedError<RevisionFailed>()("RevisionFailed", {
  message: Schema.String,
  revisionPlan: RevisionPlan
}) {}

export interface RevisionPlansShape {
  /** Starts a plan for a Capsule at another ref. The Capsule continues to follow its current ref until the apply. */
  readonly create: (
    capsuleId: string,
    request: {
      readonly ref: string
      /** If true, the plan only shows the effect of the ref. It needs no review and does not affect the Capsule. */
      readonly speculative?: true
    },
    once?: IdempotencyOptions
  ) => Answer<RevisionPlan>
  readonly get: (id: string) => Answer<RevisionPlan>
  /** Streams the revision's current state and each later state, until the revision is reviewable or has failed. */
  readonly changes: (id: string) => Items<RevisionPlan>
  /** Waits for the Run to review. Fails with `RevisionFailed` if the revision ends without such a Run. */
  readonly waitFor: (id: string) => Answer<Run, RevisionFailed>
}

const make = Effect.gen(function* () {
  const { revisionPlans } = yield* SvcClient
  const get: RevisionPlansShape["get"] = (id) =>
    Effect.map(answered(revisionPlans.read({ params: { revisionPlanId: id } })), ({ revisionPlan }) => revisionPlan)
  return RevisionPlans.of({
    ...planProgress(yield* Runs, get, (message, revisionPlan) => new RevisionFailed({ message, revisionPlan })),
    get,
    create: (capsuleId, request, once = {}) =>
      Effect.flatMap(idempotencyHeaders(once), (headers) =>
        Effect.map(
          answered(revisionPlans.create({ params: { capsuleId }, headers, payload: request })),
          ({ revisionPlan }) => revisionPlan
        )
      )
  })
})

/** Revisions that lead to a plan of a Capsule at another ref. */
export class RevisionPlans extends Context.Service<RevisionPlans, RevisionPlansShape>()(
  "svc/src/client/services/RevisionPlans"
) {
  static readonly layer: Layer.Layer<RevisionPlans, never, SvcClient | Runs> = Layer.effect(RevisionPlans, make)
}
