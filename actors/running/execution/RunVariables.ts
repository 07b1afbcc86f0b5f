import { Effect } from "effect"
import type { RunVariable } from "../../../runner/execution/RunJob.ts"
import { Deliveries, type DeliverySubject, type PlannedDeliveries } from "../../inputs/delivery/Deliveries.ts"
import type { ConsumedOutput } from "../../ledger/consumption/ConsumedOutputs.ts"
import type { RunRow } from "../../ledger/run/RunRow.ts"
import { RunInputs } from "./RunInputs.ts"
import { blocked } from "./RunSteps.ts"
import type { PreparedRun } from "./RunPreparation.ts"

/** Converts a prepared Run to the format that host deliveries expect. */
export const deliverySubject = ({ capsule, config, variables }: PreparedRun): DeliverySubject => ({
  capsule,
  requires: config.config.compiled.requires,
  variables
})

/** All inputs of a Run, and the names of those that the host application supplies. */
export interface GatheredVariables {
  readonly values: Readonly<Record<string, RunVariable>>
  readonly planned: PlannedDeliveries
  readonly consumed: ReadonlyArray<ConsumedOutput>
}

/**
 * Collects the inputs of plans and drift checks: host deliveries first, then values from people and from other Capsules.
 * Blocks the Run if an input is missing.
 */
export const makeRunVariables = Effect.gen(function* () {
  const deliveries = yield* Deliveries
  const inputs = yield* RunInputs
  return Effect.fn("Run.variables")(function* (run: RunRow, prepared: PreparedRun) {
    const { evidence } = prepared
    const planned = yield* deliveries
      .resolve(run, deliverySubject(prepared))
      .pipe(Effect.mapError(({ code, message }) => blocked(code, message, evidence)))
    const given = yield* inputs
      .variables(
        prepared.capsule,
        prepared.config,
        prepared.variables.filter(({ name }) => !planned.variables.has(name)),
        prepared.moduleInputDefaults
      )
      .pipe(Effect.mapError(({ message }) => blocked("missing_input", message, evidence)))
    const gathered: GatheredVariables = {
      values: { ...given.values, ...Object.fromEntries(planned.variables) },
      planned,
      consumed: given.consumed
    }
    return gathered
  })
})
