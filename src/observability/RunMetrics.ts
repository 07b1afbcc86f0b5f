import { Clock, Effect, Layer, Metric, Schedule } from "effect"
import { ReadSql } from "../../actors/database/ReadSql.ts"
import { WebSockets } from "../streams/WebSockets.ts"

const sampleEvery = "15 seconds"

const openRuns = Metric.gauge("svc_runs_open", {
  description: "Runs that are queued, running or waiting for approval."
})

const oldestQueued = Metric.gauge("svc_run_queue_wait_seconds", {
  description: "How long the longest waiting queued Run has been queued."
})

const sockets = Metric.gauge("svc_live_sockets", { description: "Open WebSockets of live streams." })

const openStatuses = ["queued", "running", "waiting_approval"] as const

const sample = Effect.gen(function* () {
  const sql = yield* ReadSql
  const { count } = yield* WebSockets
  // Only open Runs: the index holds nothing else, however long the ledger grows. `measureRun` counts what ended.
  const rows = yield* sql<{ status: string; runs: number; since: string }>`
    SELECT status, COUNT(*) AS runs, MIN(queued_at) AS since FROM runs
    WHERE status IN ('queued', 'running', 'waiting_approval') GROUP BY status`
  for (const status of openStatuses) {
    const runs = rows.find((row) => row.status === status)?.runs ?? 0
    yield* Metric.update(Metric.withAttributes(openRuns, { status }), runs)
  }
  const since = rows.find((row) => row.status === "queued")?.since
  const now = yield* Clock.currentTimeMillis
  yield* Metric.update(oldestQueued, since === undefined ? 0 : (now - Date.parse(since)) / 1000)
  yield* Metric.update(sockets, count())
}).pipe(Effect.catch((error) => Effect.logDebug("The Run metrics could not be sampled", error)))

/** Samples the ledger for what an operator watches: the queue and its wait, who listens. */
export const runMetrics = Layer.effectDiscard(Effect.forkScoped(Effect.repeat(sample, Schedule.spaced(sampleEvery))))
