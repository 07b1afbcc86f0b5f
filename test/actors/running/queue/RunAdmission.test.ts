import { expect } from "bun:test"
import { Effect, Layer, Result } from "effect"
import { AgentsOnly, RunAdmission } from "../../../../actors/running/queue/RunAdmission.ts"
import { QueueRows } from "../../../../actors/running/queue/QueueRows.ts"
import { RunPools } from "../../../../actors/ledger/run/RunLedger.ts"
import { defaultRunSettings, RunSettings } from "../../../../actors/ledger/run/RunSettings.ts"
import { InstallConfigId } from "../../../../schema/records/Ids.ts"
import { it } from "../../../support/Effect.ts"

const configId = InstallConfigId.make("icfg_000000000000000000000001")

/** Returns the admission decision for each kind of Run, assuming that new plans go to this pool. */
const decided = (agentsOnly: boolean, pool: string) =>
  Effect.gen(function* () {
    const admission = yield* RunAdmission
    const codeOf = <A>(result: Result.Result<A, { readonly code: string }>) =>
      Result.isFailure(result) ? result.failure.code : "admitted"
    return {
      plan: codeOf(yield* Effect.result(admission.place("plan", configId))),
      drift: codeOf(yield* Effect.result(admission.place("drift_check", configId))),
      restore: codeOf(yield* Effect.result(admission.place("restore", configId))),
      apply: codeOf(yield* Effect.result(admission.placeApply(pool)))
    }
  }).pipe(
    Effect.provide(
      RunAdmission.layer.pipe(
        Layer.provide(Layer.mock(QueueRows)({})),
        Layer.provide(Layer.succeed(RunSettings, { ...defaultRunSettings, runsFolder: "" })),
        Layer.provide(Layer.succeed(RunPools, () => Effect.succeed(pool))),
        Layer.provide(Layer.succeed(AgentsOnly, agentsOnly))
      )
    )
  )

it.effect("if only agents execute modules, svc refuses Runs of modules without a pool, and admits restores", () =>
  Effect.gen(function* () {
    const refused = "failed_precondition"
    expect(yield* decided(true, "local")).toEqual({
      plan: refused,
      drift: refused,
      restore: "admitted",
      apply: refused
    })
    const admitted = { plan: "admitted", drift: "admitted", restore: "admitted", apply: "admitted" }
    expect(yield* decided(true, "far")).toEqual(admitted)
    expect(yield* decided(false, "local")).toEqual(admitted)
  })
)
