import {
  Clock,
  Context,
  DateTime,
  Deferred,
  Duration,
  Effect,
  Exit,
  Layer,
  Option,
  Queue,
  Random,
  Redacted,
  Schema,
  Semaphore
} from "effect"
import { SqlClient } from "effect/sql"
import { NoticePost, type NoticePostResult } from "../../../runner/probe/NoticePost.ts"
import { serviceContext } from "../../../schema/commands/Command.ts"
import { type NoticeDeliveryId, NoticeEndpointId } from "../../../schema/records/Ids.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import type { SentNotice } from "../../../schema/records/NoticeEndpoint.ts"
import { retention } from "../../../schema/records/Retention.ts"
import { Audit } from "../audit/Audit.ts"
import { rowShape } from "../database/Table.ts"
import { transaction } from "../database/Transaction.ts"
import { KillPoint } from "../KillPoint.ts"
import { Vault } from "../vault/Vault.ts"
import { sentNotices } from "./NoticeBody.ts"
import { noticeMessage } from "./NoticeFormats.ts"
import { NoticeAttemptRow, NoticeDeliveryRow, NoticeEndpointRow, NoticeSettings } from "./NoticeRows.ts"
import { failingFor, holdFor, nextOf, type NoticeNext, restAfter } from "./NoticeSchedule.ts"
import { formerSecretPlace, noticeAddressPlace, noticeSecretPlace } from "./NoticeSecrets.ts"
import { changeEndpoint, dropWaiting, NoticeSignals } from "./Notices.ts"

/**
 * Maximum number of concurrent requests to one endpoint, each for a different subject. A failing endpoint receives one
 * request at a time.
 */
const placesOfEndpoint = 4
/**
 * Maximum number of concurrent requests to healthy and to failing endpoints. The limits are separate, so that unreachable
 * receivers cannot use up the requests meant for healthy receivers.
 */
const healthyPlaces = 192
const failingPlaces = 64
/** Maximum number of deliveries to read at a time for one endpoint. */
const mostRead = 100
/** Maximum number of attempts recorded in one transaction. */
const mostSettled = 100
/** Maximum delay of a delivery, in milliseconds, if a wake-up is lost. */
const rereadMillis = 60_000
const sweepEvery = Duration.hours(1)
/** Maximum number of deliveries waiting for one endpoint. If more are waiting, the oldest are dropped. */
export const mostWaiting = 10_000

const EndpointId = rowShape({ id: NoticeEndpointId })
const NextDue = rowShape({ next_at: Schema.NullOr(Timestamp) })

/**
 * `unrecorded` if the attempt could not be recorded. Otherwise `open` if the endpoint accepts more deliveries, or `closed` if it
 * does not.
 */
type Recorded = "open" | "closed" | "unrecorded"

