import { randomBytes } from "node:crypto"
import { Cause, Context, Duration, Effect, type FileSystem, Layer } from "effect"
import type { AgentFacts } from "../../schema/agent/AgentIdentity.ts"
import { acceptWithinSeconds, type JobOffer } from "../../schema/agent/AgentJob.ts"
import { AgentFolder } from "../../runner/agent/AgentFolder.ts"
import type { AgentParty } from "../../runner/agent/AgentParty.ts"
import { runLeft, runOffer } from "../../runner/agent/AgentRun.ts"
import type { Guard } from "../../runner/agent/guard/Guard.ts"
import { OfferUnusable, openedJob } from "../../runner/agent/JobExecution.ts"
import type { JobFiles } from "../../runner/agent/JobFiles.ts"
import { machineClocks, makeLease, type Moment, momentOf } from "../../runner/agent/LeaseClock.ts"
import { makeRoom } from "../../runner/agent/AgentRunFolder.ts"
import type { ServerConnection } from "../../runner/agent/ServerConnection.ts"
import type { BuildStore } from "../../runner/execution/BuildStore.ts"
import { ModuleRunner } from "../../runner/execution/ModuleRunner.ts"
import { RunPlace } from "../../runner/execution/RunPlace.ts"
import { AgentRuns } from "./AgentRuns.ts"
import { AgentSession } from "./AgentSession.ts"
import { RetryUntilAnswered } from "./RetryUntilAnswered.ts"
import { MachineFacts } from "./MachineFacts.ts"

const longestPoll = Duration.seconds(40)
const longestRenewal = Duration.seconds(10)
const longestDecline = Duration.seconds(30)
/**
 * Maximum time to spend on reporting that the agent is exiting. If the server cannot be reached, it detects the agent's
 * absence later.
 */
const longestFarewell = Duration.seconds(3)
const betweenLooks = Duration.millis(500)
const longestReason = 500

type Services =
  | AgentParty
  | ServerConnection
  | ModuleRunner
  | RunPlace
  | JobFiles
  | BuildStore
  | Guard
  | FileSystem.FileSystem

/** Checks that this machine can execute the job. If it cannot, the waiting Run shows people which requirement is missing. */
const requireAbility = Effect.fnUntraced(function* (offer: JobOffer, disk: AgentFacts["disk"]) {
  // Check the disk again, because it may have filled up since the agent requested the job.
  if (disk.low) return yield* new OfferUnusable({ message: "Its disk is nearly full." })
  const opened = yield* openedJob(offer)
  const place = yield* RunPlace
  const runner = yield* ModuleRunner
  const unusable = ({ message }: { readonly message: string }) => new OfferUnusable({ message })
  yield* place.tool(opened.job.tool).pipe(Effect.mapError(unusable))
  for (const { provided } of opened.job.credentials) {
    if (provided !== undefined) yield* place.provided(provided).pipe(Effect.mapError(unusable))
  }
  yield* runner.confinement(opened.job.demands).pipe(Effect.mapError(unusable))
  return opened
})

/**
 * The agent's work, as effects that run until they are interrupted.
 *
 * - `adopt`: takes over the Runs of earlier processes; called before the first session, so that the session reports these
 *   Runs
 * - `takeJobs`: polls while a slot is free - `renew`: renews leases and the session - `over`: completes when no Run is held
 *   - `leave`: reports to the server that this process is exiting; called last
 */
export class AgentWork extends Context.Service<
  AgentWork,
  {
    readonly adopt: Effect.Effect<void>
    readonly takeJobs: Effect.Effect<void>
    readonly renew: Effect.Effect<void>
    readonly over: Effect.Effect<void>
    readonly leave: Effect.Effect<void>
  }
