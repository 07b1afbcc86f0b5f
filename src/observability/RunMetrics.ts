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

const finishedRuns = Metric.gauge("svc_runs_finished", {
  description: "Finished Runs in the ledger, by type and status."
})

const sockets = Metric.gauge("svc_live_sockets", { description: "Open WebSockets of live streams." })

const openStatuses = ["queued", "running", "waiting_approval"] as const

const sample = Effect.gen(function* () {
  const sql = yield* ReadSql
  const { count } = yield* WebSockets
  const rows = yield* sql<{ type: string; status: string; runs: number }>`
    SELECT type, status, COUNT(*) AS runs FROM runs GROUP BY type, status`
  const queued = yield* sql<{ since: string | null }>`SELECT MIN(queued_at) AS since FROM runs WHERE status = 'queued'`
  for (const status of openStatuses) {
    const runs = rows.filter((row) => row.status === status).reduce((sum, row) => sum + row.runs, 0)
    yield* Metric.update(Metric.withAttributes(openRuns, { status }), runs)
  }
  for (const { runs, status, type } of rows) {
    if (openStatuses.some((open) => open === status)) continue
    yield* Metric.update(Metric.withAttributes(finishedRuns, { type, status }), runs)
  }
  const since = queued[0]?.since ?? null
  const now = yield* Clock.currentTimeMillis
  yield* Metric.update(oldestQueued, since === null ? 0 : (now - Date.parse(since)) / 1000)
  yield* Metric.update(sockets, count())
}).pipe(Effect.catch((error) => Effect.logDebug("The Run metrics could not be sampled", error)))

/** Samples the ledger for what an operator watches: the queue and its wait, what ended how, who listens. */
export const runMetrics = Layer.effectDiscard(Effect.forkScoped(Effect.repeat(sample, Schedule.spaced(sampleEvery))))
