import { Effect, Schema } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import type { CapsuleUsage } from "./Capsules.ts"
import { rowShape } from "../../base/database/Table.ts"
import { RunRow } from "../../ledger/run/RunRow.ts"

/** The sum over zero rows is null. */
const Bytes = rowShape({ bytes: Schema.NullOr(Schema.Int) })

const minutes = (run: Pick<RunRow, "started_at" | "finished_at">): number =>
  run.started_at === null || run.finished_at === null
    ? 0
    : (Date.parse(run.finished_at) - Date.parse(run.started_at)) / 60_000

/** The usage of a Capsule, or of a whole Workspace. Times come from the ledger, sizes from the stored data. */
export const usageOf = Effect.fn("Capsules.usage")(function* (sql: SqlClient.SqlClient, scope: Statement.Fragment) {
  const runs = yield* RunRow.some(
    sql,
    "type",
    "started_at",
    "finished_at"
  )`SELECT type, started_at, finished_at FROM runs
      WHERE ${scope} AND quiet = 0 AND finished_at IS NOT NULL`
  const states = yield* Bytes.rows(sql)`SELECT SUM(size_bytes) AS bytes FROM (
    SELECT size_bytes FROM state_versions WHERE ${scope}
    UNION ALL SELECT size_bytes FROM left_over_states WHERE ${scope} AND state IS NOT NULL)`
  const logs = yield* Bytes.rows(sql)`SELECT SUM(bytes) AS bytes FROM run_log_chunks
    WHERE run_id IN (SELECT id FROM runs WHERE ${scope} AND quiet = 0)`
  const runMinutes = runs.reduce((sum, run) => sum + minutes(run), 0)
  return {
    runMinutes: Math.round(runMinutes * 100) / 100,
    applies: runs.filter((run) => run.type === "apply" || run.type === "destroy_apply").length,
    stateBytes: states[0]?.bytes ?? 0,
    logBytes: logs[0]?.bytes ?? 0
  } satisfies CapsuleUsage
}, Effect.orDie)
