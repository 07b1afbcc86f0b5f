import { Context, Effect, Layer, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import { plainText } from "../../../runner/redaction/LogText.ts"
import type { RunSink } from "../../../runner/execution/RunSink.ts"
import { CapsuleLedger } from "../../ledger/capsule/CapsuleLedger.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { cancelRun, endRun } from "../execution/RunEnding.ts"
import { makeRunStop, scheduleAgain } from "../execution/RunStop.ts"
import { measureEnded } from "../execution/RunMetrics.ts"
import type { RunControl } from "../execution/RunExecution.ts"
import { RunPlans } from "../execution/RunPlans.ts"
import { type HoldLost, holdLost, holdOf, type RunHold } from "../../ledger/run/RunHold.ts"
import { RunHandover } from "../execution/RunHandover.ts"
import { RunJournal } from "../../ledger/run/RunJournal.ts"
import { RunLedger } from "../../ledger/run/RunLedger.ts"
import { type RunError, RunLifecycle } from "../../ledger/run/RunLifecycle.ts"
import { RunLogs } from "../../ledger/run/RunLogs.ts"
import type { RunRow } from "../../ledger/run/RunRow.ts"
import { measurePhases } from "./AgentPhases.ts"

const silent: RunSink = { event: () => Effect.void, log: () => Effect.void, checkpoint: () => Effect.void }

/**
 * Run controls for the steps that the control plane performs before and after an agent executes a Run. These steps have no run
 * folder and start no tool.
 */
export class AgentControls extends Context.Service<
  AgentControls,
  {
    /** Returns a control object for the preparation that discards all reports. */
    readonly quiet: (run: RunRow) => RunControl
    /** Returns the control for the settlement. It appends to the agent's log and completes it. */
    readonly settling: (run: RunRow) => Effect.Effect<RunControl, never, Scope.Scope>
    /** Writes one line to the log of a Run that no agent has received. */
    readonly logged: (run: RunRow, message: string) => Effect.Effect<void>
    /**
     * Ends a Run that was asked to stop before its tool started, in the caller's transaction. Returns `false` if nobody asked it
     * to stop.
     */
    readonly stopped: (hold: RunHold) => Effect.Effect<boolean, HoldLost>
    /**
     * Closes the log of a Run after the last batch that was written under the hold. Counts the Run in the metrics if it
     * ended under this hold.
     */
    readonly endLog: (hold: RunHold) => Effect.Effect<void>
    /**
     * Returns a Run to the queue, or stops it if a stop was requested. In the same transaction, checks that the Run's tool
     * cannot have started, and fails if it may have.
     */
    readonly requeue: (
      hold: RunHold,
      reason: string,
      options: { readonly counts: boolean }
    ) => Effect.Effect<void, HoldLost>
    /**
     * Retries a Run that changed nothing, under a new fence. If a stop was requested, stops the Run instead. If this was the
     * second attempt, marks the Run as failed.
     */
    readonly again: (run: RunRow, reason: string, error: RunError) => Effect.Effect<void, HoldLost>
    /**
     * Marks a Run that changed nothing as failed. In the same transaction, checks that the Run's tool cannot have started;
     * if it may have, the call itself fails.
     */
    readonly failed: (run: RunRow, error: RunError) => Effect.Effect<void, HoldLost>
  }
>()("svc/actors/running/agent/AgentControls") {
  static readonly layer = Layer.effect(
    AgentControls,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const journal = yield* RunJournal
      const logs = yield* RunLogs
      const ledger = yield* RunLedger
      const stop = yield* makeRunStop
      const capsules = yield* CapsuleLedger
      const plans = yield* RunPlans
      const ending = { lifecycle: yield* RunLifecycle, handover: yield* RunHandover }

      const control = (sink: RunSink): RunControl => ({
        sink,
        cancelRequested: Effect.never,
        // Empty, because an agent's Run has no folder on this machine.
        runFolder: "",
        record: (end) => end
      })

      const settling = Effect.fnUntraced(function* (run: RunRow) {
        const hold = holdOf(run)
        const log = yield* logs.open(hold)
        return control({
          event: (kind, data) => Effect.ignore(journal.report(hold, kind, data)),
          log: (phase, stream, text) => Effect.ignore(log.write(phase, stream, plainText(text))),
          checkpoint: () => Effect.void
        })
      })

      const logged = Effect.fnUntraced(function* (run: RunRow, message: string) {
        const log = yield* logs.open(holdOf(run))
        yield* Effect.ignore(log.write("prepare", "system", message))
      }, Effect.scoped)

      const endLog = Effect.fnUntraced(function* (hold: RunHold) {
        yield* Effect.scoped(logs.open(hold))
        const run = yield* ledger.find(hold.runId)
        const isOver = run?.fence === hold.fence && run.status !== "queued" && run.status !== "running"
        if (!isOver) return
        yield* measureEnded(run)
        yield* Effect.provideService(measurePhases(hold, run), SqlClient.SqlClient, sql)
      })

      const stopped = Effect.fn("AgentControls.stopped")(function* (hold: RunHold) {
        const run = yield* ledger.held(hold)
        if (run === undefined || run.start_acknowledged_at !== null) return yield* holdLost(hold)
        if (run.cancel_requested_at === null) return false
        // Deletes the sealed plan file: the plan counts as used even if its apply never started.
        if (run.plan_run_id !== null) yield* plans.drop(run.plan_run_id)
        yield* cancelRun(ending, run)
        yield* scheduleAgain(capsules, run)
        return true
      })

      const requeue = Effect.fn("AgentControls.requeue")(function* (
        hold: RunHold,
        reason: string,
        options: { readonly counts: boolean }
      ) {
        if (!(yield* stopped(hold))) yield* stop.requeued(hold, reason, options)
      }, transaction(sql))

      const failed = Effect.fn("AgentControls.failed")(function* (run: RunRow, error: RunError) {
        if (!(yield* stopped(holdOf(run)))) yield* endRun(ending, run, error)
      }, transaction(sql))

      const again = (run: RunRow, reason: string, error: RunError) =>
        run.cancel_requested_at !== null || run.attempt <= 1
          ? requeue(holdOf(run), reason, { counts: true })
          : failed(run, error)

      return AgentControls.of({
        stopped,
        requeue,
        again,
        quiet: () => control(silent),
        settling,
        logged,
        endLog,
        failed
      })
    })
  )
}
