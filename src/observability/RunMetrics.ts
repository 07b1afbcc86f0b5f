import { Clock, Effect, Layer, Metric, Schedule, Schema } from "effect"
import { ReadSql } from "../../actors/base/database/ReadSql.ts"
import { slotPoolOf } from "../../actors/ledger/run/RunLedger.ts"
import { SlotPool } from "../../schema/records/QueuePlace.ts"
import { WebSockets } from "../streams/WebSockets.ts"
import { rowShape } from "../../actors/base/database/Table.ts"
import { Timestamp } from "../../schema/records/Primitives.ts"

const sampleEvery = "15 seconds"

const openRuns = Metric.gauge("svc_runs_open", {
  description: "Runs that are queued, running or waiting for approval."
})

const queueDepth = Metric.gauge("svc_run_queue_depth", {
  description: "Queued Runs by pool: builds (syncs, compatibility checks, plans with a source build), agents and runs."
})

const executing = Metric.gauge("svc_run_places_taken", {
  description: "Executing Runs by pool."
})

const oldestQueued = Metric.gauge("svc_run_queue_wait_seconds", {
  description: "The time for which the longest waiting queued Run has been queued."
})

const sockets = Metric.gauge("svc_live_sockets", { description: "Open WebSockets of live streams." })

const openStatuses = ["queued", "running", "waiting_approval"] as const

const OpenRuns = rowShape({
  status: Schema.Literals(openStatuses),
  pool: Schema.String,
  runs: Schema.Int,
  since: Timestamp
})

const sample = Effect.gen(function* () {
  const sql = yield* ReadSql
  const { count } = yield* WebSockets
  // Read only open Runs. The index contains no other Runs, so its size does not depend on the size of the ledger.
  // `measureRun` counts finished Runs.
  const rows = yield* OpenRuns.rows(sql)`
    SELECT status, slot_pool AS pool, COUNT(*) AS runs, MIN(queued_at) AS since FROM runs
    WHERE status IN ('queued', 'running', 'waiting_approval') GROUP BY status, slot_pool`
  const counted = (status: string, pool?: SlotPool) =>
    rows
      .filter((row) => row.status === status && (pool === undefined || slotPoolOf(row.pool) === pool))
      .reduce((sum, { runs }) => sum + runs, 0)
  for (const status of openStatuses) {
    yield* Metric.update(Metric.withAttributes(openRuns, { status }), counted(status))
  }
  for (const pool of SlotPool.literals) {
    yield* Metric.update(Metric.withAttributes(queueDepth, { pool }), counted("queued", pool))
    yield* Metric.update(Metric.withAttributes(executing, { pool }), counted("running", pool))
  }
  const [since] = rows.flatMap((row) => (row.status === "queued" ? [row.since] : [])).toSorted()
  const now = yield* Clock.currentTimeMillis
  yield* Metric.update(oldestQueued, since === undefined ? 0 : (now - Date.parse(since)) / 1000)
  yield* Metric.update(sockets, count())
}).pipe(Effect.catch((error) => Effect.logDebug("The Run metrics could not be sampled", error)))

/** Samples metrics from the ledger: the queue, the waiting times of Runs, and the number of listeners. */
export const runMetrics = Layer.effectDiscard(Effect.forkScoped(Effect.repeat(sample, Schedule.spaced(sampleEvery))))
