import { DateTime, Deferred, Effect, Fiber, Option, Schema, type Scope } from "effect"
import { type JobOffer, longestReportedLine } from "../../schema/agent/AgentJob.ts"
import { ModuleRunner } from "../execution/ModuleRunner.ts"
import { type RunnerFailure, runnerFailure } from "../execution/RunnerFailure.ts"
import { type ResultUpload, storedResult } from "./ResultUpload.ts"
import { Guard } from "./guard/Guard.ts"
import { executeJob, type OpenedJob, sealedResult, untilDiskTakesIt } from "./JobExecution.ts"
import { acceptOffer, type OfferAcceptance } from "./OfferAcceptance.ts"
import type { Lease } from "./LeaseClock.ts"
import { deliver, endedBy, handIn, sendReports, sendState } from "./RunDelivery.ts"
import type { RunHandle } from "./RunHandle.ts"
import { ServerConnection } from "./ServerConnection.ts"
import { type StateUploads, uploadStates } from "./StateUploads.ts"
import { closed, longestEventText, ReportedFact } from "../../schema/events/RunEvent.ts"
import type { RunSink } from "../execution/RunSink.ts"
import type { Spool } from "./Spool.ts"

const decodeFact = Schema.decodeUnknownEffect(ReportedFact, closed)
const now = Effect.map(DateTime.now, DateTime.formatIso)

const cut = (data: object) =>
  Object.fromEntries(
    Object.entries(data).map(([name, value]) => [
      name,
      typeof value === "string" ? value.slice(0, longestEventText) : value
    ])
  )

/**
 * Creates the sink for a Run on an agent. Each call returns once its entry is in the spool. Entries are already redacted.
 */
const spoolSink = (spool: Spool, uploads: StateUploads): RunSink => ({
  event: (kind, data) =>
    Effect.all({ at: now, fact: Effect.orDie(decodeFact({ kind, data: cut(data) })) }).pipe(
      Effect.flatMap(({ at, fact }) => spool.append({ kind: "event", at, fact }))
    ),
  log: (phase, stream, text) =>
    Effect.flatMap(now, (at) =>
      spool.append({ kind: "line", at, phase, stream, text: text.slice(0, longestReportedLine) })
    ),
  checkpoint: uploads.offer
})

const betweenLooks = "500 millis"
const millisecondsInSecond = 1000

/**
 * Interrupts the tool of an apply early enough for it to save its state. A plan has no state to save, so the guard just kills its
 * tool.
 */
const stopInTime = (lease: Lease, handle: RunHandle) =>
  Effect.sleep(betweenLooks).pipe(
    Effect.andThen(
      Effect.suspend(() =>
        lease.secondsUntilInterrupt() > 0 ? Effect.void : Effect.asVoid(Deferred.succeed(handle.cancelled, undefined))
      )
    ),
    Effect.forever
  )

/**
 * Records the start of an apply durably before the tool runs, both on the server and in the Run's record on this disk. Once
 * the start is permitted, the run folder also contains a durable record of the permission.
 */
const recordStart = (lease: Lease, handle: RunHandle, accepted: Effect.Effect<void>) =>
  Effect.gen(function* () {
    const line = yield* ServerConnection
    const notRecorded = (message: string): RunnerFailure => runnerFailure("prepare_failed", "prepare", message)
    yield* accepted
    handle.stage = "started"
    const started = line.start(handle.room.claim).pipe(
      // Show the server's message: the Run belongs to another agent, or its tool must not start.
      Effect.mapError(({ message }) => notRecorded(message)),
      Effect.timeoutOrElse({
        duration: Math.max(0, lease.secondsUntilInterrupt()) * millisecondsInSecond,
        orElse: () => Effect.fail(notRecorded("The server could not record the start of the apply in time."))
      })
    )
    const kept = handle.room.keep.pipe(
      Effect.mapError(({ message }) => notRecorded(`The start of the apply could not be recorded. ${message}`)),
      // Uninterruptible, because finishing the Run writes to the same file and removes its folder.
      Effect.uninterruptible
    )
    yield* Effect.all([started, kept], { concurrency: "unbounded", discard: true })
    // Check the lease again, because the machine may have been suspended since the message was sent.
    if (lease.secondsUntilInterrupt() <= 0) {
      return yield* notRecorded("The lease of this Run ended before its tool could be started.")
    }
  })

/** Executes an offered Run under the offer's lease. */
const execution = Effect.fnUntraced(function* (
  handle: RunHandle,
  lease: Lease,
  offer: JobOffer,
  opened: OpenedJob,
  { accepted, mayStart }: Pick<OfferAcceptance, "accepted" | "mayStart">
): Effect.fn.Return<
  ResultUpload,
  unknown,
  ServerConnection | Scope.Scope | Effect.Services<ReturnType<typeof executeJob>>
> {
  const { room } = handle
  const context = yield* Effect.context<Effect.Services<ReturnType<typeof sendState>> | ServerConnection>()
  const uploads = yield* uploadStates((state) =>
    sendState(room, state).pipe(
      Effect.catch((problem) => Effect.logWarning("A state is not sent any more.", problem)),
      Effect.provideContext(context)
    )
  )
  const sink = spoolSink(handle.spool, {
    ...uploads,
    offer: (state) => {
      handle.newestSerial = state.serial
      return uploads.offer(state)
    }
  })
  if (offer.kind === "apply") yield* Effect.forkScoped(Effect.andThen(accepted, stopInTime(lease, handle)))
  const control = {
    runFolder: room.runFolder,
    cancelRequested: Deferred.await(handle.cancelled),
    sink,
    mayStart,
    ...(offer.kind === "apply"
      ? { recordStart: Effect.provideContext(recordStart(lease, handle, accepted), context) }
      : {})
  }
  return yield* executeJob(room, offer, opened, control, { accepted, leaseWasOver: lease.wasOver })
})

