import { Clock, Context, Effect, Layer, Option, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import type { RunClaim } from "../../../schema/agent/AgentJob.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { ApplyRecovery } from "../execution/ApplyRecovery.ts"
import { now } from "../../base/Identity.ts"
import { monotonicNow } from "../../base/MonotonicNow.ts"
import { AgentPresence } from "../agent-pool/AgentPresence.ts"
import type { AgentSession } from "../agent-pool/AgentSessions.ts"
import { RunQueue } from "../queue/RunQueue.ts"
import type { HoldLost, RunHold } from "../../ledger/run/RunHold.ts"
import { RunJournal } from "../../ledger/run/RunJournal.ts"
import { RunLedger } from "../../ledger/run/RunLedger.ts"
import type { RunError } from "../../ledger/run/RunLifecycle.ts"
import type { RunRow } from "../../ledger/run/RunRow.ts"
import { AgentBlobs } from "./AgentBlobs.ts"
import { AgentClaims } from "./AgentClaims.ts"
import { AgentControls } from "./AgentControls.ts"
import { AgentLeases, type Lease } from "./AgentLeases.ts"
import { AgentOffers } from "./AgentOffers.ts"
import { AgentRunRow } from "./AgentRunRow.ts"
import { verdictOn } from "./LeaseVerdict.ts"

const lost = (agentId: string) => ({
  code: "agent_lost",
  message: `The agent ${agentId} sent nothing until its lease expired. svc imported the state that the agent had saved. Check which resources may exist, then plan again. svc keeps the agent's later reports with the Run.`
})

/** The error if a person tries to release a Run before the agent's lease has expired. */
const released = (agentId: string) => ({
  code: "agent_lost",
  message: `The Capsule was released from the agent ${agentId} before its lease expired, by a person who confirmed that its tool is dead. svc imported the state that the agent had saved. Check which resources may exist, then plan again. svc keeps the agent's later reports with the Run.`
})

const untouched = (agentId: string) => ({
  code: "agent_lost",
  message: `The agent ${agentId} was lost before the tool was started; nothing was changed. Start it again.`
})

/**
 * Error if the second agent that executed a Run is lost. svc does not try the Run a third time, even if the Run changes
 * nothing.
 */
const lostAgain = (agentId: string) => ({
  code: "agent_lost",
  message: `The agent ${agentId} was lost too, and the Run is not started a third time; nothing was changed. Start it again.`
})

const silent = (agentId: string) => `The agent ${agentId} was not heard of for a minute.`
const died = (agentId: string) => `The agent ${agentId} ended while it worked on the Run.`
const takenAway = (agentId: string) => `The Run was released from the agent ${agentId}.`

/** Monitors the leases of agents: marks silent agents as unreachable, and settles the Runs of agents that remain silent. */
export class AgentMonitor extends Context.Service<
  AgentMonitor,
  {
    /** Checks all leases once. */
    readonly look: Effect.Effect<void>
    /** Gives a full new lease to every claim from an earlier process. */
    readonly resume: Effect.Effect<void>
    readonly work: Effect.Effect<never>
    /**
     * Called when the agent process that executed a plan or drift check has died. The Run changed nothing, so it is requeued
     * immediately.
     */
    readonly abandoned: (session: AgentSession, claim: typeof RunClaim.Type) => Effect.Effect<void>
    /**
     * Settles an agent's Run as if its lease had expired. Returns `false` if no agent holds the Run. First calls `permitted` with
     * the lease; if `permitted` fails, nothing is settled.
     */
    readonly release: <E = never>(
      runId: RunRow["id"],
      permitted?: (lease: Lease) => Effect.Effect<void, E>
    ) => Effect.Effect<boolean, E>
  }
>()("svc/actors/running/agent/AgentMonitor") {
  static readonly layer = Layer.effect(
    AgentMonitor,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const leases = yield* AgentLeases
      const claims = yield* AgentClaims
      const offers = yield* AgentOffers
      const blobs = yield* AgentBlobs
      const controls = yield* AgentControls
      const ledger = yield* RunLedger
      const journal = yield* RunJournal
      const applies = yield* ApplyRecovery
      const queue = yield* RunQueue
      const presence = yield* AgentPresence

      /** Ends the claim. Keeps the files of an apply as evidence, because the Run was settled without them. */
      const over = Effect.fnUntraced(function* (hold: RunHold, kind: Lease["kind"]) {
        yield* controls.endLog(hold)
        yield* leases.end(hold)
        yield* claims.change(hold, { ended_at: yield* now })
        if (kind !== "apply") yield* blobs.removeAll(hold)
        yield* queue.wake
      })

      const offerAgain = Effect.fnUntraced(function* (hold: RunHold, kind: Lease["kind"]) {
        yield* offers.forget(hold.runId)
        const reason = "The agent did not accept the Run in time."
        yield* controls.requeue(hold, reason, { counts: false })
        yield* over(hold, kind)
      })

      const again = Effect.fnUntraced(function* (
        hold: RunHold,
        run: RunRow,
        kind: Lease["kind"],
        reason: (agentId: string) => string
      ) {
        yield* controls.again(run, reason(hold.owner), (kind === "apply" ? untouched : lostAgain)(hold.owner))
        yield* over(hold, kind)
      })

      const giveUpApply = Effect.fnUntraced(function* (hold: RunHold, run: RunRow, interrupted: RunError) {
        yield* applies.settle(run, { kind: "nothing" }, { untouched: untouched(hold.owner), interrupted })
        yield* over(hold, "apply")
      })

      const mark = Effect.fnUntraced(function* (hold: RunHold, lease: Lease) {
        const silentMillis = Number(((yield* monotonicNow) - lease.heardAt) / 1_000_000n)
        const since = new Date((yield* Clock.currentTimeMillis) - silentMillis).toISOString()
        yield* Effect.andThen(
          ledger.record(hold, { agent_unreachable_since: since }),
          journal.report(hold, "agent.unreachable", { agentId: hold.owner, since })
        ).pipe(transaction(sql))
        yield* leases.unreachable(hold)
        yield* Effect.logWarning(`The agent ${lease.agentId} is unreachable; it executes the Run ${lease.runId}`)
      })

      const hasResult = Effect.fnUntraced(function* ({ fence, owner, runId }: RunHold) {
        const [row] = yield* Effect.orDie(
          AgentRunRow.some(sql, "result")`SELECT result FROM agent_runs
            WHERE run_id = ${runId} AND fence = ${fence} AND agent_id = ${owner}`
        )
        return row !== undefined && row.result !== null
      })

      const act = Effect.fnUntraced(function* (lease: Lease): Effect.fn.Return<void, HoldLost> {
        // Reads the lease again: the agent may have contacted the server since the check above, and sent a result.
        const current = yield* leases.of(lease)
        if (current === undefined) return
        const verdict = verdictOn(current, yield* monotonicNow)
        if (verdict === "nothing") return
        const hold = { runId: lease.runId, fence: lease.fence, owner: lease.agentId }
        // In this case, the Run is already being settled.
        if (yield* hasResult(hold)) return yield* leases.end(hold)
        const run = yield* ledger.held(hold)
        if (run === undefined) return yield* over(hold, current.kind)
        const isStarted = run.start_acknowledged_at !== null
        if (verdict === "unreachable") return yield* mark(hold, current)
        if (verdict === "give_up_unstarted" && isStarted) {
          return current.isUnreachable ? undefined : yield* mark(hold, current)
        }
        // From now on, every server rejects messages about the claim.
        if (!(yield* leases.close(current))) return
        switch (verdict) {
          case "offer_again":
            return yield* offerAgain(hold, current.kind)
          case "give_up_unstarted":
            return yield* again(hold, run, current.kind, silent)
          case "give_up":
            return current.kind === "apply" && isStarted
              ? yield* giveUpApply(hold, run, lost(hold.owner))
              : yield* again(hold, run, current.kind, silent)
        }
      })

      const leaseOf = (row: AgentRunRow) => ({
        runId: row.run_id,
        fence: row.fence,
        agentId: row.agent_id,
        kind: row.kind,
        leaseSeconds: row.lease_seconds,
        isAccepted: row.accepted_at !== null
      })

      /**
       * Adds leases for claims that have none. Otherwise a claim whose preparation was interrupted would never be given up.
       */
      const adopt = Effect.gen(function* () {
        const open = yield* Effect.orDie(
          AgentRunRow.rows(sql)`SELECT * FROM agent_runs WHERE ended_at IS NULL AND result IS NULL`
        )
        for (const row of open) {
          if (yield* offers.isPreparing(row.run_id)) continue
          const all = yield* leases.all
          if (all.some(({ fence, runId }) => runId === row.run_id && fence === row.fence)) continue
          yield* leases.grant(leaseOf(row))
        }
      }).pipe(leases.decided)

      const look = Effect.gen(function* () {
        // Claims of an earlier process got their leases at startup, so only an agent that has contacted this process can have
        // claims without a lease.
        if (!leases.isShared && (yield* presence.wasAnyHeard)) yield* adopt
        const all = yield* leases.all
        if (all.length === 0) return
        const at = yield* monotonicNow
        for (const lease of all) {
          if (verdictOn(lease, at) === "nothing") continue
          yield* act(lease).pipe(
            leases.decided,
            Effect.catchTag("HoldLost", () => leases.end(lease)),
            Effect.catchCause((cause) =>
              Effect.logError("A lost agent's Run could not be settled. It is tried again.", cause)
            ),
            Effect.annotateLogs({ runId: lease.runId })
          )
        }
      }).pipe(Effect.withSpan("AgentMonitor.look"))

      const release = Effect.fn("AgentMonitor.release")(function* <E>(
        runId: RunRow["id"],
        permitted?: (lease: Lease) => Effect.Effect<void, E>
      ) {
        const claim = (yield* leases.all).find((one) => one.runId === runId)
        const lease = claim === undefined ? undefined : yield* leases.shown(claim)
        if (lease === undefined) return false
        const hold = { runId, fence: lease.fence, owner: lease.agentId }
        const run = yield* ledger.held(hold)
        if (run === undefined) return false
        if (permitted !== undefined) yield* permitted(lease)
        if (yield* hasResult(hold)) {
          yield* leases.end(hold)
          return true
        }
        if (!(yield* leases.close(lease))) return false
        yield* Effect.catchTag(
          run.start_acknowledged_at !== null
            ? giveUpApply(hold, run, released(hold.owner))
            : again(hold, run, lease.kind, takenAway),
          "HoldLost",
          () => Effect.void
        )
        return true
      }, leases.decided)

      const abandoned = Effect.fn("AgentMonitor.abandoned")(function* (
        session: AgentSession,
        claim: typeof RunClaim.Type
      ) {
        const row = yield* claims.find(session, claim)
        const hold = { ...claim, owner: session.agent.id }
        const run = yield* ledger.held(hold)
        if (run === undefined || Option.isNone(row) || row.value.kind === "apply" || row.value.result !== null) return
        yield* Effect.ignore(again(hold, run, row.value.kind, died))
      }, leases.decided)

      const resume = Effect.gen(function* () {
        const open = yield* Effect.orDie(
          AgentRunRow.rows(sql)`SELECT * FROM agent_runs WHERE ended_at IS NULL ORDER BY run_id, fence`
        )
        const kept: Array<typeof RunClaim.Type> = []
        for (const row of open) {
          const claim = { runId: row.run_id, fence: row.fence }
          const hold = { ...claim, owner: row.agent_id }
          kept.push(claim)
          if (row.result !== null) continue
          const run = yield* ledger.held(hold)
          if (run === undefined) {
            yield* controls.endLog(hold)
            yield* claims.change(claim, { ended_at: yield* now })
            continue
          }
          yield* leases.grant(leaseOf(row), true)
          // The agent was unreachable before the restart, and remains so until its next contact.
          if (run.agent_unreachable_since !== null) yield* leases.unreachable(claim)
        }
        // Keeps the files of an apply until its Run has been settled from them.
        const applies = yield* Effect.orDie(
          AgentRunRow.some(sql, "run_id", "fence")`SELECT run_id, fence FROM agent_runs WHERE kind = 'apply'`
        )
        yield* blobs.sweep([...kept, ...applies.map(({ fence, run_id }) => ({ runId: run_id, fence }))])
      }).pipe(Effect.withSpan("AgentMonitor.resume"))

      return AgentMonitor.of({
        look,
        resume,
        work: Effect.andThen(Effect.repeat(look, Schedule.spaced("1 second")), Effect.never),
        release,
        abandoned
      })
    })
  )
}
