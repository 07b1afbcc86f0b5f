import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { ModuleRunner } from "../../runner/execution/ModuleRunner.ts"
import type { DriftOutcome } from "../../runner/execution/RunOutcome.ts"
import { transaction } from "../database/Transaction.ts"
import { now } from "../Identity.ts"
import { cancelRun, failRun } from "../run/RunEnding.ts"
import type { RunExecution } from "../run/RunExecution.ts"
import { RunHandover } from "../run/RunHandover.ts"
import { RunLedger } from "../run/RunLedger.ts"
import type { RunRow } from "../run/RunRow.ts"
import { CapsuleLedger } from "./CapsuleLedger.ts"
import { RunInputs } from "./RunInputs.ts"
import { type PreparedRun, RunPreparation } from "./RunPreparation.ts"

/** Compares the state with the real objects, and says so on the Capsule. It never parks and changes nothing. */
export const makeDriftExecution = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const preparation = yield* RunPreparation
  const inputs = yield* RunInputs
  const runner = yield* ModuleRunner
  const capsules = yield* CapsuleLedger
  const ledger = yield* RunLedger
  const handover = yield* RunHandover
  const ending = { ledger, handover }

  const settle = Effect.fn("Run.driftChecked")(function* (run: RunRow, prepared: PreparedRun, outcome: DriftOutcome) {
    yield* capsules.annotate(prepared.capsule.id, {
      drift_status: outcome.drifted ? "drifted" : "none",
      drift_checked_at: yield* now
    })
    yield* ledger.move(run.id, {
      from: ["running"],
      to: "succeeded",
      event: "run.succeeded",
      data: { drifted: outcome.drifted },
      evidence: {
        ...prepared.evidence,
        drifted: outcome.drifted,
        resourceDrift: outcome.resourceDrift,
        diagnostics: outcome.diagnostics,
        tool: outcome.tool,
        sandboxLevel: outcome.sandboxLevel
      }
    })
    yield* handover.finished(run)
  }, transaction(sql))

  const execution: RunExecution = Effect.fn("Run.driftCheck")(function* (run, control) {
    const checked = yield* Effect.gen(function* () {
      const prepared = yield* preparation.prepare(run)
      const variables = yield* inputs.variables(
        prepared.capsule,
        prepared.config,
        prepared.variables,
        prepared.moduleInputDefaults
      )
      const lock = prepared.capsule.provider_lock
      const outcome = yield* runner.driftCheck(
        {
          ...prepared.job,
          runFolder: control.runFolder,
          cancel: control.cancelRequested,
          variables,
          ...(lock === null ? {} : { lockText: lock })
        },
        control.sink
      )
      return { prepared, outcome }
    }).pipe(Effect.result)
    if (checked._tag === "Success") return yield* settle(run, checked.success.prepared, checked.success.outcome)
    const { failure } = checked
    yield* control.sink.log("prepare", "system", failure.message)
    const code =
      failure._tag === "RunBlocked" ? failure.code : failure._tag === "MissingInput" ? "missing_input" : failure.reason
    yield* transaction(sql)(
      code === "cancelled" ? cancelRun(ending, run) : failRun(ending, run, { code, message: failure.message })
    )
  })
  return execution
})
