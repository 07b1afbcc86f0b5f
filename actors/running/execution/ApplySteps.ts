import { Effect, Option } from "effect"
import { SqlClient } from "effect/sql"
import { ModuleRunner } from "../../../runner/execution/ModuleRunner.ts"
import type { ApplyJob, RunVariable } from "../../../runner/execution/RunJob.ts"
import type { RunControl as PlaceControl } from "../../../runner/execution/RunPlace.ts"
import type { ApplyOutcome } from "../../../runner/execution/RunOutcome.ts"
import { runnerFailure } from "../../../runner/execution/RunnerFailure.ts"
import { RunId } from "../../../schema/records/Ids.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { KillPoint } from "../../base/KillPoint.ts"
import { RunHandover } from "./RunHandover.ts"
import { RunLifecycle } from "../../ledger/run/RunLifecycle.ts"
import { ApplyStart } from "./ApplyStart.ts"
import { ApplySettlement } from "./ApplySettlement.ts"
import { makePostApplyChecks } from "./PostApplyChecks.ts"
import { endRun } from "./RunEnding.ts"
import { RunPlans } from "./RunPlans.ts"
import { blocked, type RunBlocked, type RunSteps } from "./RunSteps.ts"
import { BuildStore } from "../../../runner/execution/BuildStore.ts"
import { Approvals } from "../../access/approval/Approvals.ts"
import { operatorMoved } from "../../ledger/configuration/OperatorAuthority.ts"
import { OperatorConfigs } from "../../ledger/configuration/OperatorConfigs.ts"
import { Deliveries } from "../../inputs/delivery/Deliveries.ts"
import { type HoldLost, holdOf } from "../../ledger/run/RunHold.ts"
import { RunJournal } from "../../ledger/run/RunJournal.ts"
import { RunLedger } from "../../ledger/run/RunLedger.ts"
import { acceptsDrift, type RunRow, toRun } from "../../ledger/run/RunRow.ts"
import { preparedApplySchema } from "./PreparationSchemas.ts"
import { makePreparationRecord } from "./PreparationRecord.ts"
import { type PlanRefusal, reviewedPlan, savedPlan } from "./ReviewedPlanProblem.ts"
import { RunInputs } from "./RunInputs.ts"
import { lapsed } from "./AutomaticObstacle.ts"
import { type PreparedRun, RunPreparation } from "./RunPreparation.ts"
import { deliverySubject } from "./RunVariables.ts"

