import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { ModuleRunner } from "../../../runner/execution/ModuleRunner.ts"
import type { PlanJob } from "../../../runner/execution/RunJob.ts"
import type { PlanOutcome } from "../../../runner/execution/RunOutcome.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { RunHandover } from "./RunHandover.ts"
import { RunLifecycle } from "../../ledger/run/RunLifecycle.ts"
import { makePlanPreparation } from "./PlanPreparation.ts"
import { PlanSettlement } from "./PlanSettlement.ts"
import { endRun, supersedeRun } from "./RunEnding.ts"
import type { RunSteps } from "./RunSteps.ts"

/** Computes a plan and parks it for review: what the approver sees is what is sealed here. */
export const makePlanSteps = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const runner = yield* ModuleRunner
  const settlement = yield* PlanSettlement
  const ending = { lifecycle: yield* RunLifecycle, handover: yield* RunHandover }

  const steps: RunSteps<PlanJob, PlanOutcome> = {
    prepare: yield* makePlanPreparation,
    execute: runner.plan,
    settle: (hold, result, { sink }) =>
      Effect.flatMap(settlement.settle(hold, result), (line) =>
        line === undefined ? Effect.void : sink.log("prepare", "system", line)
      ),
    refuse: (run, { code, evidence, message }) =>
      transaction(sql)(
        code === "superseded" ? supersedeRun(ending, run, message) : endRun(ending, run, { code, message }, evidence)
      )
  }
  return steps
})