>()("svc/src/agent/AgentWork") {
  static readonly layer = (places: number) =>
    Layer.effect(
      AgentWork,
      Effect.gen(function* () {
        const context = yield* Effect.context<Services>()
        const runs = yield* AgentRuns
        const folder = yield* AgentFolder
        const session = yield* AgentSession
        const machine = yield* MachineFacts
        const { session: currentSession, unansweredSeconds, until } = yield* RetryUntilAnswered
        const { calls } = session

        /**
         * Logs an unexpected failure. Each Run handles its expected failures itself, so this failure is a bug. Keeps the
         * Run's folder.
         */
        const worked = (runId: string) => (work: Effect.Effect<void, unknown, Services>) =>
          work.pipe(
            Effect.provideContext(context),
            Effect.catchCause((cause) =>
              Cause.hasInterruptsOnly(cause) ? Effect.void : Effect.logError(`The work on ${runId} ended`, cause)
            )
          )

        const adopt = runs.adopt((handle) => runLeft(handle).pipe(worked(handle.room.claim.runId)))

        const takeOffer = Effect.fnUntraced(function* (offer: JobOffer, sent: Moment) {
          if (runs.holds(offer)) return
          const { fence, runId } = offer
          const opened = yield* Effect.result(
            Effect.provideContext(requireAbility(offer, yield* machine.disk), context)
          )
          if (opened._tag === "Failure") {
            const reason = opened.failure.message.slice(0, longestReason)
            yield* Effect.logWarning(`The Run ${runId} is declined. ${reason}`)
            const declined = Effect.timeout(calls.Decline({ runId, fence, reason }), longestDecline)
            return yield* Effect.ignore(until(declined))
          }
          const job = opened.success
          // Use the lease of the offer until the agent has confirmed the offer, because only then does the server grant the
          // lease of the Run.
          const lease = makeLease(machineClocks, sent, Math.min(offer.leaseSeconds, acceptWithinSeconds))
          const opening = Effect.map(makeRoom(folder.runs, { runId, fence }, offer.kind), (room) =>
            room === undefined ? undefined : { room, lease, stage: "accepted" as const }
          )
          yield* runs
            .add(opening, (handle) => runOffer(handle, lease, offer, job).pipe(worked(runId)))
            .pipe(Effect.catchCause((cause) => Effect.logError(`The Run ${runId} cannot be accepted.`, cause)))
        })

        /**
         * Requests one offer. Repeats the request with the same claim until there is a response, so that the server can
         * resend a lost offer.
         */
        const poll = Effect.gen(function* () {
          const claim = randomBytes(16).toString("hex")
          // Count from the first request, because resending an offer does not extend the time after which the server offers
          // the Run to another agent.
          const sent = momentOf(machineClocks)
          const answer = yield* until(
            Effect.suspend(() =>
              Effect.timeout(calls.Next({ claim, freePlaces: places - runs.working() }), longestPoll)
            )
          )
          if (answer.drain) yield* machine.drain
          if (answer.offer !== undefined) yield* takeOffer(answer.offer, sent)
        })

        const takeJobs: Effect.Effect<void> = Effect.gen(function* () {
          let told = false
          while (!machine.isDraining()) {
            const { low } = yield* machine.disk
            if (low && !told) yield* Effect.logWarning("The disk of this agent is nearly full: it takes no new Run.")
            told = low
            if (low || runs.working() >= places) yield* Effect.sleep(betweenLooks)
            else yield* Effect.ignore(poll)
          }
        })

        const renewal = Effect.gen(function* () {
          yield* currentSession
          const sent = momentOf(machineClocks)
          const disk = yield* machine.disk
          const answer = yield* Effect.timeout(
            calls.Renew({
              held: runs.all().map(({ newestSerial, room, spool }) => ({
                ...room.claim,
                spoolBytes: spool.bytes(),
                ...(newestSerial === undefined ? {} : { newestSerial })
              })),
              disk,
              draining: machine.isDraining(),
              unansweredSeconds: Math.floor(unansweredSeconds())
            }),
            longestRenewal
          )
          for (const lease of answer.leases) yield* runs.confirm(lease, sent)
          for (const order of answer.gone) yield* runs.end(order)
          if (answer.drain) yield* machine.drain
        })

        const renew = currentSession.pipe(
          Effect.andThen(Effect.suspend(() => Effect.sleep(Duration.seconds(session.renewSeconds())))),
          Effect.andThen(until(renewal)),
          Effect.ignore,
          Effect.forever
        )

        const over = Effect.sleep(betweenLooks).pipe(
          Effect.repeat({ until: () => machine.isDraining() && runs.all().length === 0 }),
          Effect.asVoid
        )

        const leave = Effect.gen(function* () {
          if (session.generation() === 0) return
          yield* calls.Renew({ held: [], disk: yield* machine.disk, draining: true, leaving: true })
        }).pipe(Effect.timeout(longestFarewell), Effect.ignoreCause)

        return AgentWork.of({ adopt, takeJobs, renew, over, leave })
      })
    )
}
