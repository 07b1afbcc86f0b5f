import { Context, Effect, Layer, Schema } from "effect"
import { CreateInstallPlan } from "../../../schema/api/InstallPlansApi.ts"
import { InstallPlan } from "../../../schema/records/InstallPlan.ts"
import type { Run } from "../../../schema/records/Run.ts"
import { type IdempotencyOptions, idempotencyHeaders } from "../IdempotencyOptions.ts"
import { type Plain, requestOf } from "../Plain.ts"
import { SvcClient } from "../SvcClient.ts"
import { type Answer, answered, type Items } from "../SvcError.ts"
import { planProgress } from "./PlanProgress.ts"
import { Runs } from "./Runs.ts"

/** Error if the install ended without a plan for review. `installPlan.diagnostics` contains the reasons. */
export class InstallFailed extends Schema.TaggedError<InstallFailed>()("InstallFailed", {
  message: Schema.String,
  installPlan: InstallPlan
}) {}

export interface InstallPlansShape {
  /**
   * Starts an install, which scans and checks a Source and ends with a plan for a new Capsule. The server advances the
   * install automatically.
   */
  readonly create: (
    workspaceId: string,
    request: Plain<CreateInstallPlan>,
    once?: IdempotencyOptions
  ) => Answer<InstallPlan>
  readonly get: (id: string) => Answer<InstallPlan>
  /** Streams the install's current state and each later state, until the install is reviewable or has failed. */
  readonly changes: (id: string) => Items<InstallPlan>
  /** Waits for the Run to review. Fails with `InstallFailed` if the install ends without such a Run. */
  readonly waitFor: (id: string) => Answer<Run, InstallFailed>
}

const newInstallPlan = requestOf(CreateInstallPlan)

const make = Effect.gen(function* () {
  const { installPlans } = yield* SvcClient
  const get: InstallPlansShape["get"] = (id) =>
    Effect.map(answered(installPlans.read({ params: { installPlanId: id } })), ({ installPlan }) => installPlan)
  return InstallPlans.of({
    ...planProgress(yield* Runs, get, (message, installPlan) => new InstallFailed({ message, installPlan })),
    get,
    create: Effect.fnUntraced(function* (workspaceId, request, once = {}) {
      const payload = yield* newInstallPlan(request)
      const headers = yield* idempotencyHeaders(once)
      return (yield* answered(installPlans.create({ params: { workspaceId }, headers, payload }))).installPlan
    })
  })
})

/** Installations that produce a plan for review. */
export class InstallPlans extends Context.Service<InstallPlans, InstallPlansShape>()(
  "svc/src/client/services/InstallPlans"
) {
  static readonly layer: Layer.Layer<InstallPlans, never, SvcClient | Runs> = Layer.effect(InstallPlans, make)
}
