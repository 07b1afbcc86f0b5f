import { Clock, Effect, Fiber, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Audit } from "../../../../actors/audit/Audit.ts"
import { serviceContext } from "../../../../actors/Command.ts"
import { releaseEmptyPages } from "../../../../actors/database/EmptyPages.ts"
import { rowShape } from "../../../../actors/database/Table.ts"
import { LogRemoval } from "../../../../actors/run/LogRemoval.ts"
import { newPerson, newWorkspace, testAccounts } from "../../../support/Accounts.ts"

const linesOfChunk = 50
const line = `{"seq":1,"at":"2020-01-01T00:00:00.000Z","phase":"apply","stream":"stdout","text":"${"x".repeat(80)}"}`
/** Rows of one insert: a transaction of millions would need as much memory. */
const rowsAtOnce = 20_000
const long = "2020-01-01T00:00:00.000Z"
const nanosOfMilli = 1e6

const Count = rowShape({ count: Schema.Int })

export interface PruneSize {
  readonly runs: number
  readonly lines: number
}

/** An installation after years: ended Runs of two Workspaces with long logs, every hundredth Run a plan that still waits. */
const fill = Effect.fnUntraced(function* ({ lines, runs }: PruneSize) {
  const sql = yield* SqlClient.SqlClient
  const owner = yield* newPerson("years")
  const one = yield* newWorkspace(owner.subject, { handle: "one" })
  const two = yield* newWorkspace(owner.subject, { handle: "two" })
  const chunks = Math.ceil(lines / runs / linesOfChunk)
  const entries = `[${Array.from({ length: linesOfChunk }, () => line).join(",")}]`
  for (let from = 0; from < runs; from += rowsAtOnce) {
    const to = Math.min(runs, from + rowsAtOnce)
    yield* sql`WITH RECURSIVE n (i) AS (SELECT ${from} UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ${to})
      INSERT INTO runs (id, workspace_id, type, status, requires_approval, trigger_kind, attempt, spec, evidence,
        created_at, queued_at, started_at, finished_at, log_ended_at, last_log_seq)
      SELECT 'run_' || printf('%024d', i), CASE WHEN i % 2 = 0 THEN ${one.id} ELSE ${two.id} END, 'plan',
        CASE WHEN i % 100 = 0 THEN 'waiting_approval' ELSE 'superseded' END,
        1, 'user', 1, '{}', '{}', ${long}, ${long}, ${long}, ${long}, ${long}, ${chunks * linesOfChunk} FROM n`
  }
  const step = Math.max(1, Math.floor(rowsAtOnce / 20 / chunks))
  for (let from = 0; from < runs; from += step) {
    yield* sql`WITH RECURSIVE c (k) AS (SELECT 0 UNION ALL SELECT k + 1 FROM c WHERE k + 1 < ${chunks}),
        n (i) AS (SELECT ${from} UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ${Math.min(runs, from + step)})
      INSERT INTO run_log_chunks (run_id, first_seq, last_seq, bytes, entries)
      SELECT 'run_' || printf('%024d', i), k * ${linesOfChunk} + 1, (k + 1) * ${linesOfChunk}, ${entries.length}, ${entries}
      FROM n CROSS JOIN c`
  }
  return one.id
})

/** Removes the logs of such an installation beside a writer that commits as often as it can. */
export const pruneBesideTraffic = (size: PruneSize) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const audit = yield* Audit
    const removal = yield* LogRemoval
    const workspaceId = yield* fill(size)
    const surveyed = yield* removal.survey
    const waits: Array<number> = []
    const write = Effect.gen(function* () {
      const begun = yield* Clock.currentTimeNanos
      const { actor } = serviceContext
      yield* sql.withTransaction(
        audit.append({ workspaceId, actor, action: "bench.write", target: { kind: "thing", id: "1" } })
      )
      waits.push(Number((yield* Clock.currentTimeNanos) - begun) / nanosOfMilli)
      yield* Effect.sleep("1 millis")
    })
    const alone = yield* Effect.forkChild(Effect.forever(write))
    yield* Effect.sleep("1 second")
    yield* Fiber.interrupt(alone)
    const waitsAlone = waits.splice(0)
    const traffic = yield* Effect.forkChild(Effect.forever(write))
    const begun = yield* Clock.currentTimeMillis
    const removed = yield* removal.removeAll
    yield* releaseEmptyPages
    const millis = (yield* Clock.currentTimeMillis) - begun
    yield* Fiber.interrupt(traffic)
    const [writes] = yield* Count.rows(sql)`SELECT COUNT(*) AS count FROM audit_events WHERE action = 'bench.write'`
    const [logged] = yield* Count.rows(sql)`SELECT COUNT(DISTINCT run_id) AS count FROM run_log_chunks`
    return { surveyed, removed, millis, waitsAlone, waits, writes: writes?.count, logged: logged?.count }
  }).pipe(Effect.provide(Layer.fresh(LogRemoval.layer.pipe(Layer.provideMerge(testAccounts)))), Effect.scoped)
