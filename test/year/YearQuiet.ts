import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { ReadSql } from "../../actors/base/database/ReadSql.ts"
import { marks } from "../support/NothingDue.ts"
import type { YearClock } from "./YearClock.ts"

/** The maximum number of polls before the installation must be idle, far more than any work needs. */
const mostLooks = 200_000
/** The number of polls after which time advances, so that work that is waiting for its next attempt can continue. */
const looksWithoutTime = 40

interface Busy {
  readonly running: number
  readonly waiting: number
}

/**
 * Waits until no more work is due at the current time. Time does not advance while a program executes a Run, even on a slow
 * machine.
 */
export const quiet = Effect.fn("quiet")(function* (time: YearClock) {
  const read = yield* ReadSql
  for (let looks = 1; looks <= mostLooks; looks++) {
    const [busy] = yield* read<Busy>`SELECT
      (SELECT COUNT(*) FROM runs WHERE status = 'running') AS running,
      (SELECT COUNT(*) FROM runs WHERE status = 'queued') + (SELECT COUNT(*) FROM (${read.literal(marks)}))
        + (SELECT COUNT(*) FROM run_groups WHERE finished_at IS NULL AND type = 'update' AND moved <> seen) AS waiting`
    if (busy === undefined || busy.running + busy.waiting === 0) return
    yield* Effect.promise(() => Bun.sleep(1))
    if (busy.running === 0 && looks % looksWithoutTime === 0) yield* time.pass("500 millis")
  }
  const sql = yield* SqlClient.SqlClient
  const runs = yield* sql`SELECT id, type, status, capsule_id FROM runs WHERE status IN ('queued', 'running') LIMIT 5`
  const due = yield* sql`${sql.literal(marks)} LIMIT 5`
  return yield* Effect.die(new Error(`Work does not end: ${JSON.stringify({ runs, due })}`))
}, Effect.orDie)
