import { Clock, Context, Duration, Effect, Layer, Random, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { CapsuleCommands } from "../../../schema/commands/CapsuleCommands.ts"
import { serviceContext } from "../../../schema/commands/Command.ts"
import type { CapsuleId } from "../../../schema/records/Ids.ts"
import { effectiveDriftHours } from "../../../schema/tables/DriftTables.ts"
import { CapsuleLedger } from "../../ledger/capsule/CapsuleLedger.ts"
import { CapsuleRow } from "../../ledger/capsule/CapsuleRow.ts"
import { rowShape } from "../../base/database/Table.ts"
import { openInLine } from "../../ledger/run/RunLedger.ts"

/** Maximum number of queued scheduled checks per Workspace, so that the schedule cannot fill a queue. */
const waitingPerWorkspace = 5
/**
 * Maximum random delay of a check, as a fraction of its interval, so that Capsules created together are not all checked at once.
 */
const spread = 0.1

const ScheduledRow = rowShape({
  id: CapsuleRow.columns.id,
  workspace_id: CapsuleRow.columns.workspace_id,
  hours: Schema.Int,
  due_at: CapsuleRow.columns.drift_check_due_at,
  started_by: CapsuleRow.columns.drift_check_by
})
const WaitingChecks = rowShape({ id: CapsuleRow.columns.workspace_id, waiting: Schema.Int })

/** Starts drift checks at the configured intervals. */
export class DriftSchedule extends Context.Service<
  DriftSchedule,
  {
    /**
     * Computes when each Capsule's next check is due, and starts the checks that are due. A check that does not fit into the
     * queue remains due.
     */
    readonly checkDue: Effect.Effect<void>
  }
>()("svc/actors/commands/capsule/DriftSchedule") {
  static readonly layer = Layer.effect(
    DriftSchedule,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const capsules = yield* CapsuleLedger
      const command = yield* CapsuleCommands
      const hours = sql.literal(effectiveDriftHours)
      const comparable = sql`c.status IN ('active', 'stale', 'error') AND c.current_state_version_id IS NOT NULL
        AND w.archived_at IS NULL`

      const later = Effect.fnUntraced(function* (id: CapsuleId, millis: number) {
        const at = (yield* Clock.currentTimeMillis) + Math.round(millis)
        yield* capsules.schedule(id, new Date(at).toISOString())
      })

      /**
       * Sets due times for Capsules that have none, or whose interval has become shorter. Removes the due times of Capsules
       * that are not checked.
       */
      const settleDueTimes = Effect.gen(function* () {
        const ended = yield* CapsuleRow.some(
          sql,
          "id"
        )`SELECT c.id FROM capsules c JOIN workspaces w ON w.id = c.workspace_id
          WHERE c.drift_check_due_at IS NOT NULL AND (NOT (${comparable}) OR ${hours} = 0)`
        for (const { id } of ended) yield* capsules.schedule(id, null)
        const scheduled = yield* ScheduledRow.rows(sql)`SELECT c.id, c.workspace_id, ${hours} AS hours,
            c.drift_check_due_at AS due_at, NULL AS started_by
          FROM capsules c JOIN workspaces w ON w.id = c.workspace_id WHERE ${comparable} AND ${hours} > 0`
        const now = yield* Clock.currentTimeMillis
        for (const row of scheduled) {
          const interval = Duration.toMillis(Duration.hours(row.hours))
          const isSettled = row.due_at !== null && Date.parse(row.due_at) <= now + interval * (1 + spread)
          if (!isSettled) yield* later(row.id, (yield* Random.next) * interval)
        }
      })

      const checkDue = Effect.gen(function* () {
        yield* settleDueTimes
        const at = new Date(yield* Clock.currentTimeMillis).toISOString()
        const due = yield* ScheduledRow.rows(
          sql
        )`SELECT c.id, c.workspace_id, ${hours} AS hours, c.drift_check_due_at AS due_at,
            CASE WHEN c.drift_check_hours IS NULL THEN w.drift_check_by ELSE c.drift_check_by END AS started_by
          FROM capsules c JOIN workspaces w ON w.id = c.workspace_id
          WHERE c.drift_check_due_at <= ${at} AND w.automation_paused_at IS NULL AND NOT EXISTS (
            SELECT 1 FROM runs WHERE type = 'drift_check' AND ${openInLine(sql, sql.literal("c.id"))})
          ORDER BY c.drift_check_due_at, c.id`
        const counted = yield* WaitingChecks.rows(sql)`SELECT workspace_id AS id, COUNT(*) AS waiting FROM runs
          WHERE status = 'queued' AND type = 'drift_check' GROUP BY workspace_id`
        const waiting = new Map(counted.map((row) => [row.id, row.waiting]))
        for (const row of due) {
          const before = waiting.get(row.workspace_id) ?? 0
          if (before >= waitingPerWorkspace) continue
          waiting.set(row.workspace_id, before + 1)
          const schedule = row.started_by === null ? {} : { by: row.started_by }
          const outcome = yield* command.DriftCheck(row.id, { context: serviceContext, schedule }).pipe(
            // A Capsule with a defect is checked again one interval later, and does not delay the others.
            Effect.catchDefect((defect) =>
              Effect.logError(`The drift check of ${row.id} could not be started.`, defect)
            ),
            Effect.result
          )
          if (outcome._tag === "Failure" && outcome.failure.code === "rate_limited") continue
          yield* later(row.id, Duration.toMillis(Duration.hours(row.hours)) * (1 + spread * (yield* Random.next)))
        }
      }).pipe(Effect.orDie, Effect.withSpan("DriftSchedule.checkDue"))

      return DriftSchedule.of({ checkDue })
    })
  )
}