/** Prepares the apply of a reviewed plan. Rechecks everything that the plan is based on. */
const makeApplyPreparation = Effect.gen(function* () {
  const preparation = yield* RunPreparation
  const inputs = yield* RunInputs
  const deliveries = yield* Deliveries
  const ledger = yield* RunLedger
  const journal = yield* RunJournal
  const plans = yield* RunPlans
  const builds = yield* BuildStore
  const approvals = yield* Approvals
  const operator = yield* OperatorConfigs
  const record = yield* makePreparationRecord

  /** Returns the reviewed plan. Fails if anything that it is based on has changed. */
  const reviewed = Effect.fnUntraced(function* (run: RunRow, prepared: PreparedRun) {
    const { evidence } = prepared
    const refuse = ({ code, message }: PlanRefusal) => blocked(code, message, evidence)
    const found = yield* ledger.find(run.plan_run_id)
    const plan = yield* Effect.fromResult(
      reviewedPlan(run.id, prepared.job.tool, {
        plan: found,
        moved:
          found === undefined
            ? undefined
            : operatorMoved(operator, found, prepared.config.config, prepared.place, prepared.capsule.module_path),
        madeWith: found === undefined ? undefined : toRun(found).tool
      })
    ).pipe(Effect.mapError(refuse))
    // While the Run was queued, an approver may have lost their role, or the approval rule may have changed.
    const unapproved = yield* approvals.obstacleAtStart(plan)
    if (unapproved !== undefined) {
      return yield* blocked("approval_lapsed", lapsed(unapproved), evidence)
    }
    const saved = yield* plans.load(run.workspace_id, plan.id)
    const build = saved?.build
    const hasBuild = build !== undefined && Option.isSome(yield* builds.find(build))
    const whole = yield* Effect.fromResult(savedPlan(saved, plan.plan_digest, hasBuild)).pipe(Effect.mapError(refuse))
    return { ...whole, planRunId: plan.id }
  })

  /**
   * Checks that the host's deliveries have not changed since the review, and returns the plan's deliveries. A plan that
   * accepts drift has none, because it used the deliveries of the last apply.
   */
  const delivered = (run: RunRow, prepared: PreparedRun) =>
    (run.purpose === acceptsDrift
      ? deliveries.lastGiven(deliverySubject(prepared))
      : deliveries.verify(run, deliverySubject(prepared))
    ).pipe(Effect.mapError(({ code, message }) => blocked(code, message, prepared.evidence)))

  /**
   * Returns the ephemeral inputs. A plan file does not contain these inputs, so the apply must get them in the same way as
   * the plan did.
   */
  const ephemeralOf = Effect.fnUntraced(function* (prepared: PreparedRun, fromHost: ReadonlyMap<string, RunVariable>) {
    const all = prepared.variables.filter((variable) => variable.ephemeral)
    if (all.length === 0) return { ephemeralVariables: {} }
    const hosted = all.flatMap(({ name }) => {
      const variable = fromHost.get(name)
      return variable === undefined ? [] : [[name, variable.value] as const]
    })
    const ephemeral = all.filter(({ name }) => !fromHost.has(name))
    const { values } = yield* inputs
      .variables(prepared.capsule, prepared.config, ephemeral, prepared.moduleInputDefaults)
      .pipe(Effect.mapError(({ message }) => blocked("missing_input", message, prepared.evidence)))
    const given = Object.entries(values)
    const types = given.flatMap(([name, { type }]) => (type === undefined ? [] : [[name, type] as const]))
    return {
      ephemeralVariables: Object.fromEntries([...given.map(([name, { value }]) => [name, value] as const), ...hosted]),
      ...(types.length === 0 ? {} : { ephemeralTypes: Object.fromEntries(types) })
    }
  })

  return Effect.fn("Run.prepareApply")(function* (run: RunRow): Effect.fn.Return<ApplyJob, RunBlocked | HoldLost> {
    const prepared = yield* preparation.prepare(run)
    const { build, lockText, planDigest, planFile, planRunId, secrets } = yield* reviewed(run, prepared)
    const ephemeral = yield* ephemeralOf(prepared, yield* delivered(run, prepared))
    yield* journal.report(holdOf(run), "run.applying", { planRunId })
    const { config, evidence, job } = prepared
    const lifecycle = config.config.operator?.lifecycle
    const lock = lockText === "" ? {} : { lockText }
    yield* record(run, { requirements: job.demands }, preparedApplySchema, {
      evidence,
      tool: job.tool,
      ...lock,
      ...(lifecycle === undefined ? {} : { lifecycle })
    })
    return {
      ...job,
      planFile,
      secrets,
      planDigest,
      ...lock,
      ...(build === undefined ? {} : { build }),
      ...ephemeral
    }
  })
})

/** Applies exactly the reviewed plan file, or nothing (design, section 5). */
export const makeApplySteps = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const runner = yield* ModuleRunner
  const settlement = yield* ApplySettlement
  const postApplyChecks = yield* makePostApplyChecks
  const plans = yield* RunPlans
  const starts = yield* ApplyStart
  const killPoint = yield* KillPoint
  const ending = { lifecycle: yield* RunLifecycle, handover: yield* RunHandover }

  /** Reads the Run immediately before its tool starts, because it may have been stopped or refused during the preparation. */
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
      // Keeps trying to record the outcome even if the disk is full, because the tool must not run again.
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
