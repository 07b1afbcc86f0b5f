import {
  Cause,
  Context,
  Deferred,
  Duration,
  Effect,
  FiberMap,
  Layer,
  Option,
  Queue,
  Redacted,
  Result,
  Schedule
} from "effect"
import { SqlClient } from "effect/sql"
import { type JobOffer, offerText, type RunClaim } from "../../../schema/agent/AgentJob.ts"
import type { Gone } from "../../../schema/agent/AgentRefusal.ts"
import type { RunId } from "../../../schema/records/Ids.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { ApplyStart } from "../execution/ApplyStart.ts"
import { databaseLost, startsAgain } from "../execution/LostDatabase.ts"
import { measureWait } from "../execution/RunMetrics.ts"
import { ModuleSteps } from "../execution/ModuleSteps.ts"
import type { RunBlocked } from "../execution/RunSteps.ts"
import { now } from "../../base/Identity.ts"
import { monotonicNow, seconds } from "../../base/MonotonicNow.ts"
import { Nodes } from "../../base/node/Nodes.ts"
import { lackOf } from "../agent-pool/AgentFit.ts"
import { AgentNeeds } from "../agent-pool/AgentNeeds.ts"
import { DeclinedRuns } from "../agent-pool/DeclinedRuns.ts"
import type { AgentSession } from "../agent-pool/AgentSessions.ts"
import { PoolRow } from "../agent-pool/PoolRows.ts"
import { type OwnKeys, sealingKey, ServerKeys } from "../agent-pool/ServerKeys.ts"
import { currentAgent } from "../agent-pool/CurrentAgent.ts"
import { RunQueue } from "../queue/RunQueue.ts"
import { type HoldLost, holdOf, type RunHold } from "../../ledger/run/RunHold.ts"
import { RunLedger } from "../../ledger/run/RunLedger.ts"
import type { RunRow } from "../../ledger/run/RunRow.ts"
import { AgentClaims, gone, orGone, refusedStart } from "./AgentClaims.ts"
import { AgentControls } from "./AgentControls.ts"
import { AgentLeases } from "./AgentLeases.ts"
import type { AgentRunRow } from "./AgentRunRow.ts"
import { blobsOf, digestOf, encodedJob, kindOf, type PreparedJob, toAgent } from "./JobSecrets.ts"
import { sealFor } from "../../../runner/agent/SealedMessage.ts"
import { inlineFilesCapability } from "../../../schema/agent/InlineFile.ts"
import { inlineFiles, type SmallFile, smallFiles } from "./InlineFiles.ts"

/** A job that is waiting for its agent. It contains only the digests of large states and plan files, to save memory. */
interface OfferedJob {
  readonly text: Redacted.Redacted
  readonly blobs: ReturnType<typeof blobsOf>
  readonly small: ReadonlyArray<SmallFile>
}

const offeredJob = Effect.fnUntraced(function* (prepared: PreparedJob): Effect.fn.Return<OfferedJob> {
  return {
    text: Redacted.make(yield* encodedJob(prepared)),
    blobs: blobsOf(prepared),
    small: yield* smallFiles(prepared)
  }
})

/** Seals a job for the requesting agent and signs it. */
const sealedOffer = Effect.fnUntraced(function* (
  { installationId, sign }: OwnKeys,
  { agent, facts }: AgentSession,
  row: AgentRunRow,
  job: OfferedJob
) {
  const names = { installationId, agentId: agent.id }
  const claim = { runId: row.run_id, fence: row.fence }
  const key = yield* sealingKey(agent.seal_key)
  const purpose = toAgent(names, claim, "job")
  const text = new TextEncoder().encode(Redacted.value(job.text))
  const small = facts.capabilities.includes(inlineFilesCapability) ? job.small : []
  const { files, sealedJob } = yield* Effect.all(
    { sealedJob: sealFor(key, purpose, text), files: inlineFiles(key, names, claim, small) },
    { concurrency: "unbounded" }
  )
  const offer = { ...claim, kind: row.kind, leaseSeconds: row.lease_seconds, ...job.blobs }
  const signature = yield* sign(offerText(purpose, offer, digestOf(new TextEncoder().encode(sealedJob))))
  return { ...offer, sealedJob, signature, ...(files.length === 0 ? {} : { files }) }
})

