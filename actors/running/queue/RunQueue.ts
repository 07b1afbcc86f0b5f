import { Context, Effect, Layer, Queue, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import { onRemoteChange } from "../../base/database/RemoteChanges.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { SharedDatabase } from "../../base/node/Nodes.ts"
import { preempt } from "../../ledger/run/RunCancels.ts"
import { isAgentSlotPool, slotPoolOf } from "../../ledger/run/RunLedger.ts"
import {
  decide,
  type Place,
  type QueuedRun,
  type QueueLimits,
  type RunningRun,
  runsToPreempt
} from "./QueueDecision.ts"
import { checkToPreempt } from "../agent-pool/AgentPlaces.ts"
import { EarlierLeases } from "../agent-pool/EarlierLeases.ts"
import { PoolObstacles } from "../agent-pool/PoolObstacles.ts"
import type { RunId } from "../../../schema/records/Ids.ts"
import { QueueRows, type QueueWindow } from "./QueueRows.ts"
import { RunLifecycle } from "../../ledger/run/RunLifecycle.ts"
import { isSpeculative, type ListedRunRow, type RunRow } from "../../ledger/run/RunRow.ts"
import { RunSettings } from "../../ledger/run/RunSettings.ts"
import { providedService } from "../../base/Provided.ts"
import type { QueuePlace } from "../../../schema/records/QueuePlace.ts"

/** A queue position, and a sentence that explains it. Run ids in it are plain strings, as they are in rows. */
type WordedPlace = typeof QueuePlace.Encoded

const sentenceOf = ({ heldByRunId, limit, pool, reason }: Place): string => {
  const what = pool === "builds" ? "syncs, checks and builds" : "Runs"
  switch (reason) {
    case "capsule_busy":
      return `The Run ${heldByRunId} of the same Capsule goes first.`
    case "workspace_limit":
      return `The Workspace has ${limit} ${what} executing, which is its limit. The next starts when one of them ends.`
    case "places_taken":
      return limit === 1
        ? `The only place for ${what} is taken. Workspaces take turns when it becomes free.`
        : `All ${limit} places for ${what} are taken. Workspaces take turns when one becomes free.`
    case "place_kept":
      return "The last free place is kept for what a person may ask for; drift checks, speculative plans and heads of pull requests wait until another is free."
    case "no_agent":
      return "No agent of its pool can execute it now."
    case "turn":
      return "Nothing is in its way: it starts when it is its turn."
  }
}

const inWords = (place: Place): WordedPlace => {
  const { sentence = sentenceOf(place), ...shown } = place
  return { ...shown, pool: slotPoolOf(place.pool), message: sentence }
}

const standing = (run: ListedRunRow): QueuedRun => ({
  id: run.id,
  workspaceId: run.workspace_id,
  pool: run.slot_pool,
  subject: run.created_by ?? "",
  capsuleLine: run.capsule_line ?? undefined,
  comesLast:
    run.type === "drift_check" ||
    isSpeculative(run) ||
    (run.type === "source_sync" && run.coordinator_kind === "pull_request"),
  queuedAt: run.queued_at,
  workspaceTurn: 0,
  subjectTurn: 0
})

/**
 * Selects the next Run, and determines the positions of the other Runs, by passing rows to `decide`. A Capsule has at most
 * one active Run that reads or changes its infrastructure. Workspaces take turns, and so do the people in a Workspace.
 */
export class RunQueue extends Context.Service<
  RunQueue,
  {
    /** Signals that a Run may have become runnable. */
    readonly wake: Effect.Effect<void>
    /** Waits for the next wake-up. */
    readonly woken: Effect.Effect<void>
    /** Like `woken`, for code that waits repeatedly. Each later wake-up arrives as a message. */
    readonly listen: Effect.Effect<Queue.Dequeue<void>, never, Scope.Scope>
    /** Claims the next runnable Run for `owner`. The Run is `running` when this returns. */
    readonly claim: (owner: string) => Effect.Effect<RunRow | undefined>
    /** Returns true if a claim by this pool of agents may find a Run. If no pool is given, checks all pools. */
    readonly isAnyClaimable: QueueRows["Service"]["isAnyClaimable"]
    /**
     * Like `claim`, for a pool of agents and in the caller's transaction. Claims the first Run, in turn, that `fits` the agent.
     * Skips Runs that do not fit, so that they do not delay other Runs.
     */
    readonly claimOf: (
      pool: string,
      owner: string,
      fits: (runId: RunId) => Effect.Effect<boolean>
    ) => Effect.Effect<RunRow | undefined>
    /** Returns the position of a queued Run, and `none` for other Runs. */
    readonly place: (run: ListedRunRow) => Effect.Effect<WordedPlace | undefined>
    /** Like `place`, for a page of Runs. Reads the queue only once for each Workspace. */
    readonly places: (runs: ReadonlyArray<ListedRunRow>) => Effect.Effect<ReadonlyMap<string, WordedPlace>>
  }
>()("svc/actors/running/queue/RunQueue") {
  static readonly layer = Layer.effect(
    RunQueue,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const lifecycle = yield* RunLifecycle
      const rows = yield* QueueRows
      const settings = yield* RunSettings
      const reach = yield* PoolObstacles
      const leases = yield* EarlierLeases
      const isShared = yield* SharedDatabase
      const signals = yield* Queue.sliding<void>(1)
      const listeners = new Set<Queue.Queue<void>>()

      const wake = () => {
        for (const signal of [signals, ...listeners]) Queue.offerUnsafe(signal, undefined)
      }
      yield* onRemoteChange(({ kind }) => {
        if (kind === "queue" || kind === "unknown") wake()
      })

      const limits: QueueLimits = {
        runs: { places: settings.concurrency, perWorkspace: settings.workspaceConcurrency },
        builds: { places: settings.buildConcurrency, perWorkspace: settings.workspaceBuildConcurrency }
      }

      /**
       * Frees slots of agents. This is handled separately, because agents count their own slots and not every agent can
       * execute every Run.
       */
      const makeRoomAtAgents = Effect.fnUntraced(function* (running: ReadonlyArray<RunningRun>) {
        let checks = running.flatMap(({ headPlan, id, owner, pool, scheduledCheck, startedAt }) => {
          const yielding = scheduledCheck ?? headPlan
          return yielding === undefined || owner === undefined || !isAgentSlotPool(pool)
            ? []
            : [{ id, owner, startedAt, isStopping: yielding.isStopping, isHeadPlan: headPlan !== undefined }]
        })
        if (checks.length === 0) return
        for (const run of yield* rows.waitingForAgents) {
          const chosen = checkToPreempt(yield* reach.takers(run), checks)
          if (chosen === undefined) continue
          yield* preempt(chosen)
          checks = checks.map((check) => (check.id === chosen ? { ...check, isStopping: true } : check))
        }
      })

      /** Stops a drift check or the plan of a head if a person's Run is waiting for its slot. */
      const makeRoom = Effect.fnUntraced(function* (running: ReadonlyArray<RunningRun>, window: QueueWindow) {
        if (running.every(({ headPlan, scheduledCheck }) => (scheduledCheck ?? headPlan) === undefined)) return
        yield* Effect.forEach(runsToPreempt({ limits, running }, yield* rows.asked(window)), preempt, {
          discard: true
        })
        yield* makeRoomAtAgents(running)
      })

      const claimNext = Effect.fnUntraced(function* (owner: string) {
        const running = yield* rows.running
        // A frozen server's tool could still be working when another server starts a second tool on the same Capsule.
        const starts = isShared ? "no_modules" : (yield* leases.end) === undefined ? "everything" : "no_applies"
        const window: QueueWindow = { limits, starts }
        yield* makeRoom(running, window)
        const free = (["runs", "builds"] as const).some(
          (pool) => running.filter((run) => run.pool === pool).length < limits[pool].places
        )
        if (!free) return undefined
        const { next } = decide({ limits, running, queued: yield* rows.candidates(window) })
        if (next === undefined) return undefined
        const claimed = yield* lifecycle.claim(next.id, owner)
        if (claimed !== undefined) yield* rows.turnTaken(next)
        return claimed
      }, transaction(sql))

      // Reads first without the write lock: most claims find nothing, and a transaction would wait for all writers.
      const claim = Effect.fn("RunQueue.claim")(function* (owner: string) {
        return (yield* rows.isAnyClaimable()) ? yield* claimNext(owner) : undefined
      })

      /**
       * Adds the reason why the Run cannot start in its pool, unless it is waiting for its Capsule and therefore does not
       * need an agent yet.
       */
      const reached = Effect.fnUntraced(function* (place: Place, run: ListedRunRow): Effect.fn.Return<Place> {
        const obstacle = place.reason === "turn" ? yield* reach.obstacle(run) : undefined
        return obstacle === undefined ? place : { ...place, ...obstacle }
      })

      const claimOf = Effect.fn("RunQueue.claimOf")(function* (
        pool: string,
        owner: string,
        fits: (runId: RunId) => Effect.Effect<boolean>
      ) {
        let queued = yield* rows.candidatesOf(pool)
        if (queued.length === 0) return undefined
        const running = yield* rows.running
        while (true) {
          const { next } = decide({ limits, running, queued })
          if (next === undefined) return undefined
          // Stops here, because all Runs that follow are also Runs that come last.
          if (next.comesLast && (yield* reach.keptPlaces(pool)) !== undefined) return undefined
          const claimed = (yield* fits(next.id)) ? yield* lifecycle.claim(next.id, owner) : undefined
          if (claimed !== undefined) {
            yield* rows.turnTaken(next)
            return claimed
          }
          queued = queued.filter(({ id }) => id !== next.id)
        }
      })

      const places = Effect.fnUntraced(function* (runs: ReadonlyArray<ListedRunRow>) {
        const wanted = new Map<string, WordedPlace>()
        const queued = runs.filter(({ status }) => status === "queued")
        if (queued.length === 0) return wanted
        const running = yield* rows.running
        for (const workspaceId of new Set(queued.map(({ workspace_id }) => workspace_id))) {
          const asked = queued.filter((run) => run.workspace_id === workspaceId)
          const window = yield* rows.queuedOf(workspaceId, settings.workspaceQueue)
          const seen = new Set(window.map(({ id }) => id))
          // Appends the remaining Runs, because the queue may be longer than the window if the limit was lowered.
          const beyond = asked.filter(({ id }) => !seen.has(id)).map(standing)
          const decided = decide({ limits, running, queued: [...window, ...beyond] })
          for (const run of asked) {
            const { id } = run
            const place = decided.places.get(id)
            if (place === undefined) continue
            const words = inWords(yield* reached(place, run))
            wanted.set(id, words)
          }
        }
        return wanted
      })

      return yield* providedService(RunQueue, {
        wake: Effect.sync(wake),
        woken: Queue.take(signals),
        listen: Effect.acquireRelease(
          Effect.tap(Queue.sliding<void>(1), (own) => Effect.sync(() => void listeners.add(own))),
          (own) => Effect.sync(() => void listeners.delete(own))
        ),
        claim,
        isAnyClaimable: rows.isAnyClaimable,
        claimOf,
        place: (run) => Effect.map(places([run]), (found) => found.get(run.id)),
        places
      })
    })
  )
}
