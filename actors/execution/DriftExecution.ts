import { Clock, Duration, Effect, Option } from "effect"
import { SqlClient } from "effect/sql"
import { ModuleRunner } from "../../runner/execution/ModuleRunner.ts"
import type { DriftOutcome } from "../../runner/execution/RunOutcome.ts"
import type { RunnerFailure } from "../../runner/execution/RunnerFailure.ts"
import { transaction } from "../database/Transaction.ts"
import type { DeliveryRefused } from "../delivery/DeliveryRefused.ts"
import { now } from "../Identity.ts"
import { cancelRun, failRun } from "./RunEnding.ts"
import type { RunExecution } from "./RunExecution.ts"
import { goesFirst } from "../run/GivingWay.ts"
import { RunHandover } from "../run/RunHandover.ts"
import { holdOf } from "../run/RunHold.ts"
import { RunLedger } from "../run/RunLedger.ts"
import { RunLifecycle } from "../run/RunLifecycle.ts"
import type { RunRow } from "../run/RunRow.ts"
import { BuildStore } from "../../runner/execution/BuildStore.ts"
import { storedBuild } from "../build/BuildColumns.ts"
import { CapsuleLedger } from "../authority/CapsuleLedger.ts"
import { recordConfinement } from "./ConfinedRun.ts"
import type { MissingInput } from "./RunInputs.ts"
import { RunBlocked } from "./RunBlocked.ts"
import { type PreparedRun, RunPreparation } from "./RunPreparation.ts"
import { makeRunVariables } from "./RunVariables.ts"

const codeOf = (failure: RunBlocked | MissingInput | DeliveryRefused | RunnerFailure): string => {
  switch (failure._tag) {
    case "RunBlocked":
    case "DeliveryRefused":
      return failure.code
    case "MissingInput":
      return "missing_input"
    case "RunnerFailure":
      return failure.reason
  }
}

/** When a scheduled check that gave way to another Run is made again. */
const afterGivingWay: Duration.Input = "15 minutes"

/** Compares the state with the real objects, and says so on the Capsule. It never parks and changes nothing. */
export const makeDriftExecution = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const preparation = yield* RunPreparation
  const variablesOf = yield* makeRunVariables
  const runner = yield* ModuleRunner
  const capsules = yield* CapsuleLedger
  const builds = yield* BuildStore
  const ledger = yield* RunLedger
  const handover = yield* RunHandover
  const lifecycle = yield* RunLifecycle
  const ending = { lifecycle, handover }

  /** The state is compared with what it was made from: nothing is built for a comparison. */
  const buildOf = Effect.fnUntraced(function* ({ base, evidence }: PreparedRun) {
    const stored = base === undefined ? undefined : storedBuild(base)
    if (stored === undefined) return undefined
    if (Option.isSome(yield* builds.find(stored))) return stored
    const message = "What the source build of the last apply made is gone. Plan and apply the Capsule again."
    return yield* new RunBlocked({ code: "build_missing", message, evidence })
  })

  const settle = Effect.fn("Run.driftChecked")(function* (run: RunRow, prepared: PreparedRun, outcome: DriftOutcome) {
    yield* capsules.annotate(prepared.capsule.id, {
      drift_status: outcome.drifted ? "drifted" : "none",
      drift_checked_at: yield* now
    })
    const { diagnostics, drifted, resourceDrift, tool } = outcome
    const evidence = { ...prepared.evidence, drifted, resourceDrift, diagnostics, tool }
    yield* lifecycle.succeed(holdOf(run), { drifted }, evidence)
    yield* handover.finished(run)
  }, transaction(sql))

  /** A scheduled check that was stopped for another Run does not wait for its whole interval. */
  const againSoon = Effect.fnUntraced(function* ({ capsule_id, id, trigger_kind }: RunRow) {
    const ended = yield* ledger.find(id)
    if (capsule_id === null || trigger_kind !== "schedule" || ended?.cancel_reason !== goesFirst) return
    const at = (yield* Clock.currentTimeMillis) + Duration.toMillis(Duration.fromInputUnsafe(afterGivingWay))
    yield* capsules.schedule(capsule_id, new Date(at).toISOString())
  })

  const execution: RunExecution = Effect.fn("Run.driftCheck")(function* (run, control) {
    const checked = yield* Effect.gen(function* () {
      const prepared = yield* preparation.prepare(run)
      const { values: variables } = yield* variablesOf(run, prepared)
      const lock = prepared.capsule.provider_lock
      const build = yield* buildOf(prepared)
      yield* recordConfinement({ runner, ledger }, run, prepared.job.demands)
      const outcome = yield* runner.driftCheck(
        {
          ...prepared.job,
          variables,
          ...(lock === null ? {} : { lockText: lock }),
          ...(build === undefined ? {} : { build })
        },
        control
      )
      return { prepared, outcome }
    }).pipe(Effect.result)
    if (checked._tag === "Success") return yield* settle(run, checked.success.prepared, checked.success.outcome)
    const { failure } = checked
    if (failure._tag === "HoldLost") return yield* failure
    yield* control.sink.log("prepare", "system", failure.message)
    const code = codeOf(failure)
    yield* transaction(sql)(
      code === "cancelled"
        ? Effect.andThen(cancelRun(ending, run), againSoon(run))
        : failRun(ending, run, { code, message: failure.message })
    )
  })
  return execution
})
