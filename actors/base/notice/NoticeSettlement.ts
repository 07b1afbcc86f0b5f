import { DateTime, Effect, Random } from "effect"
import type { SqlClient } from "effect/sql"
import type { NoticePostResult } from "../../../runner/probe/NoticePost.ts"
import { serviceContext } from "../../../schema/commands/Command.ts"
import type { NoticeDeliveryId, NoticeEndpointId } from "../../../schema/records/Ids.ts"
import type { Audit } from "../audit/Audit.ts"
import { NoticeAttemptRow, NoticeDeliveryRow, NoticeEndpointRow } from "./NoticeRows.ts"
import { changeEndpoint, dropWaiting } from "./Notices.ts"
import { failingFor, type NoticeNext, nextOf } from "./NoticeSchedule.ts"

/** An attempt that has not been recorded yet. */
export interface Attempted {
  readonly delivery: NoticeDeliveryRow
  readonly result: NoticePostResult
  readonly milliseconds: number
}

const iso = (millis: number) => DateTime.formatIso(DateTime.makeUnsafe(millis))

type EndpointChanges = Pick<
  NoticeEndpointRow,
  "failing_since" | "last_accepted_at" | "paused_until" | "reason" | "state"
>

/**
 * Returns the endpoint after an attempt. An endpoint that responded with 410 is ended, and an endpoint that has failed for
 * five days is disabled.
 */
const endpointAfter = (
  endpoint: NoticeEndpointRow,
  { outcome }: NoticePostResult,
  next: NoticeNext,
  at: DateTime.Utc
): EndpointChanges => {
  const now = DateTime.formatIso(at)
  if (next.status === "delivered") {
    return { ...endpoint, failing_since: null, paused_until: null, last_accepted_at: now }
  }
  // A test delivery does not change the state of a disabled endpoint.
  if (endpoint.state !== "active") return endpoint
  if (outcome === "gone") return { ...endpoint, state: "ended", reason: "gone", paused_until: null }
  const since = endpoint.failing_since ?? now
  if (since <= DateTime.formatIso(DateTime.subtractDuration(at, failingFor))) {
    return { ...endpoint, state: "disabled", reason: "failing", failing_since: since, paused_until: null }
  }
  const pause = next.status === "waiting" ? next.pause : undefined
  const until = pause === undefined ? endpoint.paused_until : iso(DateTime.toEpochMillis(at) + pause)
  return { ...endpoint, failing_since: since, paused_until: until }
}

/**
 * Records attempts in the caller's transaction: the deliveries, their logs, and the state of their endpoints. Returns the
 * endpoints that accept more deliveries.
 */
export const settleAttempts = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  audit: Audit["Service"],
  attempts: ReadonlyArray<Attempted>
) {
  const ids = attempts.map(({ delivery }) => delivery.id)
  const stored = yield* NoticeDeliveryRow.rows(sql)`SELECT * FROM notice_deliveries WHERE ${sql.in("id", ids)}`
  const deliveries = new Map<NoticeDeliveryId, NoticeDeliveryRow>(stored.map((row) => [row.id, row]))
  const owners = [...new Set(attempts.map(({ delivery }) => delivery.endpoint_id))]
  const before = yield* NoticeEndpointRow.rows(sql)`SELECT * FROM notice_endpoints WHERE ${sql.in("id", owners)}`
  const endpoints = new Map<NoticeEndpointId, NoticeEndpointRow>(before.map((row) => [row.id, row]))
  const at = yield* DateTime.now
  const now = DateTime.formatIso(at)

  for (const { delivery, milliseconds, result } of attempts) {
    const present = deliveries.get(delivery.id)
    const endpoint = endpoints.get(delivery.endpoint_id)
    // The endpoint or delivery was removed while the request was being sent.
    if (present === undefined || endpoint === undefined) continue
    const number = present.attempts + 1
    const tries = present.tries + 1
    const next = nextOf(result, tries, yield* Random.next)
    yield* sql`INSERT INTO notice_attempts ${NoticeAttemptRow.values(sql, {
      delivery_id: delivery.id,
      number,
      at: now,
      outcome: result.outcome,
      status: result.status ?? null,
      milliseconds
    })}`
    // A delivery that was dropped in the meantime remains dropped, unless this attempt succeeded.
    const isOpen = present.status === "waiting" || next.status === "delivered"
    const end =
      next.status === "waiting"
        ? { status: next.status, next_at: iso(DateTime.toEpochMillis(at) + next.after), ended_at: null }
        : { status: next.status, next_at: null, ended_at: now }
    const changes = {
      attempts: number,
      tries,
      last_outcome: result.outcome,
      last_status: result.status ?? null,
      ...(isOpen ? end : {})
    }
    yield* sql`UPDATE notice_deliveries SET ${NoticeDeliveryRow.changes(sql, changes)} WHERE id = ${delivery.id}`
    endpoints.set(endpoint.id, { ...endpoint, ...endpointAfter(endpoint, result, next, at) })
  }

  for (const row of before) {
    const after = endpoints.get(row.id) ?? row
    if (after === row) continue
    const { failing_since, last_accepted_at, paused_until, reason, state } = after
    const isStopped = state !== row.state
    const changes = { failing_since, last_accepted_at, paused_until, reason, state }
    yield* changeEndpoint(sql, row.id, isStopped ? { ...changes, updated_at: now } : changes)
    if (!isStopped) continue
    yield* dropWaiting(sql, row.id, now)
    yield* audit.append({
      workspaceId: row.workspace_id,
      actor: serviceContext.actor,
      action: `notice_endpoint.${state === "ended" ? "end" : "disable"}`,
      target: { kind: "notice_endpoint", id: row.id },
      data: { name: row.name, host: row.host, reason }
    })
  }
  return new Set([...endpoints.values()].flatMap(({ id, state }) => (state === "active" ? [id] : [])))
})
