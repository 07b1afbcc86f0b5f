import { Clock, Duration, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { SourceActor } from "../../schema/protocol/SourceActor.ts"
import { serviceContext } from "../../schema/protocol/Command.ts"
import { answered } from "../ActorClient.ts"
import { transaction } from "../database/Transaction.ts"
import { BuildArchives } from "../capsule/BuildArchives.ts"
import { Receipts } from "../idempotency/Receipts.ts"
import { now } from "../Identity.ts"
import { RunJournal } from "./RunJournal.ts"
import { RunLedger } from "./RunLedger.ts"
import { RunPlans } from "./RunPlans.ts"

/** How often the service looks after itself, and how long it remembers repeated requests and deliveries. */
const interval: Duration.Input = "1 minute"
const idempotencyWindow: Duration.Input = "48 hours"
const autoSyncAge: Duration.Input = "5 minutes"

const before = (age: Duration.Input) =>
  Effect.map(Clock.currentTimeMillis, (millis) =>
    new Date(millis - Duration.toMillis(Duration.fromInputUnsafe(age))).toISOString()
  )

/** Ends plans that nobody applied in time: reviewable ones, and approved ones that were never used. */
export const expirePlans = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const ledger = yield* RunLedger
  const plans = yield* RunPlans
  const journal = yield* RunJournal
  const at = yield* now
  const due = yield* Effect.orDie(sql<{ id: string; status: string }>`SELECT id, status FROM runs
    WHERE expires_at <= ${at} AND used_by_run_id IS NULL
      AND (status = 'waiting_approval' OR (status = 'succeeded' AND approved_at IS NOT NULL AND type IN ('plan', 'destroy_plan')))`)
  for (const { id, status } of due) {
    yield* transaction(sql)(
      Effect.gen(function* () {
        if (status === "waiting_approval") {
          yield* ledger.move(id, { from: ["waiting_approval"], to: "expired", event: "run.expired" })
        } else {
          yield* ledger.set(id, { status: "expired", finished_at: at })
          yield* journal.append(id, "run.expired")
        }
        yield* plans.drop(id)
      })
    )
  }
})

/** Syncs the lanes of Sources that follow by themselves (spec: Sources, autoSync). */
const syncDueSources = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const client = yield* SourceActor.client
  const dueSince = yield* before(autoSyncAge)
  const due = yield* Effect.orDie(sql<{ id: string; ref: string; path: string }>`
    SELECT s.id, s.default_ref AS ref, s.default_path AS path FROM sources s
      WHERE s.auto_sync = 1 AND s.status <> 'disabled' AND COALESCE(s.last_synced_at, '') < ${dueSince}
        AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.source_id = s.id AND r.type = 'source_sync'
          AND (r.status IN ('queued', 'running') OR r.created_at >= ${dueSince}))
    UNION
    SELECT s.id, c.adopted_ref AS ref, c.adopted_path AS path FROM sources s
      JOIN capsules c ON c.source_id = s.id AND c.adopted_ref IS NOT NULL AND c.status <> 'destroyed'
      WHERE s.auto_sync = 1 AND s.status <> 'disabled' AND COALESCE(s.last_synced_at, '') < ${dueSince}
        AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.source_id = s.id AND r.type = 'source_sync'
          AND (r.status IN ('queued', 'running') OR r.created_at >= ${dueSince}))`)
  for (const { id, ref, path } of due) {
    yield* Effect.ignore(
      answered(
        client(id).Sync({ context: serviceContext, intent: "observe", trigger: "schedule", lane: { ref, path } })
      )
    )
  }
})

/** Receipts and processed messages past the idempotency window. */
const purge = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const receipts = yield* Receipts
  yield* receipts.purge(yield* before(idempotencyWindow))
  yield* Effect.ignore(sql`DELETE FROM cluster_replies WHERE request_id IN (
    SELECT id FROM cluster_messages WHERE processed AND last_read < ${yield* before(idempotencyWindow)})`)
  yield* Effect.ignore(
    sql`DELETE FROM cluster_messages WHERE processed AND last_read < ${yield* before(idempotencyWindow)}`
  )
})

const guarded = <E, R>(name: string, work: Effect.Effect<void, E, R>) =>
  Effect.catchCause(work, (cause) => Effect.logError(`Maintenance failed: ${name}`, cause))

/** Runs in the background for as long as the service does. */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const archives = yield* BuildArchives
    yield* guarded("expire plans", expirePlans)
    yield* guarded("sync due Sources", syncDueSources)
    yield* guarded("purge", purge)
    yield* archives.sweep
  }).pipe(Effect.andThen(Effect.sleep(interval)), Effect.forever, Effect.forkScoped)
)
