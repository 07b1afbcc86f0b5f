import { DateTime, Effect, Random } from "effect"
import type { SqlClient } from "effect/sql"
import type { NoticePostResult } from "../../../runner/probe/NoticePost.ts"
import type { Audit } from "../audit/Audit.ts"
import { NoticeAttemptRow, NoticeDeliveryRow, NoticeEndpointRow } from "./NoticeRows.ts"
import { changeEndpoint, dropWaiting } from "./Notices.ts"
import { failingFor, nextOf } from "./NoticeSchedule.ts"

/** An attempt that is not recorded yet. */
export interface Attempted {
  readonly delivery: NoticeDeliveryRow
  readonly result: NoticePostResult
  readonly milliseconds: number
}

const iso = (millis: number) => DateTime.formatIso(DateTime.makeUnsafe(millis))

/**
 * Records an attempt in the caller's transaction: the delivery, its log, and the state of its endpoint. An endpoint that
 * responded with 410 ends, and an endpoint that has failed for five days is disabled. Returns false if the endpoint accepts no
 * more deliveries.
 */
export const settleAttempt = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  audit: Audit["Service"],
  { delivery, milliseconds, result }: Attempted
) {
  const [present] = yield* NoticeDeliveryRow.rows(sql)`SELECT * FROM notice_deliveries WHERE id = ${delivery.id}`
  const [endpoint] = yield* NoticeEndpointRow.rows(
    sql
  )`SELECT * FROM notice_endpoints WHERE id = ${delivery.endpoint_id}`
  // The endpoint or delivery was removed while the request was sent.
  if (present === undefined || endpoint === undefined) return false
  const at = yield* DateTime.now
  const now = DateTime.formatIso(at)
  const number = present.attempts + 1
  // If the delivery was replayed in the meantime, it starts over.
  const tries = present.tries + 1
  const next = nextOf(result, tries, yield* Random.next)
  const isOpen = present.status === "waiting"
  yield* sql`INSERT INTO notice_attempts ${NoticeAttemptRow.values(sql, {
    delivery_id: delivery.id,
    number,
    at: now,
    outcome: result.outcome,
    status: result.status ?? null,
    milliseconds
  })}`
  const due = next.status === "waiting" ? iso(DateTime.toEpochMillis(at) + next.after) : null
  yield* sql`UPDATE notice_deliveries SET ${NoticeDeliveryRow.changes(sql, {
    attempts: number,
    tries,
    last_outcome: result.outcome,
    last_status: result.status ?? null,
    ...(isOpen || next.status === "delivered"
      ? { status: next.status, next_at: due, ended_at: next.status === "waiting" ? null : now }
      : {})
  })} WHERE id = ${delivery.id}`

  const service = { kind: "service" as const }
  const stop = Effect.fnUntraced(function* (state: "ended" | "disabled", reason: "gone" | "failing") {
    yield* changeEndpoint(sql, endpoint.id, { state, reason, paused_until: null, updated_at: now })
    yield* dropWaiting(sql, endpoint.id, now)
    yield* audit.append({
      workspaceId: endpoint.workspace_id,
      actor: service,
      action: `notice_endpoint.${state === "ended" ? "end" : "disable"}`,
      target: { kind: "notice_endpoint", id: endpoint.id },
      data: { name: endpoint.name, host: endpoint.host, reason }
    })
    return false
  })

  if (next.status === "delivered") {
    yield* changeEndpoint(sql, endpoint.id, { failing_since: null, paused_until: null, last_accepted_at: now })
    return endpoint.state === "active"
  }
  // A test of a disabled endpoint has no effect on the endpoint's state.
  if (endpoint.state !== "active") return false
  if (result.outcome === "gone") return yield* stop("ended", "gone")
  const since = endpoint.failing_since ?? now
  if (since <= DateTime.formatIso(DateTime.subtractDuration(at, failingFor))) return yield* stop("disabled", "failing")
  const pause = next.status === "waiting" ? next.pause : undefined
  yield* changeEndpoint(sql, endpoint.id, {
    failing_since: since,
    ...(pause === undefined ? {} : { paused_until: iso(DateTime.toEpochMillis(at) + pause) })
  })
  return true
})
