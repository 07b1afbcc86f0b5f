import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { RunFolders } from "../../../runner/execution/RunFolders.ts"
import { OperatorSuccession } from "../../ledger/configuration/OperatorSuccession.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { ApplyRecovery } from "./ApplyRecovery.ts"
import { KillPoint } from "../../base/KillPoint.ts"
import { ExclusiveWork } from "../../base/node/ExclusiveWork.ts"
import { Nodes } from "../../base/node/Nodes.ts"
import { isApply, RunLifecycle } from "../../ledger/run/RunLifecycle.ts"
import { failRun } from "./RunEnding.ts"
import { makeRunStop } from "./RunStop.ts"
import { RunHandover } from "./RunHandover.ts"
import { holdOf, type RunHold } from "../../ledger/run/RunHold.ts"
import { RunLedger } from "../../ledger/run/RunLedger.ts"
import { RunLogs } from "../../ledger/run/RunLogs.ts"
import { RunRow } from "../../ledger/run/RunRow.ts"

const untouched = {
  code: "apply_interrupted",
  message: "The service ended before the tool was started; nothing was changed. Plan again."
}

const interrupted = {
  code: "apply_interrupted",
  message:
    "The service ended while this apply was running. What it had written of the state was imported; check what may have been created, then plan again."
}

/** Interval between searches for Runs of servers that are gone. */
const lookEvery = "2 seconds"

/**
 * Settles the Runs that servers left running (design, section 5). With the embedded database, these are the servers of earlier
 * processes; with a shared database, the servers that are gone. Runs that change nothing are requeued once; an apply is
 * never repeated (see `ApplyRecovery`). Runs of live servers are not changed.
 */
export class RunRecovery extends Context.Service<
  RunRecovery,
  {
    /** Called once at startup. */
    readonly recover: Effect.Effect<void>
    /** Until it is interrupted, settles the Runs of servers that are gone. */
    readonly follow: Effect.Effect<never>
  }
>()("svc/actors/running/execution/RunRecovery") {
  static readonly layer = Layer.effect(
    RunRecovery,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const ledger = yield* RunLedger
      const lifecycle = yield* RunLifecycle
      const stop = yield* makeRunStop
      const logs = yield* RunLogs
      const handover = yield* RunHandover
      const applies = yield* ApplyRecovery
      const operator = yield* OperatorSuccession
      const nodes = yield* Nodes
      const exclusive = yield* ExclusiveWork
      const folders = yield* RunFolders
      const killPoint = yield* KillPoint

      const requeueOnce = (run: RunRow) =>
        transaction(sql)(
          run.attempt <= 1
            ? stop.requeued(holdOf(run), "The service was restarted while the Run was running.", { counts: true })
            : failRun({ lifecycle, handover }, run, {
                code: "interrupted",
                message: "The service ended twice while this Run was running. Start a new one."
              })
        )

      /** Settles one Run. Returns true if its folder may be removed. */
      const settle = Effect.fnUntraced(function* (run: RunRow) {
        if (!isApply(run.type)) return yield* Effect.as(requeueOnce(run), true)
        const left = yield* folders.leftBy(holdOf(run))
        yield* applies.settle(run, left, { untouched, interrupted })
        return left.kind !== "unreadable"
      })

      /** Settles the Runs of servers that are gone. Returns the holds whose folders must be kept. */
      const settleLeft = Effect.gen(function* () {
        const running = yield* Effect.orDie(
          RunRow.rows(sql)`SELECT * FROM runs WHERE status = 'running' ORDER BY started_at, id`
        )
        const left = yield* Effect.filter(running, ({ owner }) =>
          owner === null ? Effect.succeed(false) : nodes.isGone(owner)
        )
        const kept: Array<RunHold> = []
        for (const run of left) {
          // Only one server recovers Runs at a time, so a lost hold here is a defect.
          if (!(yield* Effect.orDie(settle(run)))) kept.push(holdOf(run))
          yield* killPoint("recovery.settled")
        }
        yield* killPoint("recovery.cleaning")
        if (!nodes.isShared) yield* logs.endAbandoned(() => Effect.succeed(true))
        // Other servers may still be writing the last lines of their Runs.
        else if (left.length > 0) {
          yield* logs.endAbandoned((owner) => (owner === null ? Effect.succeed(false) : nodes.isGone(owner)))
        }
        if (left.length > 0) yield* Effect.logInfo(`Settled ${left.length} Runs that an earlier process left running`)
        return kept
      })

      const recover = Effect.gen(function* () {
        yield* killPoint("recovery.begun")
        yield* ledger.supersedeOutdated
        // Voids plans that the operator's settings no longer allow, because the policy file may have changed while svc was
        // not running.
        yield* operator.supersedeMoved
        // Removes the inputs and states of settled Runs from the disk.
        yield* folders.sweep(yield* exclusive.locked("recovery")(settleLeft))
      }).pipe(Effect.withSpan("RunRecovery.recover"))

      const follow = nodes.isShared
        ? settleLeft.pipe(
            exclusive.locked("recovery"),
            Effect.catchCause((cause) =>
              Effect.logError("The Runs of a server that is gone could not be settled. It is tried again.", cause)
            ),
            Effect.andThen(Effect.sleep(lookEvery)),
            Effect.forever
          )
        : Effect.never

      return RunRecovery.of({ recover, follow })
    })
  )
}
