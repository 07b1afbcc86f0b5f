import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Hours between two drift checks of a Capsule. */
export const driftHours = 72
const hourMillis = 3_600_000
/**
 * A check may be late by a tenth of the interval. It may then wait longer, for several turns of the background work, behind
 * other checks.
 */
const latestHours = driftHours * 1.1 + 36

/** Returns the number of drift checks started at or after this time. */
export const startedSince = Effect.fn("startedSince")(function* (since: string) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{
    n: number
  }>`SELECT COUNT(*) AS n FROM runs WHERE type = 'drift_check' AND created_at >= ${since}`
  return row?.n ?? 0
})

/**
 * Returns the Capsules whose newest check is older than the schedule allows; new Capsules may still be waiting for their
 * first check.
 */
export const driftFaults = Effect.fn("driftFaults")(function* (now: number, month: number) {
  const sql = yield* SqlClient.SqlClient
  const latest = new Date(now - latestHours * hourMillis).toISOString()
  const late = yield* sql<{ id: string; at: string | null }>`SELECT c.id, (SELECT MAX(r.created_at) FROM runs r
      WHERE r.capsule_id = c.id AND r.type = 'drift_check') AS at
    FROM capsules c WHERE c.status IN ('active', 'stale', 'error') AND c.created_at < ${latest}`
  const overdue = late.filter(({ at }) => at === null || at < latest)
  return overdue.length === 0
    ? []
    : [
        `${overdue.length} of ${late.length} Capsules were not checked in time in month ${month + 1}: ${JSON.stringify(overdue[0])}`
      ]
})