/** An attempt that has not been recorded yet. */
interface Attempted {
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
const settleAttempts = Effect.fnUntraced(function* (
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

interface Settling {
  readonly attempted: Attempted
  readonly recorded: Deferred.Deferred<Recorded>
}

/** The decrypted address and secrets of an endpoint, for one batch. */
interface Opened {
  readonly address: Redacted.Redacted
  readonly secrets: ReadonlyArray<Redacted.Redacted>
}

/**
 * An endpoint, with all data needed to send a batch of its deliveries. `opened` is absent if the secrets of the endpoint
 * cannot be decrypted.
 */
interface Batch {
  readonly endpoint: NoticeEndpointRow
  readonly opened: Option.Option<Opened>
  readonly bodyOf: (delivery: NoticeDeliveryRow) => SentNotice
}

/**
 * Sends each due delivery at least once. Deliveries to one endpoint about the same subject are sent in order. A delivery
 * that is waiting for a retry holds back later deliveries about its subject for up to five minutes. Each endpoint has a
 * separate worker while it has due deliveries, so a slow or unreachable receiver does not delay the others. Results are
 * recorded after sending. If the process crashes before the result is recorded, the delivery is sent again with the same id.
 */
export class NoticeDelivery extends Context.Service<
  NoticeDelivery,
  {
    /** Starts workers for the endpoints with due deliveries. Runs until interrupted. */
    readonly follow: Effect.Effect<never>
    /** Removes old finished deliveries, and drops the oldest waiting deliveries of an endpoint that has too many. */
    readonly sweep: Effect.Effect<void>
  }
>()("svc/actors/base/notice/NoticeDelivery") {
  static readonly layer = Layer.effect(
    NoticeDelivery,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const vault = yield* Vault
  const audit = yield* Audit
  const settings = yield* NoticeSettings
  const signals = yield* NoticeSignals
  const killPoint = yield* KillPoint
  const post = yield* NoticePost
  const healthy = yield* Semaphore.make(healthyPlaces)
  const failing = yield* Semaphore.make(failingPlaces)
  const wakes = yield* Queue.sliding<void>(1)
  const settlements = yield* Queue.unbounded<Settling>()
  /** Endpoints with a running worker. The value is true if a due delivery was found after the worker started. */
  const lines = new Map<NoticeEndpointId, boolean>()
  /**
   * Number of consecutive failures of an endpoint in this process, and the time, in milliseconds, until which it receives no
   * requests.
   */
  const rests = new Map<NoticeEndpointId, { readonly failures: number; readonly until: number }>()

  const wake = () => void Queue.offerUnsafe(wakes, undefined)

  const dueEndpoints = Effect.gen(function* () {
    const at = DateTime.formatIso(yield* DateTime.now)
    const rows = yield* EndpointId.rows(sql)`SELECT e.id FROM notice_endpoints e
      WHERE (e.paused_until IS NULL OR e.paused_until <= ${at}) AND e.state <> 'ended'
        AND EXISTS (SELECT 1 FROM notice_deliveries d WHERE d.endpoint_id = e.id AND d.status = 'waiting' AND d.next_at <= ${at}
          AND (e.state = 'active' OR d.kind = 'endpoint.test'))`
    return rows.map(({ id }) => id)
  }).pipe(Effect.orDie)

  /**
   * Returns due deliveries in the order in which they were written. Omits a delivery if an earlier delivery of its subject holds
   * it back.
   */
  const dueOf = Effect.fnUntraced(function* (endpoint: NoticeEndpointRow) {
    const now = yield* DateTime.now
    const at = DateTime.formatIso(now)
    const held = DateTime.formatIso(DateTime.subtractDuration(now, holdFor))
    const only = endpoint.state === "active" ? sql`1 = 1` : sql`d.kind = 'endpoint.test'`
    return yield* NoticeDeliveryRow.rows(sql)`SELECT d.* FROM notice_deliveries d
      WHERE d.endpoint_id = ${endpoint.id} AND d.status = 'waiting' AND d.next_at <= ${at} AND ${only}
        AND NOT EXISTS (SELECT 1 FROM notice_deliveries e WHERE e.endpoint_id = d.endpoint_id AND e.subject = d.subject
          AND e.status = 'waiting' AND e.sequence < d.sequence AND e.next_at > ${at} AND e.created_at > ${held})
      ORDER BY d.created_at, d.sequence LIMIT ${mostRead}`
  }, Effect.orDie)

  const openEndpoint = Effect.fnUntraced(function* (endpoint: NoticeEndpointRow) {
    const at = DateTime.formatIso(yield* DateTime.now)
    const address = yield* vault.openText(noticeAddressPlace(endpoint), endpoint.address)
    if (endpoint.secret === null) return { address, secrets: [] }
    const secret = yield* vault.openText(noticeSecretPlace(endpoint), endpoint.secret)
    const isFormerValid =
      endpoint.former_secret !== null && endpoint.former_secret_until !== null && endpoint.former_secret_until > at
    if (!isFormerValid) return { address, secrets: [secret] }
    return { address, secrets: [secret, yield* vault.openText(formerSecretPlace(endpoint), endpoint.former_secret)] }
  })

  const request = Effect.fnUntraced(function* (
    { bodyOf, endpoint }: Batch,
    { address, secrets }: Opened,
    delivery: NoticeDeliveryRow
  ) {
    const at = new Date(yield* Clock.currentTimeMillis)
    const message = noticeMessage(endpoint.format, bodyOf(delivery), secrets, at)
    return yield* post.send({
      address: Redacted.value(address),
      allowOrigins: settings.allowOrigins,
      ...message
    })
  })

  /** Records an attempt, batched with the attempts for other endpoints. */
  const settled = Effect.fnUntraced(function* (attempted: Attempted) {
    const recorded = yield* Deferred.make<Recorded>()
    yield* Queue.offer(settlements, { attempted, recorded })
    return yield* Deferred.await(recorded)
  })

  const settleAll = Effect.fnUntraced(function* (all: ReadonlyArray<Settling>) {
    const attempts = all.map(({ attempted }) => attempted)
    const open = yield* transaction(sql)(
      Effect.tap(settleAttempts(sql, audit, attempts), () => killPoint("notice.settling"))
    )
    yield* killPoint("notice.settled")
    for (const { attempted, recorded } of all) {
      yield* Deferred.succeed(recorded, open.has(attempted.delivery.endpoint_id) ? "open" : "closed")
    }
  })

  const settler = Effect.gen(function* () {
    const all = yield* Queue.takeBetween(settlements, 1, mostSettled)
    const outcome = yield* Effect.exit(settleAll(all))
    if (Exit.isSuccess(outcome)) return
    yield* Effect.logError("Attempts to deliver notices could not be recorded; they are repeated", outcome.cause)
    for (const { recorded } of all) yield* Deferred.succeed(recorded, "unrecorded")
  }).pipe(Effect.forever)

  /** Pauses an endpoint after a failure. Returns true if it is paused. */
  const restIf = Effect.fnUntraced(function* (id: NoticeEndpointId, failed: boolean) {
    const at = yield* Clock.currentTimeMillis
    if (!failed) {
      rests.delete(id)
      return false
    }
    const failures = (rests.get(id)?.failures ?? 0) + 1
    rests.set(id, { failures, until: at + Duration.toMillis(restAfter(failures)) })
    return true
  })

  /** Sends one delivery and records the attempt. Returns true if the worker may continue. */
  const deliver = Effect.fnUntraced(function* (batch: Batch, delivery: NoticeDeliveryRow) {
    const { endpoint, opened } = batch
    const places = endpoint.failing_since === null ? healthy : failing
    yield* killPoint("notice.sending")
    const begun = yield* Clock.currentTimeMillis
    const result: NoticePostResult = Option.isNone(opened)
      ? { outcome: "unreadable" }
      : yield* places.withPermits(1)(request(batch, opened.value, delivery))
    const milliseconds = (yield* Clock.currentTimeMillis) - begun
    yield* killPoint("notice.sent")
    const recorded = yield* settled({ delivery, result, milliseconds })
    // Pauses the endpoint if the attempt was not recorded, because the delivery is then due again immediately and would be sent
    // in a loop.
    const rests = yield* restIf(endpoint.id, result.outcome !== "accepted" || recorded === "unrecorded")
    return recorded === "open" && !rests
  })

  /** Sends the deliveries of one subject in order until one fails. */
  const inOrder = Effect.fnUntraced(function* (batch: Batch, deliveries: ReadonlyArray<NoticeDeliveryRow>) {
    for (const delivery of deliveries) {
      if (!(yield* deliver(batch, delivery))) return false
    }
    return true
  })

  /**
   * Sends the due deliveries of an endpoint. Returns true if the worker stopped early, so that due deliveries may remain.
   */
  const line = Effect.fnUntraced(function* (id: NoticeEndpointId) {
    for (;;) {
      const [endpoint] = yield* Effect.orDie(
        NoticeEndpointRow.rows(sql)`SELECT * FROM notice_endpoints WHERE id = ${id}`
      )
      if (endpoint === undefined) return false
      const due = yield* dueOf(endpoint)
      if (due.length === 0) return false
      const opened = yield* Effect.option(openEndpoint(endpoint))
      const batch = { endpoint, opened, bodyOf: yield* sentNotices(sql, settings, due) }
      const subjects = [...Map.groupBy(due, ({ subject }) => subject).values()].map((group) =>
        group.toSorted((a, b) => a.sequence - b.sequence)
      )
      // Sends only one delivery to a failing receiver, which is enough to find out whether it works again.
      const isFailing = endpoint.failing_since !== null
      const taken = isFailing ? subjects.slice(0, 1).map((group) => group.slice(0, 1)) : subjects
      let isStopped = false
      yield* Effect.forEach(
        taken,
        (group) =>
          Effect.suspend(() => (isStopped ? Effect.succeed(false) : inOrder(batch, group))).pipe(
            Effect.map((goesOn) => {
              isStopped ||= !goesOn
            })
          ),
        { concurrency: placesOfEndpoint, discard: true }
      )
      if (isStopped) return true
    }
  })

  const guardedLine = (id: NoticeEndpointId) =>
    line(id).pipe(
      Effect.catchCause((cause) =>
        Effect.logError(`Notices to the endpoint ${id} were not sent`, cause).pipe(Effect.andThen(restIf(id, true)))
      ),
      Effect.tap((isStopped) =>
        Effect.sync(() => {
          const isAskedAgain = lines.get(id) === true
          lines.delete(id)
          if (isStopped || isAskedAgain) wake()
        })
      ),
      Effect.onInterrupt(() => Effect.sync(() => lines.delete(id)))
    )

  /** Returns the milliseconds until the next delivery becomes due. */
  const untilNext = Effect.gen(function* () {
    const now = yield* DateTime.now
    const [next] = yield* NextDue.rows(sql)`SELECT MIN(next_at) AS next_at FROM (
      SELECT (SELECT MIN(d.next_at) FROM notice_deliveries d WHERE d.endpoint_id = e.id AND d.status = 'waiting'
        AND d.next_at > ${DateTime.formatIso(now)}) AS next_at FROM notice_endpoints e WHERE e.state = 'active') AS due`
    return next?.next_at == null
      ? rereadMillis
      : DateTime.toEpochMillis(DateTime.makeUnsafe(next.next_at)) - DateTime.toEpochMillis(now)
  }).pipe(Effect.orDie)

  /** Starts the missing workers for due deliveries. Returns the milliseconds until the next check. */
  const begin = Effect.gen(function* () {
    const ids = yield* dueEndpoints
    const at = yield* Clock.currentTimeMillis
    let wait = rereadMillis
    for (const id of ids) {
      const until = rests.get(id)?.until ?? at
      if (lines.has(id)) {
        lines.set(id, true)
        continue
      }
      if (until > at) {
        wait = Math.min(wait, until - at)
        continue
      }
      lines.set(id, false)
      yield* Effect.forkScoped(guardedLine(id))
    }
    return Math.max(1, Math.min(wait, yield* untilNext))
  })

  const sweep = Effect.gen(function* () {
    const now = yield* DateTime.now
    const before = DateTime.formatIso(DateTime.subtractDuration(now, retention.noticeDelivery.after))
    yield* sql`DELETE FROM notice_deliveries WHERE ended_at < ${before}`
    yield* sql`DELETE FROM notices WHERE created_at < ${before} AND mail_due IS NULL
      AND NOT EXISTS (SELECT 1 FROM notice_deliveries d WHERE d.notice_id = notices.id)`
    const at = DateTime.formatIso(now)
    const full = yield* EndpointId.rows(sql)`SELECT endpoint_id AS id FROM notice_deliveries WHERE status = 'waiting'
      GROUP BY endpoint_id HAVING COUNT(*) > ${mostWaiting}`
    for (const { id } of full) {
      yield* sql`UPDATE notice_deliveries SET ${NoticeDeliveryRow.changes(sql, { status: "dropped", next_at: null, ended_at: at })}
        WHERE id IN (SELECT id FROM (
          SELECT id, ROW_NUMBER() OVER (ORDER BY created_at DESC, sequence DESC) AS place
          FROM notice_deliveries WHERE endpoint_id = ${id} AND status = 'waiting') AS placed WHERE place > ${mostWaiting})`
      yield* Effect.logWarning(
        `More than ${mostWaiting} notices waited for the endpoint ${id}: the oldest were dropped.`
      )
    }
  }).pipe(transaction(sql), Effect.withSpan("NoticeDelivery.sweep"))

  const guarded = (what: string, effect: Effect.Effect<void>) =>
    Effect.catchCause(effect, (cause) => Effect.logError(what, cause))

  const follow = Effect.gen(function* () {
    yield* Effect.acquireRelease(
      Effect.sync(() => signals.add(wake)),
      () => Effect.sync(() => signals.delete(wake))
    )
    yield* Effect.forkScoped(settler)
    yield* Effect.forkScoped(
      Effect.forever(Effect.andThen(guarded("Old notices were not removed", sweep), Effect.sleep(sweepEvery)))
    )
    return yield* begin.pipe(
      Effect.catchCause((cause) =>
        Effect.as(Effect.logError("Notices that are due could not be read", cause), rereadMillis)
      ),
      Effect.flatMap((wait) => Effect.timeoutOption(Queue.take(wakes), wait)),
      Effect.forever
    )
  }).pipe(Effect.scoped)

  return NoticeDelivery.of({ follow, sweep })
})
