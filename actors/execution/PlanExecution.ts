import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { ModuleRunner } from "../../runner/execution/ModuleRunner.ts"
import { transaction } from "../database/Transaction.ts"
import { KillPoint } from "../KillPoint.ts"
import { RunHandover } from "../run/RunHandover.ts"
import { RunLifecycle } from "../run/RunLifecycle.ts"
import { makePlanPreparation } from "./PlanPreparation.ts"
import { PlanSettlement } from "./PlanSettlement.ts"
import { failRun, supersedeRun } from "./RunEnding.ts"
import { inSteps } from "./RunSteps.ts"

/** Computes a plan and parks it for review: what the approver sees is what is sealed here. */
export const makePlanExecution = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const runner = yield* ModuleRunner
  const settlement = yield* PlanSettlement
  const killPoint = yield* KillPoint
  const ending = { lifecycle: yield* RunLifecycle, handover: yield* RunHandover }

  return inSteps(
    {
      prepare: yield* makePlanPreparation,
      execute: runner.plan,
      settle: (hold, result, { sink }) =>
        Effect.flatMap(settlement.settle(hold, result), (line) =>
          line === undefined ? Effect.void : sink.log("prepare", "system", line)
        ),
      refuse: (run, { code, evidence, message }) =>
        transaction(sql)(
          code === "superseded" ? supersedeRun(ending, run, message) : failRun(ending, run, { code, message }, evidence)
        )
    },
    killPoint
  )
})
