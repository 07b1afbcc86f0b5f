import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { ModuleRunner } from "../../../runner/execution/ModuleRunner.ts"
import type { DriftJob } from "../../../runner/execution/RunJob.ts"
import type { RunControl as PlaceControl } from "../../../runner/execution/RunPlace.ts"
import type { DriftOutcome } from "../../../runner/execution/RunOutcome.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { RunHandover } from "./RunHandover.ts"
import { RunLifecycle } from "../../ledger/run/RunLifecycle.ts"
import { makeDriftPreparation } from "./DriftPreparation.ts"
import { DriftSettlement } from "./DriftSettlement.ts"
import { endRun } from "./RunEnding.ts"
import type { RunSteps } from "./RunSteps.ts"

/**
 * Compares the state with the real objects, and records the result on the Capsule. It never waits for approval and changes
 * nothing.
 */
export const makeDriftSteps = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const runner = yield* ModuleRunner
  const settlement = yield* DriftSettlement
  const ending = { lifecycle: yield* RunLifecycle, handover: yield* RunHandover }

  const steps: RunSteps<DriftJob, DriftOutcome> = {
    prepare: yield* makeDriftPreparation,
    execute: (job: DriftJob, control: PlaceControl) =>
      Effect.tapError(runner.driftCheck(job, control), ({ message }) => control.sink.log("prepare", "system", message)),
    settle: settlement.settle,
    refuse: (run, { code, message }) => transaction(sql)(endRun(ending, run, { code, message }))
  }
  return steps
})
