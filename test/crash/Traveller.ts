import { Effect } from "effect"
import type { Run } from "../../schema/records/Run.ts"
import { type Broken, type CrashClient, holds } from "./CrashClient.ts"
import type { Acknowledged } from "./Acknowledged.ts"
import type { CrashWorld } from "./CrashWorld.ts"
import { reviewed } from "../support/ReviewedPlan.ts"

export interface Traveller {
  readonly client: CrashClient
  readonly world: CrashWorld
  readonly repositoryUrl: string
  readonly acknowledged: Acknowledged
  /** True if Runs may fail although the server was not killed. */
  readonly mayFail: boolean
  /** Reads the Capsule immediately after a failed apply, because the Capsule's report must be correct at that moment. */
  readonly applyFailed: (apply: Run) => Effect.Effect<void, Broken>
}

/** A failed Run must have an error, and the error must not be an internal defect. */
export const isExcused = (traveller: Traveller, code: string | undefined) =>
  traveller.mayFail ? code !== undefined && code !== "internal_error" : code === "interrupted"

export const approve = Effect.fnUntraced(function* ({ acknowledged, client }: Traveller, plan: Run) {
  yield* client
    .call(({ runs }) =>
      runs.approve({
        params: { runId: plan.id },
        payload: reviewed(plan)
      })
    )
    .pipe(
      Effect.catchTag("ApiError", (error) =>
        // The server may have been killed before it sent the response to the first approval.
        Effect.flatMap(client.settled(plan.id), (run) =>
          holds(run.approvedAt !== undefined, `The approval was refused: ${error.message}`)
        )
      )
    )
  acknowledged.approved.add(plan.id)
})

export const startApply = Effect.fnUntraced(function* ({ acknowledged, client }: Traveller, plan: Run) {
  const ask = client.call(({ runs }) =>
    runs.apply({ params: { runId: plan.id }, headers: { "idempotency-key": `apply-${plan.id}` }, payload: {} })
  )
  const { run } = yield* ask
  acknowledged.runs.add(run.id)
  const again = yield* ask
  yield* holds(again.run.id === run.id, "The same key started a second apply")
  return run.id
})

export const planAgain = Effect.fnUntraced(function* (
  { acknowledged, client }: Traveller,
  capsuleId: string,
  kind: "plan" | "destroyPlan",
  key: string
) {
  const { run } = yield* client.call(({ capsules }) =>
    capsules[kind]({ params: { capsuleId }, headers: { "idempotency-key": key }, payload: {} })
  )
  acknowledged.runs.add(run.id)
  return yield* client.settled(run.id)
})
