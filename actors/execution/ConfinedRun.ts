import { Effect } from "effect"
import type { RunDemands } from "../../runner/sandbox/RunDemands.ts"
import type { RunnerFailure } from "../../runner/execution/RunnerFailure.ts"
import type { ModuleRunner } from "../../runner/execution/ModuleRunner.ts"
import { type HoldLost, holdOf } from "../run/RunHold.ts"
import type { RunLedger } from "../run/RunLedger.ts"
import type { RunRow } from "../run/RunRow.ts"

/**
 * Records how a Run is kept apart and what it reaches, right before its module is executed: it stays known however the Run ends. Fails
 * where this machine does not give what the Run's profile asks for.
 */
export const recordConfinement = (
  services: { readonly runner: ModuleRunner["Service"]; readonly ledger: RunLedger["Service"] },
  run: RunRow,
  demands: RunDemands | undefined
): Effect.Effect<void, RunnerFailure | HoldLost> =>
  Effect.flatMap(services.runner.confinement(demands), (confinement) =>
    services.ledger.record(holdOf(run), confinement)
  )
