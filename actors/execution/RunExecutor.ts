import { Cause, Context, Duration, Effect, FiberMap, FileSystem, Layer, Path, Schedule } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import type { RunSink } from "../../runner/execution/RunSink.ts"
import type { RunEventKind } from "../../schema/events/RunEvent.ts"
import { transaction } from "../database/Transaction.ts"
import { ApplyRecovery } from "./ApplyRecovery.ts"
import { hasIntegrityFault, integrityFault } from "../vault/IntegrityFault.ts"
import { SkipDrainGrace } from "./SkipDrainGrace.ts"
import { KillPoint } from "../run/KillPoint.ts"
import { isApply, runFolderName, setAsideSuffix } from "../run/RunAttempt.ts"
import { RunCheckpoints } from "../state/RunCheckpoints.ts"
import { failRun } from "./RunEnding.ts"
import { RunExecutions } from "./RunExecution.ts"
import { RunHandover } from "../run/RunHandover.ts"
import { RunCancels } from "../run/RunCancels.ts"
import { RunJournal } from "../run/RunJournal.ts"
import { RunLedger } from "../run/RunLedger.ts"
import { RunLogs } from "../run/RunLogs.ts"
import { measureRun } from "./RunMetrics.ts"
import { RunQueue } from "../queue/RunQueue.ts"
import type { RunRow } from "../run/RunRow.ts"
import { RunSettings } from "../run/RunSettings.ts"

const defect = {
  code: "internal_error",
  message: "The service failed while it executed this Run. The operator's log has the details."
}

/** What a tool tells of each resource; the runner keeps what recovery needs of it in the run folder. */
const isOfResource = (kind: RunEventKind): boolean => kind.startsWith("resource.")

/** How long to wait before an end that could not be recorded is tried again. */
const recordAgain = Schedule.min([Schedule.exponential("200 millis"), Schedule.spaced("5 seconds")])

/**
 * Executes Runs in fibers of their own, outside any mailbox, so that reads and cancels always answer. It is the only
 * owner of running Runs in this process; what it leaves behind when the process dies is `RunRecovery`'s to settle.
 */
export class RunExecutor extends Context.Service<
  RunExecutor,
  {
    /** Starts nothing more; what runs goes on. */
    readonly quiesce: Effect.Effect<void>
    /**
     * Starts nothing more, gives running Runs their grace (unless `SkipDrainGrace` completes first), then interrupts them and waits
     * until each is settled.
     */
    readonly drain: Effect.Effect<void>
    /** Takes Runs from the queue until the scope closes. */
    readonly work: Effect.Effect<never>
  }
