import { Context, Effect, Layer, Queue } from "effect"
import { SqlClient } from "effect/sql"
import { capsuleExclusiveTypes } from "../../schema/records/Run.ts"
import { transaction } from "../database/Transaction.ts"
import { now } from "../Identity.ts"
import { KillPoint } from "./KillPoint.ts"
import { RunJournal } from "./RunJournal.ts"
import type { QueuePlace, RunRow } from "./RunRow.ts"
import { RunSettings } from "./RunSettings.ts"

/**
 * Which Run goes next. At most one Run that reads or changes a Capsule's infrastructure is active for it; others wait in
 * the order in which they came, drift checks behind everything a person asked for. Limits hold across Capsules.
 */
export class RunQueue extends Context.Service<
  RunQueue,
  {
    /** Something may have become runnable. */
    readonly wake: Effect.Effect<void>
    /** Waits for the next wake-up. */
    readonly woken: Effect.Effect<void>
    /** Takes the next runnable Run: it is `running` and owned by `owner` when this answers. */
    readonly claim: (owner: string) => Effect.Effect<RunRow | undefined>
    /** Where a queued Run stands. */
    readonly place: (run: RunRow) => Effect.Effect<QueuePlace | undefined>
  }
>()("svc/actors/run/RunQueue") {
  static readonly layer = Layer.effect(
    RunQueue,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const journal = yield* RunJournal
      const settings = yield* RunSettings
      const killPoint = yield* KillPoint
      const signals = yield* Queue.sliding<void>(1)

      const exclusive = sql.in("type", capsuleExclusiveTypes)
      const exclusiveOther = sql.in("o.type", capsuleExclusiveTypes)

      const runnable = sql<RunRow>`SELECT r.* FROM runs r
        WHERE r.status = 'queued'
          AND (SELECT COUNT(*) FROM runs w WHERE w.status = 'running' AND w.workspace_id = r.workspace_id)
            < ${settings.workspaceConcurrency}
          AND (r.capsule_id IS NULL OR NOT (${sql.in("r.type", capsuleExclusiveTypes)}) OR NOT EXISTS (
            SELECT 1 FROM runs o
            WHERE o.capsule_id = r.capsule_id AND o.id <> r.id AND ${exclusiveOther}
              AND (o.status = 'running' OR (o.status = 'queued' AND (
                (o.type <> 'drift_check' AND r.type = 'drift_check')
                OR ((o.type = 'drift_check') = (r.type = 'drift_check')
                  AND (o.queued_at < r.queued_at OR (o.queued_at = r.queued_at AND o.id < r.id))))))))
        ORDER BY CASE WHEN r.type = 'drift_check' THEN 1 ELSE 0 END, r.queued_at, r.id LIMIT 1`

      const claim = Effect.fn("RunQueue.claim")(function* (owner: string) {
        const busy = yield* sql<{ count: number }>`SELECT COUNT(*) AS count FROM runs WHERE status = 'running'`
        const free = settings.concurrency - (busy[0]?.count ?? 0)
        if (free <= 0) return undefined
        const [next] = yield* runnable
        if (next === undefined) return undefined
        // The last place stays open for what a person may ask for.
        if (next.type === "drift_check" && free === 1 && settings.concurrency > 1) return undefined
        const at = yield* now
        const claimed = yield* sql<RunRow>`UPDATE runs
          SET ${sql.update({ status: "running", owner, started_at: at, attempt: next.attempt + 1 })}
          WHERE id = ${next.id} AND status = 'queued' RETURNING *`
        yield* journal.append(next.id, "run.started", { attempt: next.attempt + 1 })
        yield* killPoint(`${next.type}.run.started`)
        return claimed[0]
      }, transaction(sql))

      const place = Effect.fnUntraced(function* (run: RunRow) {
        if (run.status !== "queued" || run.capsule_id === null) return undefined
        // In the order in which they are claimed: drift checks behind everything a person asked for.
        const rank = sql`CASE WHEN type = 'drift_check' THEN 1 ELSE 0 END`
        const own = run.type === "drift_check" ? 1 : 0
        const ahead = yield* sql<{ id: string; status: string }>`SELECT id, status FROM runs
          WHERE capsule_id = ${run.capsule_id} AND id <> ${run.id} AND ${exclusive}
            AND (status = 'running' OR (status = 'queued' AND (${rank} < ${own} OR (${rank} = ${own}
              AND (queued_at < ${run.queued_at} OR (queued_at = ${run.queued_at} AND id < ${run.id}))))))
          ORDER BY CASE WHEN status = 'running' THEN 0 ELSE 1 END, ${rank}, queued_at, id`
        const holder = ahead[0]
        return { position: ahead.length + 1, ...(holder === undefined ? {} : { heldByRunId: holder.id }) }
      }, Effect.orDie)

      return RunQueue.of({
        wake: Effect.asVoid(Queue.offer(signals, undefined)),
        woken: Queue.take(signals),
        claim,
        place
      })
    })
  )
}