type Claim = typeof RunClaim.Type
type Offer = typeof JobOffer.Type

/** Maximum time, in seconds, that a request for an offer is held open. */
const pollSeconds = 25
/** Length, in seconds, of the lease of a plan or drift check. For applies, the pool determines the length. */
export const shortLeaseSeconds = 60
/**
 * Maximum number of unfinished Runs per agent, as a multiple of its slots. The agent's own count of free slots is not trusted,
 * because some results may still be in transit.
 */
const mostOfPlaces = 2
const isUnfinishedOf =
  ({ incarnation }: AgentSession) =>
  (row: Pick<AgentRunRow, "incarnation" | "result">): boolean =>
    row.incarnation === incarnation && row.result === null

/** Time between attempts to record the end of a claim. */
const recordAgain = Schedule.spaced("1 second")

/** A prepared job with its secrets, held in memory until the agent accepts the job. */
interface Waiting {
  readonly row: AgentRunRow
  readonly prepared: Deferred.Deferred<Option.Option<OfferedJob>>
}

/**
 * Offers a pool's Runs to its agents: claims one Run at a time, prepares it in the same way as a local Run, and seals the
 * job for the requesting agent.
 */
export class AgentOffers extends Context.Service<
  AgentOffers,
  {
    readonly next: (
      session: AgentSession,
      request: { readonly claim: string; readonly freePlaces: number }
    ) => Effect.Effect<Option.Option<Offer>>
    readonly accept: (session: AgentSession, claim: Claim) => Effect.Effect<void, Gone>
    readonly decline: (session: AgentSession, claim: Claim, reason: string) => Effect.Effect<void>
    readonly start: (session: AgentSession, claim: Claim) => Effect.Effect<void, Gone>
    /** Discards the prepared job of an offer that was not accepted. */
    readonly forget: (runId: RunId) => Effect.Effect<void>
    /** Returns true if the job may still be in preparation. Its claim then has no lease yet. */
    readonly isPreparing: (runId: RunId) => Effect.Effect<boolean>
  }
