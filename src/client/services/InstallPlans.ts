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

/** The install stopped without a plan to review. `installPlan.diagnostics` gives the reasons. */
export class InstallFailed extends Schema.TaggedError<InstallFailed>()("InstallFailed", {
  message: Schema.String,
  installPlan: InstallPlan
}) {}

export interface InstallPlansShape {
  /** Takes a Source through scan and check to a plan for a new Capsule. The service advances it automatically. */
  readonly create: (
    workspaceId: string,
    request: Plain<CreateInstallPlan>,
    once?: IdempotencyOptions
  ) => Answer<InstallPlan>
  readonly get: (id: string) => Answer<InstallPlan>
  /** The install as it is now, and again after each step, until it is reviewable or has failed. */
  readonly changes: (id: string) => Items<InstallPlan>
  /** The Run to review, once the install reaches it. Fails with `InstallFailed` if it never does. */
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

/** Installs in progress towards a reviewable plan. */
export class InstallPlans extends Context.Service<InstallPlans, InstallPlansShape>()(
  "svc/src/client/services/InstallPlans"
) {
  static readonly layer: Layer.Layer<InstallPlans, never, SvcClient | Runs> = Layer.effect(InstallPlans, make)
}