const removed = Effect.fnUntraced(function* ({ room }: RunHandle) {
  const runner = yield* ModuleRunner
  yield* untilDiskTakesIt(Effect.andThen(runner.discard(room.runFolder), room.remove))
})

/**
 * Handles the server's report that the Run no longer belongs to this agent. Interrupts a tool that may be changing
 * something, so that the tool can save its state. The tool is killed at the latest when its lease ends.
 */
const endedAndStopped = Effect.fnUntraced(function* (handle: RunHandle) {
  const end = yield* endedBy(handle)
  if (end !== "hand_in" || handle.lease === undefined || handle.stage !== "started") return end
  yield* Deferred.succeed(handle.cancelled, undefined)
  const seconds = Math.max(0, handle.lease.secondsUntilKill())
  yield* Effect.timeoutOption(Deferred.await(handle.stopped), seconds * millisecondsInSecond)
  return end
})

/** Submits the evidence. If the server does not accept the evidence, keeps the local copy, because no other copy exists. */
const handedIn = (handle: RunHandle) =>
  handIn(handle).pipe(
    Effect.tapError(() =>
      Effect.logError(
        `What the Run ${handle.room.claim.runId} left is not taken by the server. It stays in the folder ${handle.room.runFolder}.`
      )
    )
  )

/** Runs `work` until the Run no longer belongs to this agent. Then submits the remaining evidence, or removes it. */
const whileOwn = <E, R>(handle: RunHandle, work: Effect.Effect<void, E, R>) =>
  Effect.raceFirst(
    work.pipe(
      Effect.as("delivered" as const),
      Effect.catchIf(
        (problem) => typeof problem === "object" && problem !== null && "_tag" in problem && problem._tag === "Gone",
        () => endedBy(handle)
      )
    ),
    endedAndStopped(handle)
  ).pipe(
    Effect.flatMap((end) => (end === "hand_in" && handle.room.kind === "apply" ? handedIn(handle) : Effect.void)),
    Effect.andThen(removed(handle))
  )

/** Time to wait for the response before writing a result to disk. Most responses arrive earlier. */
const keptAfter = "20 millis"

/**
 * Sends a result. Writes it to disk only if the response does not arrive immediately, because the connection may be down;
 * data that the server already has need not be kept. An apply's state stays in the run folder until the server has the
 * result.
 */
const ended = Effect.fnUntraced(function* (handle: RunHandle, fresh: ResultUpload) {
  const { room, spool } = handle
  handle.stage = "ended"
  const kept = Effect.all([fresh.kept, Effect.flatMap(spool.last, spool.flushed)], { concurrency: "unbounded" }).pipe(
    Effect.andThen(room.end(fresh.result)),
    // Uninterruptible, because the folder must not be removed during a write to it.
    Effect.uninterruptible
  )
  const keeping = yield* Effect.forkChild(Effect.andThen(Effect.sleep(keptAfter), untilDiskTakesIt(kept)))
  yield* Effect.ensuring(deliver(handle, fresh), Fiber.interrupt(keeping))
})

/** Handles a Run from its offer to the acknowledgement of its result. */
export const runOffer = Effect.fn("AgentRun.offer")(
  (handle: RunHandle, lease: Lease, offer: JobOffer, opened: OpenedJob) =>
    whileOwn(
      handle,
      Effect.gen(function* () {
        const scope = yield* Effect.scope
        const guard = yield* Guard
        const { begun, ...moments } = yield* acceptOffer(handle, lease, offer.leaseSeconds)
        const result = yield* Effect.raceFirst(
          Effect.ensuring(
            Effect.scoped(execution(handle, lease, offer, opened, moments)),
            Deferred.succeed(handle.stopped, undefined)
          ),
          Effect.andThen(
            begun,
            // Do not let a refused report kill an apply's tool. The server's instruction follows; without one, the tool
            // stops when its lease ends.
            Effect.catchTag(sendReports(handle, scope), "Gone", (gone) =>
              offer.kind === "apply" ? Effect.never : Effect.fail(gone)
            )
          )
        )
        // Wait for the acceptance, because preparation may fail before the Run is accepted.
        yield* begun
        yield* guard.release(handle.room.runFolder)
        yield* ended(handle, result)
      }).pipe(Effect.scoped)
    )
)

/** Handles a Run that a previous process left unfinished, after the server has decided who owns the Run. */
export const runLeft = Effect.fn("AgentRun.left")((handle: RunHandle) =>
  whileOwn(
    handle,
    Effect.gen(function* () {
      const runner = yield* ModuleRunner
      yield* Deferred.await(handle.confirmed)
      const { found, kind, runFolder } = handle.room
      if (found.stage === "ended") return yield* deliver(handle, storedResult(found.result))
      const left =
        kind === "apply"
          ? { kind, status: "left" as const, left: Option.getOrNull(yield* runner.recover(runFolder)) }
          : { kind, status: "left" as const }
      yield* ended(handle, yield* untilDiskTakesIt(sealedResult(handle.room, left)))
    })
  )
)
