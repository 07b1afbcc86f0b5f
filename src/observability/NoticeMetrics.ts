import { Clock, Effect, Layer, Metric, Schedule, Schema } from "effect"
import { ReadSql } from "../../actors/base/database/ReadSql.ts"
import { rowShape } from "../../actors/base/database/Table.ts"
import { NoticeEndpointState } from "../../schema/records/NoticeEndpoint.ts"
import { Timestamp } from "../../schema/records/Primitives.ts"

const sampleEvery = "15 seconds"

const waiting = Metric.gauge("svc_notices_waiting", { description: "Deliveries of notices that have not ended." })

const oldest = Metric.gauge("svc_notice_oldest_seconds", {
  description: "The age of the oldest delivery that waits for an active endpoint."
})

const endpoints = Metric.gauge("svc_notice_endpoints", { description: "Endpoints of notices by state." })

const Waiting = rowShape({ deliveries: Schema.Int, since: Schema.NullOr(Timestamp) })
const Endpoints = rowShape({ state: NoticeEndpointState, endpoints: Schema.Int })

const sample = Effect.gen(function* () {
  const sql = yield* ReadSql
  // Uses the index of waiting deliveries by endpoint, which contains no finished deliveries.
  const [row] = yield* Waiting.rows(sql)`SELECT COUNT(*) AS deliveries, MIN(d.created_at) AS since
    FROM notice_endpoints e JOIN notice_deliveries d ON d.endpoint_id = e.id AND d.status = 'waiting'
    WHERE e.state = 'active'`
  const now = yield* Clock.currentTimeMillis
  yield* Metric.update(waiting, row?.deliveries ?? 0)
  yield* Metric.update(oldest, row?.since == null ? 0 : (now - Date.parse(row.since)) / 1000)
  const states = yield* Endpoints.rows(sql)`SELECT state, COUNT(*) AS endpoints FROM notice_endpoints GROUP BY state`
  for (const state of NoticeEndpointState.literals) {
    const found = states.find((one) => one.state === state)?.endpoints ?? 0
    yield* Metric.update(Metric.withAttributes(endpoints, { state }), found)
  }
}).pipe(Effect.catch((error) => Effect.logDebug("The notice metrics could not be sampled", error)))

/** Samples the number of waiting deliveries, and of endpoints by state. */
export const noticeMetrics = Layer.effectDiscard(Effect.forkScoped(Effect.repeat(sample, Schedule.spaced(sampleEvery))))
