import { Context, Effect, Layer, Option, Result } from "effect"
import { SqlClient } from "effect/sql"
import type { RunnerFailure } from "../../../runner/execution/RunnerFailure.ts"
import type { DriftOutcome } from "../../../runner/execution/RunOutcome.ts"
import type { RunEvidence } from "../../../schema/records/Run.ts"
import { writeNotice } from "../../base/notice/Notices.ts"
import { aboutCapsule, noticeCapsule } from "../../ledger/capsule/CapsuleNotices.ts"
import { noticeRun } from "../../ledger/run/RunNotices.ts"
import { CapsuleLedger } from "../../ledger/capsule/CapsuleLedger.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { now } from "../../base/Identity.ts"
import { RunHandover } from "./RunHandover.ts"
import { type HoldLost, holdLost, type RunHold, type StopRequested } from "../../ledger/run/RunHold.ts"
import { RunLedger } from "../../ledger/run/RunLedger.ts"
import { RunLifecycle } from "../../ledger/run/RunLifecycle.ts"
import { RunPreparations } from "../../ledger/run/RunPreparations.ts"
import type { RunRow } from "../../ledger/run/RunRow.ts"
import { preparedDriftCheckSchema, type PreparedDriftCheck } from "./PreparationSchemas.ts"
import { endRun } from "./RunEnding.ts"
import { scheduleAgain } from "./RunStop.ts"
import type { JobResult } from "./RunSteps.ts"

export const driftEvidence = (
  prepared: PreparedDriftCheck,
  { diagnostics, drifted, resourceDrift, tool }: DriftOutcome
): RunEvidence => ({
  ...prepared.evidence,
  drifted,
  driftedResources: resourceDrift.length,
  resourceDrift,
  diagnostics,
  tool
})

/** Records the result of a drift check on the Capsule, and ends the Run. */
export class DriftSettlement extends Context.Service<
  DriftSettlement,
  { readonly settle: (hold: RunHold, result: JobResult<DriftOutcome>) => Effect.Effect<void, HoldLost | StopRequested> }
>()("svc/actors/running/execution/DriftSettlement") {
  static readonly layer = Layer.effect(
    DriftSettlement,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const capsules = yield* CapsuleLedger
      const ledger = yield* RunLedger
      const preparations = yield* RunPreparations
      const lifecycle = yield* RunLifecycle
      const handover = yield* RunHandover

      const compared = Effect.fnUntraced(function* (hold: RunHold, run: RunRow, outcome: DriftOutcome) {
        const prepared = yield* preparations.load(hold, preparedDriftCheckSchema)
        if (Option.isNone(prepared)) return yield* Effect.die(new Error(`Nothing was prepared for the Run ${run.id}`))
        const { drifted } = outcome
        const capsule = yield* capsules.find(run.capsule_id)
        if (drifted && capsule !== undefined && capsule.drift_status !== "drifted") {
          yield* writeNotice(
            sql,
            "drift.found",
            Effect.succeed(
              aboutCapsule<"drift.found">(
                capsule,
                {
                  capsule: noticeCapsule(capsule),
                  run: noticeRun(run),
                  resources: outcome.resourceDrift.length
                },
                `runs/${run.id}`
              )
            )
          )
        }
        yield* capsules.annotate(run.capsule_id, {
          drift_status: drifted ? "drifted" : "none",
          drift_checked_at: yield* now
        })
        yield* lifecycle.succeed(hold, { drifted }, driftEvidence(prepared.value, outcome))
        yield* handover.finished(run)
      })

      const ended = Effect.fnUntraced(function* (run: RunRow, { message, reason }: RunnerFailure) {
        yield* endRun({ lifecycle, handover }, run, { code: reason, message })
        yield* scheduleAgain(capsules, run)
      })

      const settle = Effect.fn("Run.driftChecked")(function* (hold: RunHold, result: JobResult<DriftOutcome>) {
        const run = yield* ledger.held(hold)
        if (run === undefined) return yield* holdLost(hold)
        yield* Result.match(result, {
          onFailure: (failure) => ended(run, failure),
          onSuccess: (outcome) => compared(hold, run, outcome)
        })
      }, transaction(sql))

      return DriftSettlement.of({ settle })
    })
  )
}