>()("svc/actors/running/agent/AgentOffers") {
  static readonly layer = Layer.effect(
    AgentOffers,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const queue = yield* RunQueue
      const ledger = yield* RunLedger
      const needs = yield* AgentNeeds
      const declines = yield* DeclinedRuns
      const claims = yield* AgentClaims
      const leases = yield* AgentLeases
      const node = yield* Nodes
      const controls = yield* AgentControls
      const steps = yield* ModuleSteps
      const starts = yield* ApplyStart
      const server = yield* ServerKeys
      const preparing = yield* FiberMap.make<RunId, void, never>()
      const waiting = new Map<RunId, Waiting>()
      let claiming = 0

      const standing = ({ agent }: AgentSession) => currentAgent(sql, agent)

      const fits = (session: AgentSession) =>
        Effect.fnUntraced(function* (runId: RunId) {
          if (!(yield* declines.mayBeOffered(session.agent.id, runId))) return false
          const need = yield* needs.of(runId)
          return Option.exists(
            need,
            (wanted) => lackOf({ ...session.facts, id: session.agent.id }, wanted) === undefined
          )
        })

      /** Claims the Run, and stores the id that the agent chose for the claim, in one transaction. */
      const claimFor = Effect.fn("AgentOffers.claim")(function* (session: AgentSession, claim: string) {
        const { agent, facts, incarnation } = session
        const present = yield* standing(session)
        if (present === undefined || present.drain_requested_at !== null) return undefined
        const run = yield* queue.claimOf(agent.pool, agent.id, fits(session))
        const kind = run === undefined ? Option.none() : kindOf(run.type)
        if (run === undefined || Option.isNone(kind)) return undefined
        const [pool] = yield* PoolRow.some(sql, "lease_seconds")`SELECT lease_seconds FROM agent_pools
          WHERE name = ${agent.pool}`
        const row = {
          run_id: run.id,
          fence: run.fence,
          agent_id: agent.id,
          claim,
          incarnation,
          kind: kind.value,
          platform: facts.platform,
          lease_seconds: kind.value === "apply" ? (pool?.lease_seconds ?? shortLeaseSeconds) : shortLeaseSeconds,
          offered_at: yield* now,
          node_id: node.name
        }
        yield* claims.insert(row)
        yield* sql.afterCommit(measureWait(run))
        const whole: AgentRunRow = {
          ...row,
          accepted_at: null,
          checkpoint_serial: null,
          result: null,
          result_at: null,
          ended_at: null,
          unanswered_since: null,
          heard: 0,
          newest_serial: null,
          closed_at: null
        }
        return { run, row: whole }
      }, transaction(sql))

      const jobOf = Effect.fnUntraced(function* (
        run: RunRow,
        row: AgentRunRow
      ): Effect.fn.Return<PreparedJob, RunBlocked | HoldLost> {
        const control = controls.quiet(run)
        switch (row.kind) {
          case "plan":
            return { kind: "plan", job: yield* steps.plan.prepare(run, control) }
          case "apply":
            return { kind: "apply", job: yield* steps.apply.prepare(run, control) }
          case "drift_check":
            return { kind: "drift_check", job: yield* steps.drift.prepare(run, control) }
        }
      })

      const refuse = Effect.fnUntraced(function* (run: RunRow, row: AgentRunRow, reason: RunBlocked) {
        yield* controls.logged(run, reason.message)
        const { refuse } = row.kind === "plan" ? steps.plan : row.kind === "apply" ? steps.apply : steps.drift
        yield* refuse(run, reason)
        yield* controls.endLog(holdOf(run))
      })

      const failure = { code: "internal_error", message: "The service failed while it prepared this Run." }

      /** Ends a claim and its Run if somebody requested a stop before the tool started. Returns `false` otherwise. */
      const stopped = Effect.fnUntraced(function* (hold: RunHold) {
        const isStopped = yield* Effect.gen(function* () {
          if (!(yield* controls.stopped(hold))) return false
          yield* claims.change(hold, { ended_at: yield* now })
          return true
        }).pipe(
          transaction(sql),
          Effect.catchTag("HoldLost", () => Effect.succeed(false))
        )
        if (isStopped) yield* over(hold)
        return isStopped
      })

      /** Discards a claim that ended before its tool started. */
      const over = Effect.fnUntraced(function* (hold: RunHold) {
        yield* controls.endLog(hold)
        waiting.delete(hold.runId)
        yield* leases.end(hold)
        yield* queue.wake
      })

      /** Prepares the job. Continues even if the agent's request is interrupted, so that a repeated request gets the result. */
      const prepare = Effect.fn("AgentOffers.prepare")(function* (run: RunRow, row: AgentRunRow, whole: Waiting) {
        const claim = { runId: run.id, fence: run.fence }
        const prepared = yield* Effect.result(Effect.flatMap(jobOf(run, row), offeredJob))
        if (Result.isSuccess(prepared)) {
          yield* leases.grant({
            ...claim,
            agentId: row.agent_id,
            kind: row.kind,
            leaseSeconds: row.lease_seconds,
            isAccepted: false
          })
          return yield* Deferred.succeed(whole.prepared, Option.some(prepared.success))
        }
        if (prepared.failure._tag === "RunBlocked") yield* Effect.ignore(refuse(run, row, prepared.failure))
        yield* claims.change(claim, { ended_at: yield* now })
        waiting.delete(run.id)
        yield* queue.wake
        return yield* Deferred.succeed(whole.prepared, Option.none())
      })

      /**
       * Ends a claim whose preparation failed. Repeats this until the database accepts it: while this server is running, nobody
       * else ends the claim. A new claim of the Run interrupts this fiber, so each single attempt is uninterruptible.
       */
      const unprepared = Effect.fnUntraced(function* (run: RunRow, cause: Cause.Cause<unknown>) {
        yield* Effect.logError("A Run could not be prepared for an agent", cause)
        const hold = holdOf(run)
        const end =
          node.isShared && startsAgain(run, cause)
            ? controls.requeue(hold, databaseLost, { counts: false })
            : controls.failed(run, failure)
        yield* Effect.gen(function* () {
          yield* transaction(sql)(Effect.andThen(Effect.ignore(end), claims.change(hold, { ended_at: yield* now })))
          yield* controls.endLog(hold)
          yield* queue.wake
        }).pipe(
          Effect.uninterruptible,
          Effect.tapCause((again) =>
            Cause.hasInterruptsOnly(again)
              ? Effect.void
              : Effect.logError(
                  "The end of a preparation could not be recorded. It is tried again; is the disk full?",
                  again
                )
          ),
          Effect.sandbox,
          Effect.retry({ schedule: recordAgain, while: (again) => !Cause.hasInterruptsOnly(again) }),
          Effect.ignore
        )
      })

      const begin = Effect.fnUntraced(function* ({ row, run }: { readonly run: RunRow; readonly row: AgentRunRow }) {
        const whole = { row, prepared: yield* Deferred.make<Option.Option<OfferedJob>>() }
        waiting.set(run.id, whole)
        yield* FiberMap.run(
          preparing,
          run.id,
          prepare(run, row, whole).pipe(
            Effect.asVoid,
            Effect.catchCauseIf(
              (cause) => !Cause.hasInterruptsOnly(cause),
              (cause) => unprepared(run, cause)
            ),
            // Marks the preparation as finished, whatever its outcome.
            Effect.ensuring(
              Effect.map(Deferred.succeed(whole.prepared, Option.none()), (wasOpen) => {
                if (wasOpen && waiting.get(run.id) === whole) waiting.delete(run.id)
              })
            ),
            Effect.annotateLogs({ runId: run.id })
          )
        )
        return whole
      })

      /**
       * Checks for a stop request that arrived during the preparation, so that no agent receives the secrets of a stopped Run.
       */
      const isWithdrawn = Effect.fnUntraced(
        function* (session: AgentSession, { fence, run_id: runId }: AgentRunRow) {
          const current = yield* claims.find(session, { runId, fence })
          if (Option.isNone(current) || current.value.accepted_at !== null) return false
          return yield* stopped({ runId, fence, owner: session.agent.id })
        },
        leases.decided,
        Effect.uninterruptible
      )

      const offered = Effect.fnUntraced(function* (session: AgentSession, { prepared, row }: Waiting) {
        const job = yield* Deferred.await(prepared)
        if (Option.isNone(job) || (yield* isWithdrawn(session, row))) return Option.none<Offer>()
        // The agent may have been revoked or have changed its keys during the preparation. It must not receive the secrets.
        if ((yield* standing(session)) === undefined) return Option.none<Offer>()
        return Option.some(yield* sealedOffer(yield* server.own, session, row, job.value))
      })

      /** Releases a Run whose job a previous process offered and lost. The Run returns to the queue with a new fence. */
      const released = (row: AgentRunRow) =>
        Effect.gen(function* () {
          const hold = { runId: row.run_id, fence: row.fence, owner: row.agent_id }
          const reason = "The service was restarted while the Run was offered."
          yield* Effect.ignore(controls.requeue(hold, reason, { counts: false }))
          yield* controls.endLog(hold)
          yield* claims.change(hold, { ended_at: yield* now })
          yield* leases.end(hold)
          yield* queue.wake
        }).pipe(leases.decided, Effect.uninterruptible)

      /** Cannot be interrupted between the claim and the preparation, so that every claimed Run is prepared. */
      const taken = (session: AgentSession, claim: string) =>
        Effect.suspend(() => {
          claiming += 1
          // Reads first without the write lock: most requests find nothing, and a transaction would wait for all writers.
          return Effect.flatMap(queue.isAnyClaimable(session.agent.pool), (isAny) =>
            isAny
              ? Effect.flatMap(claimFor(session, claim), (claimed) =>
                  claimed === undefined ? Effect.undefined : begin(claimed)
                )
              : Effect.undefined
          )
        }).pipe(Effect.ensuring(Effect.sync(() => void (claiming -= 1))), Effect.uninterruptible)

      const next = Effect.fn("AgentOffers.next")(function* (
        session: AgentSession,
        { claim, freePlaces }: { readonly claim: string; readonly freePlaces: number }
      ) {
        const open = yield* claims.open(session)
        const isBusy =
          freePlaces < 1 ||
          session.facts.draining ||
          session.agent.drain_requested_at !== null ||
          open.filter(isUnfinishedOf(session)).length >= mostOfPlaces * session.facts.places
        const wakes = yield* queue.listen
        for (const row of open) {
          if (row.claim !== claim || row.accepted_at !== null) continue
          const earlier = waiting.get(row.run_id)
          if (earlier !== undefined && earlier.row.fence === row.fence) return yield* offered(session, earlier)
          yield* released(row)
        }
        const until = (yield* monotonicNow) + seconds(pollSeconds)
        while (true) {
          const begun = isBusy ? undefined : yield* taken(session, claim)
          if (begun !== undefined) {
            const offer = yield* offered(session, begun)
            if (Option.isSome(offer)) return offer
            continue
          }
          const left = until - (yield* monotonicNow)
          if (left <= 0n || (yield* standing(session)) === undefined) return Option.none<Offer>()
          const wait = Duration.min(Duration.nanos(left), Duration.seconds(5))
          yield* Queue.take(wakes).pipe(Effect.timeoutOption(wait))
        }
      }, Effect.scoped)

      const accept = Effect.fn("AgentOffers.accept")(function* (session: AgentSession, claim: Claim) {
        const hold = { ...claim, owner: session.agent.id }
        const isHeld = yield* Effect.gen(function* () {
          const row = yield* claims.find(session, claim)
          const run = yield* ledger.held(hold)
          if (Option.isNone(row) || run === undefined || row.value.ended_at !== null) return false
          if (row.value.accepted_at !== null) return true
          if (run.cancel_requested_at !== null) return false
          yield* claims.change(claim, { accepted_at: yield* now })
          return true
        }).pipe(transaction(sql))
        if (!isHeld) {
          yield* stopped(hold)
          return yield* gone
        }
        yield* leases.accepted(claim)
        yield* declines.accepted(session.agent.id, claim.runId)
        waiting.delete(claim.runId)
      }, leases.decided)

      const decline = Effect.fn("AgentOffers.decline")(
        function* (session: AgentSession, claim: Claim, reason: string) {
          const row = yield* claims.find(session, claim)
          if (Option.isNone(row) || row.value.accepted_at !== null) return
          yield* declines.declined(session.agent.id, claim.runId)
          const hold = { ...claim, owner: session.agent.id }
          yield* Effect.gen(function* () {
            const said = `An agent of the pool ${session.agent.pool} declined the Run: ${reason}`
            yield* Effect.ignore(controls.requeue(hold, said, { counts: false }))
            yield* claims.change(claim, { ended_at: yield* now })
          }).pipe(transaction(sql))
          yield* controls.endLog(hold)
          waiting.delete(claim.runId)
          yield* leases.end(claim)
          yield* queue.wake
        },
        leases.decided,
        Effect.uninterruptible
      )

      const start = Effect.fn("AgentOffers.start")(function* (session: AgentSession, claim: Claim) {
        const { claim: row, hold } = yield* claims.held(session, claim)
        if (row.kind !== "apply") return
        const answer = yield* Effect.gen(function* () {
          const recorded = yield* starts.record(hold)
          if (recorded.kind === "refused" && (yield* ledger.held(hold)) === undefined) {
            yield* claims.change(claim, { ended_at: yield* now })
          }
          return recorded
        }).pipe(transaction(sql), orGone)
        if (answer.kind === "started") return
        const { message } = answer.reason
        yield* Effect.logInfo(`The start of the apply ${claim.runId} is refused. ${message}`)
        if ((yield* ledger.held(hold)) === undefined) yield* over(hold)
        return yield* refusedStart(message)
      }, leases.decided)

      return AgentOffers.of({
        next,
        accept,
        decline,
        start,
        forget: (runId) => Effect.sync(() => void waiting.delete(runId)),
        isPreparing: (runId) => Effect.sync(() => claiming > 0 || FiberMap.hasUnsafe(preparing, runId))
      })
    })
  )
}