>()("svc/actors/execution/RunExecutor") {
  static readonly layer = Layer.effect(
    RunExecutor,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const queue = yield* RunQueue
      const ledger = yield* RunLedger
      const journal = yield* RunJournal
      const logs = yield* RunLogs
      const checkpoints = yield* RunCheckpoints
      const executions = yield* RunExecutions
      const applies = yield* ApplyRecovery
      const handover = yield* RunHandover
      const killPoint = yield* KillPoint
      const settings = yield* RunSettings
      const files = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const random = yield* SecureRandom.SecureRandom
      const owner = yield* random.uuidV4()
      const fibers = yield* FiberMap.make<string, void, never>()
      const cancels = yield* RunCancels
      const skipGrace = yield* SkipDrainGrace
      const lifecycle = { quiet: false, draining: false }

      const record = <A>(end: Effect.Effect<A>) =>
        end.pipe(
          Effect.tapCause((cause) =>
            Cause.hasInterruptsOnly(cause)
              ? Effect.void
              : Effect.logError("The end of a Run could not be recorded. It is tried again; is the disk full?", cause)
          ),
          Effect.sandbox,
          Effect.retry({
            schedule: recordAgain,
            while: (cause) => !lifecycle.draining && !Cause.hasInterruptsOnly(cause)
          }),
          Effect.catch((cause) => Effect.failCause(cause))
        )

      /**
       * A defect of ours must not leave a Run without an owner, nor an apply without its state. The log has the cause.
       * Answers `false` when the run folder could not be read and has to be kept.
       */
      const failed = (run: RunRow, cause: Cause.Cause<never>) => {
        const error = hasIntegrityFault(cause) ? integrityFault : defect
        return Effect.andThen(
          Effect.logError("A Run ended in a defect", cause),
          record(
            isApply(run.type)
              ? applies.settle(run, { untouched: error, interrupted: error })
              : Effect.as(transaction(sql)(failRun({ ledger, handover }, run, error)), true)
          )
        )
      }

      const attempt = Effect.fnUntraced(function* (
        run: RunRow,
        runFolder: string,
        watched: (sink: RunSink) => RunSink
      ) {
        const cancelRequested = yield* cancels.register(run.id)
        yield* killPoint(`${run.type}.claimed`)
        // A cancel may have come between the claim and this line.
        const current = yield* ledger.find(run.id)
        if (current?.cancel_requested_at != null) yield* cancels.cancel(run.id)
        const log = yield* logs.open(run.id)
        yield* executions[run.type](run, {
          runFolder,
          record,
          cancelRequested,
          sink: watched({
            event: (kind, data) =>
              Effect.andThen(
                isOfResource(kind) ? journal.note(run.id, kind, data) : journal.append(run.id, kind, data),
                killPoint(`${run.type}.${kind}`)
              ),
            log: log.write,
            checkpoint: (state) =>
              Effect.andThen(checkpoints.save(run.workspace_id, run.id, state), killPoint(`${run.type}.checkpoint`))
          })
        })
      }, Effect.scoped)

      /** It may hold a state: it goes away now, at the latest when the service starts again. */
      const removed = (runFolder: string) =>
        files.remove(runFolder, { recursive: true, force: true }).pipe(
          Effect.retry({ times: 3, schedule: Schedule.spaced("100 millis") }),
          Effect.catch((error) => Effect.logError("A run folder could not be removed", error))
        )

      const execute = Effect.fn("Run.execute")(function* (run: RunRow) {
        const runFolder = path.join(settings.runsFolder, runFolderName(run))
        yield* Effect.annotateCurrentSpan({
          "svc.run.id": run.id,
          "svc.run.type": run.type,
          "svc.run.attempt": run.attempt
        })
        const metrics = yield* measureRun(run)
        const isReadable = yield* attempt(run, runFolder, metrics.watched).pipe(
          Effect.as(true),
          Effect.catchCauseIf(
            (cause) => !Cause.hasInterruptsOnly(cause),
            (cause) => failed(run, cause)
          )
        )
        yield* killPoint(`${run.type}.settled`)
        // Kept for recovery unless the Run is settled: a state that was not committed may be in it.
        const settled = yield* ledger.find(run.id)
        yield* metrics.end(settled)
        if (!isReadable) return yield* Effect.ignore(files.rename(runFolder, `${runFolder}${setAsideSuffix}`))
        if (settled?.status !== "running") yield* removed(runFolder)
      })

      const start = (run: RunRow) =>
        FiberMap.run(
          fibers,
          run.id,
          journal.within(run.id, execute(run)).pipe(
            Effect.ensuring(cancels.forget(run.id)),
            Effect.ensuring(queue.wake),
            Effect.tapCause((cause) =>
              Cause.hasInterruptsOnly(cause) ? Effect.void : Effect.logError("A Run was left to recovery", cause)
            ),
            Effect.annotateLogs({ runId: run.id })
          )
        )

      const startAll = Effect.gen(function* () {
        while (!lifecycle.quiet) {
          const run = yield* queue.claim(owner)
          if (run === undefined) return
          yield* start(run)
        }
      })

      /** What changes nothing is simply done again by the next process, without counting as a failed attempt. */
      const requeue = Effect.fnUntraced(function* (run: RunRow) {
        yield* FiberMap.remove(fibers, run.id)
        yield* transaction(sql)(
          Effect.gen(function* () {
            const moved = yield* ledger.move(run.id, {
              from: ["running"],
              to: "queued",
              event: "run.queued",
              data: { reason: "The service is stopping; the Run starts again with it." }
            })
            if (moved) yield* ledger.set(run.id, { attempt: run.attempt - 1 })
          })
        )
      })

      const quiesce = Effect.sync(() => {
        lifecycle.quiet = true
      })

      const drain = Effect.gen(function* () {
        lifecycle.quiet = true
        lifecycle.draining = true
        const grace = Duration.fromInputUnsafe(settings.drainGrace)
        const running = yield* FiberMap.size(fibers)
        if (running > 0) {
          yield* Effect.logInfo(`Stopping: ${running} Runs are executing and have ${Duration.format(grace)} to end`)
        }
        yield* FiberMap.awaitEmpty(fibers).pipe(Effect.raceFirst(skipGrace), Effect.timeoutOption(grace))
        for (const runId of yield* cancels.registered) {
          const run = yield* ledger.find(runId)
          if (run === undefined) continue
          if (isApply(run.type)) yield* cancels.cancel(runId)
          else yield* requeue(run)
        }
        yield* FiberMap.awaitEmpty(fibers)
      }).pipe(Effect.withSpan("RunExecutor.drain"))

      const work = Effect.forever(
        startAll.pipe(
          Effect.catchCause((cause) => Effect.logError("The Run queue could not be read", cause)),
          Effect.andThen(queue.woken.pipe(Effect.timeoutOption("5 seconds")))
        )
      )

      return RunExecutor.of({ quiesce, drain, work })
    })
  )
}
