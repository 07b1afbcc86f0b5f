import { Cause, Context, Deferred, Duration, Effect, FiberMap, Layer, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { RunFolders } from "../../../runner/execution/RunFolders.ts"
import type { RunSink } from "../../../runner/execution/RunSink.ts"
import type { ReportedKind } from "../../../schema/events/RunEvent.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { ApplyRecovery } from "./ApplyRecovery.ts"
import { hasStorageFull, storageFull } from "../../../schema/errors/StorageFull.ts"
import { hasIntegrityFault, integrityFault } from "../../base/vault/IntegrityFault.ts"
import { SkipDrainGrace } from "./SkipDrainGrace.ts"
import { KillPoint } from "../../base/KillPoint.ts"
import { Nodes } from "../../base/node/Nodes.ts"
import { isApply, RunLifecycle } from "../../ledger/run/RunLifecycle.ts"
import { makeStateKeeper } from "../../ledger/state/StateKeeper.ts"
import { databaseLost, startsAgain } from "./LostDatabase.ts"
import { failRun } from "./RunEnding.ts"
import { makeRunStop } from "./RunStop.ts"
import { RunExecutions } from "./RunExecution.ts"
import { RunHandover } from "./RunHandover.ts"
import { receivedFact, RunJournal } from "../../ledger/run/RunJournal.ts"
import { RunCancels } from "../../ledger/run/RunCancels.ts"
import { type HoldLost, holdOf } from "../../ledger/run/RunHold.ts"
import { RunLedger } from "../../ledger/run/RunLedger.ts"
import { RunLogs } from "../../ledger/run/RunLogs.ts"
import { measureRun } from "./RunMetrics.ts"
import { RunQueue } from "../queue/RunQueue.ts"
import { RunRow } from "../../ledger/run/RunRow.ts"
import { RunSettings } from "../../ledger/run/RunSettings.ts"

const defect = {
  code: "internal_error",
  message: "The service failed while it executed this Run. The operator's log has the details."
}

const defectOf = (cause: Cause.Cause<never>) => {
  if (hasIntegrityFault(cause)) return integrityFault
  return hasStorageFull(cause) ? storageFull : defect
}

/**
 * Returns true for events about resources. The runner stores these events in the run folder, because recovery needs them.
 */
const isOfResource = (kind: ReportedKind): boolean => kind.startsWith("resource.")

/**
 * The end of an execution. `unreadable`: the files that the execution left behind could not be read. `lost`: the execution
 * no longer held the Run.
 */
type Ended = "settled" | "unreadable" | "lost"

/** The name of an execution. Each execution of a Run has another fence. */
const keyOf = ({ fence, id }: Pick<RunRow, "fence" | "id">) => `${id} ${fence}`

/** Delays between attempts to record the end of a Run. */
const recordAgain = Schedule.min([Schedule.exponential("200 millis"), Schedule.spaced("5 seconds")])

/**
 * Executes Runs in fibers outside any mailbox, so that reads and cancellations never wait for a Run. Nothing else in this
 * process owns running Runs. After a crash, `RunRecovery` settles the Runs that were interrupted.
 */
export class RunExecutor extends Context.Service<
  RunExecutor,
  {
    /** Stops starting Runs. Running Runs continue. */
    readonly quiesce: Effect.Effect<void>
    /**
     * Stops starting Runs, and waits until the grace period is over or `SkipDrainGrace` completes. Then interrupts the Runs
     * that are still running and waits until each of them is settled.
     */
    readonly drain: Effect.Effect<void>
    /** Until it is interrupted, delivers the cancel requests that other servers accepted for this server's Runs. */
    readonly followCancels: Effect.Effect<never>
    /** Executes Runs from the queue until the scope closes. */
    readonly work: Effect.Effect<never>
  }
>()("svc/actors/running/execution/RunExecutor") {
  static readonly layer = Layer.effect(
    RunExecutor,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const queue = yield* RunQueue
      const ledger = yield* RunLedger
      const lifecycle = yield* RunLifecycle
      const stop = yield* makeRunStop
      const journal = yield* RunJournal
      const logs = yield* RunLogs
      const keepStates = yield* makeStateKeeper
      const executions = yield* RunExecutions
      const applies = yield* ApplyRecovery
      const handover = yield* RunHandover
      const killPoint = yield* KillPoint
      const settings = yield* RunSettings
      const folders = yield* RunFolders
      const node = yield* Nodes
      const fibers = yield* FiberMap.make<string, void, never>()
      /** Done when the newest execution of each Run in this process ends. */
      const newest = new Map<string, Deferred.Deferred<void>>()
      const cancels = yield* RunCancels
      const skipGrace = yield* SkipDrainGrace
      const stage = { quiet: false, draining: false }

      const record = <A, E>(end: Effect.Effect<A, E>): Effect.Effect<A, E> =>
        end.pipe(
          Effect.tapCause((cause) =>
            Cause.hasInterruptsOnly(cause) || Cause.hasFails(cause)
              ? Effect.void
              : Effect.logError("The end of a Run could not be recorded. It is tried again; is the disk full?", cause)
          ),
          Effect.sandbox,
          Effect.retry({
            schedule: recordAgain,
            while: (cause) => !stage.draining && !Cause.hasInterruptsOnly(cause) && !Cause.hasFails(cause)
          }),
          Effect.catch((cause) => Effect.failCause(cause))
        )

      /**
       * Settles a Run after a defect. Otherwise the Run would remain without an owner, and an apply would lose its state. The
       * cause is logged.
       */
      const failed = Effect.fnUntraced(function* (
        run: RunRow,
        cause: Cause.Cause<never>
      ): Effect.fn.Return<Ended, HoldLost> {
        const error = defectOf(cause)
        yield* Effect.logError("A Run ended in a defect", cause)
        if (!isApply(run.type)) {
          const end =
            node.isShared && startsAgain(run, cause)
              ? stop.requeued(holdOf(run), databaseLost, { counts: false })
              : failRun({ lifecycle, handover }, run, error)
          yield* record(transaction(sql)(end))
          return "settled"
        }
        const left = yield* folders.leftBy(holdOf(run))
        yield* record(applies.settle(run, left, { untouched: error, interrupted: error }))
        return left.kind === "unreadable" ? "unreadable" : "settled"
      })

      const attempt = Effect.fnUntraced(function* (run: RunRow, watched: (sink: RunSink) => RunSink) {
        const hold = holdOf(run)
        const cancelRequested = yield* cancels.register(run.id)
        yield* killPoint(`${run.type}.claimed`)
        // A cancel request may have arrived after the claim and before the registration.
        const current = yield* ledger.find(run.id)
        if (current?.cancel_requested_at != null) yield* cancels.cancel(run.id)
        const log = yield* logs.open(hold)
        const lost = yield* Deferred.make<never, HoldLost>()
        /** Stops the execution if the hold is lost, instead of passing an error to the tool. */
        const whileHeld = (write: Effect.Effect<void, HoldLost>): Effect.Effect<void> =>
          Effect.catchTag(write, "HoldLost", (error) => Effect.asVoid(Deferred.fail(lost, error)))
        const states = yield* keepStates(run)
        const execution = executions[run.type](run, {
          runFolder: folders.pathOf(hold),
          record: (end) => Effect.andThen(states.end, record(end)),
          cancelRequested,
          sink: watched({
            event: (reportedKind, reportedData) =>
              Effect.orDie(receivedFact({ kind: reportedKind, data: reportedData })).pipe(
                Effect.flatMap(({ data, kind }) =>
                  whileHeld(isOfResource(kind) ? journal.note(hold, kind, data) : journal.report(hold, kind, data))
                ),
                Effect.andThen(killPoint(`${run.type}.${reportedKind}`))
              ),
            log: (phase, stream, text) => whileHeld(log.write(phase, stream, text)),
            checkpoint: states.offer
          })
        })
        yield* Effect.raceAllFirst([execution, Deferred.await(lost), states.lost])
      }, Effect.scoped)

      const takenAway = (error: HoldLost): Effect.Effect<Ended> =>
        Effect.as(Effect.logWarning("A Run was taken away from its execution", error), "lost")

      const execute = Effect.fn("Run.execute")(function* (run: RunRow) {
        const hold = holdOf(run)
        yield* Effect.annotateCurrentSpan({
          "svc.run.id": run.id,
          "svc.run.type": run.type,
          "svc.run.attempt": run.attempt
        })
        const metrics = yield* measureRun(run)
        const ended = yield* attempt(run, metrics.watched).pipe(
          Effect.catchTag("StopRequested", (request) => record(stop.stopped(request))),
          Effect.as<Ended>("settled"),
          Effect.catchTag("HoldLost", takenAway),
          Effect.catchCauseIf(
            (cause) => !Cause.hasInterruptsOnly(cause),
            (cause) => Effect.catchTag(failed(run, cause), "HoldLost", takenAway)
          )
        )
        yield* killPoint(`${run.type}.settled`)
        // Keeps the folder for recovery until the Run is settled, because it may contain an uncommitted state.
        const settled = yield* ledger.find(run.id)
        yield* metrics.end(settled)
        if (ended === "unreadable") return yield* folders.setAside(hold)
        // Removes the folder, which may contain a state. If this fails, the next startup removes it.
        if (ended === "settled" && settled?.status !== "running") yield* folders.remove(hold)
      })

      const start = Effect.fnUntraced(function* (run: RunRow) {
        // A requeued Run may start again before its last execution has removed its folder. The earlier execution must not be
        // interrupted, and must not remove the record of the new one, which waits for it. Other Runs do not wait.
        const before = newest.get(run.id)
        const ended = Deferred.makeUnsafe<void>()
        newest.set(run.id, ended)
        const fiber = yield* FiberMap.run(
          fibers,
          keyOf(run),
          Effect.andThen(
            before === undefined ? Effect.void : Deferred.await(before),
            journal.within(run.id, execute(run))
          ).pipe(
            Effect.ensuring(cancels.forget(run.id)),
            Effect.ensuring(queue.wake),
            Effect.tapCause((cause) =>
              Cause.hasInterruptsOnly(cause) ? Effect.void : Effect.logError("A Run was left to recovery", cause)
            ),
            Effect.annotateLogs({ runId: run.id })
          )
        )
        fiber.addObserver(() => {
          Deferred.doneUnsafe(ended, Effect.void)
          if (newest.get(run.id) === ended) newest.delete(run.id)
        })
      })

      const startAll = Effect.gen(function* () {
        while (!stage.quiet && (yield* node.isCurrent)) {
          const run = yield* queue.claim(node.name)
          if (run === undefined) return
          yield* start(run)
        }
      })

      /**
       * Requeues Runs that change nothing, so that the next process can execute them. The interruption does not count as a
       * failed attempt.
       */
      const requeue = Effect.fnUntraced(function* (run: RunRow) {
        // An earlier execution of the Run may not have ended yet.
        const own = Array.from(fibers, ([key]) => key).filter((key) => key.startsWith(`${run.id} `))
        for (const key of own) yield* FiberMap.remove(fibers, key)
        const reason = "The service is stopping; the Run starts again with it."
        // Ignores an error, because the Run may have finished before it could be interrupted.
        yield* Effect.ignore(transaction(sql)(stop.requeued(holdOf(run), reason, { counts: false })))
      })

      const quiesce = Effect.sync(() => {
        stage.quiet = true
      })

      const drain = Effect.gen(function* () {
        stage.quiet = true
        stage.draining = true
        const grace = Duration.fromInputUnsafe(settings.drainGrace)
        const running = yield* FiberMap.size(fibers)
        if (running > 0) {
          yield* Effect.logInfo(`Stopping: ${running} Runs are executing and have ${Duration.format(grace)} to end`)
        }
        yield* FiberMap.awaitEmpty(fibers).pipe(Effect.raceFirst(skipGrace), Effect.timeoutOption(grace))
        for (const runId of yield* cancels.registered) {
          const run = yield* ledger.find(runId)
          if (run?.owner !== node.name) continue
          if (isApply(run.type)) yield* cancels.cancel(runId)
          else yield* requeue(run)
        }
        yield* FiberMap.awaitEmpty(fibers)
      }).pipe(Effect.withSpan("RunExecutor.drain"))

      /**
       * Delivers cancel requests that another server accepted. Such a request is in the Run's row. If there is only one
       * server, it has already delivered every request.
       */
      const lookForCancels = Effect.gen(function* () {
        const asked = yield* RunRow.some(sql, "id")`SELECT id FROM runs
          WHERE status = 'running' AND owner = ${node.name} AND cancel_requested_at IS NOT NULL`
        for (const { id } of asked) yield* cancels.cancel(id)
      }).pipe(
        Effect.catchCause((cause) => Effect.logWarning("Cancels of other servers could not be read", cause)),
        Effect.withSpan("RunExecutor.lookForCancels")
      )

      const followCancels = node.isShared
        ? Effect.forever(Effect.andThen(lookForCancels, Effect.sleep("1 second")))
        : Effect.never

      const work = Effect.forever(
        startAll.pipe(
          Effect.catchCause((cause) => Effect.logError("The Run queue could not be read", cause)),
          Effect.andThen(queue.woken.pipe(Effect.timeoutOption("5 seconds")))
        )
      )

      return RunExecutor.of({ quiesce, drain, followCancels, work })
    })
  )
}
