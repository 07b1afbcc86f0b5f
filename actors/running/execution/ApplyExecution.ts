import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { ModuleRunner } from "../../../runner/execution/ModuleRunner.ts"
import type { ApplyJob } from "../../../runner/execution/RunJob.ts"
import type { RunControl as PlaceControl } from "../../../runner/execution/RunPlace.ts"
import type { ApplyOutcome } from "../../../runner/execution/RunOutcome.ts"
import { runnerFailure } from "../../../runner/execution/RunnerFailure.ts"
import { RunId } from "../../../schema/records/Ids.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { KillPoint } from "../../base/KillPoint.ts"
import { RunHandover } from "./RunHandover.ts"
import { RunLifecycle } from "../../ledger/run/RunLifecycle.ts"
import { makeApplyPreparation } from "./ApplyPreparation.ts"
import { ApplyStart } from "./ApplyStart.ts"
import { ApplySettlement } from "./ApplySettlement.ts"
import { makePostApplyChecks } from "./PostApplyChecks.ts"
import { endRun } from "./RunEnding.ts"
import { RunPlans } from "./RunPlans.ts"
import type { RunSteps } from "./RunSteps.ts"

/** Applies exactly the reviewed plan file: what was approved is what runs, or nothing does (design, section 5). */
export const makeApplySteps = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const runner = yield* ModuleRunner
  const settlement = yield* ApplySettlement
  const postApplyChecks = yield* makePostApplyChecks
  const plans = yield* RunPlans
  const starts = yield* ApplyStart
  const killPoint = yield* KillPoint
  const ending = { lifecycle: yield* RunLifecycle, handover: yield* RunHandover }

  /** Reads the Run again where its tool is about to start: since its preparation, it may have been stopped or refused. */
  const permitted = ({ runId }: ApplyJob) =>
    Effect.flatMap(starts.obstacle(RunId.make(runId)), (reason) =>
      reason === undefined
        ? Effect.void
        : Effect.fail(
            runnerFailure(reason.code === "cancelled" ? "cancelled" : "prepare_failed", "prepare", reason.message)
          )
    )

  const steps: RunSteps<ApplyJob, ApplyOutcome> = {
    prepare: yield* makeApplyPreparation,
    execute: (job: ApplyJob, control: PlaceControl) =>
      Effect.tapError(runner.apply(job, { ...control, recordStart: permitted(job) }), ({ message }) =>
        control.sink.log("prepare", "system", message)
      ),
    settle: Effect.fn("Run.settleApply")(function* (hold, result, control) {
      // What the tool did cannot be repeated, so its outcome must not be lost because the disk is full.
      const checked = yield* control.record(settlement.settle(hold, result))
      if (checked === undefined) return
      yield* killPoint("apply.committed")
      const checks = yield* postApplyChecks(checked.capsuleId, checked.lifecycle, control)
      yield* control.record(settlement.conclude(hold, checks))
    }),
    refuse: (run, { code, evidence, message }) =>
      transaction(sql)(Effect.andThen(plans.drop(run.plan_run_id), endRun(ending, run, { code, message }, evidence)))
  }
  return steps
})
