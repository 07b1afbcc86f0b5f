import { Clock, Duration, Effect, Fiber, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Audit } from "../../../../../actors/base/audit/Audit.ts"
import { AuditRemoval, AuditRetention } from "../../../../../actors/base/audit/AuditRemoval.ts"
import { serviceContext } from "../../../../../schema/commands/Command.ts"
import { releaseEmptyPages } from "../../../../../actors/base/database/EmptyPages.ts"
import { rowShape } from "../../../../../actors/base/database/Table.ts"
import { RecordRemoval } from "../../../../../actors/upkeep/retention/RecordRemoval.ts"
import { LogRemoval } from "../../../../../actors/ledger/run/LogRemoval.ts"
import { newPerson, newWorkspace, testAccounts } from "../../../../support/Accounts.ts"

const linesOfChunk = 50
const eventsOfRun = 5
const line = `{"seq":1,"at":"2020-01-01T00:00:00.000Z","phase":"apply","stream":"stdout","text":"${"x".repeat(80)}"}`
/** Rows per insert, because a transaction with millions of rows would need too much memory. */
const rowsAtOnce = 20_000
const long = "2020-01-01T00:00:00.000Z"
const nanosOfMilli = 1e6
const notesAtOnce = 500

const Count = rowShape({ count: Schema.Int })

export interface PruneSize {
  readonly runs: number
  readonly lines: number
}

/**
 * An installation after years of use: two Workspaces with finished Runs and long logs, where every hundredth Run is a plan that
 * awaits approval.
 */
export const fillYears = Effect.fnUntraced(function* ({ lines, runs }: PruneSize) {
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
  for (let from = 0; from < runs; from += rowsAtOnce) {
    const to = Math.min(runs, from + rowsAtOnce)
    yield* sql`WITH RECURSIVE n (i) AS (SELECT ${from} UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ${to}),
        e (k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM e WHERE k < ${eventsOfRun})
      INSERT INTO run_events (run_id, seq, at, kind, data)
      SELECT 'run_' || printf('%024d', i), k, ${long}, 'run.phase', '{"phase":"plan"}' FROM n CROSS JOIN e`
  }
  return one.id
})

/** How long another writer waited for each of its commits, in milliseconds, while one kind of record was removed. */
export interface PrunePhase {
  readonly of: "alone" | "logs" | "records" | "history"
  readonly waits: ReadonlyArray<number>
}

const prunings = Layer.mergeAll(
  LogRemoval.layer,
  RecordRemoval.layer,
  AuditRemoval.layer.pipe(Layer.provide(Layer.succeed(AuditRetention, Duration.millis(1))))
)

/**
 * Fills an installation with years of records and removes all removable records, while a writer commits as often as
 * possible.
 */
export const pruneBesideTraffic = (size: PruneSize) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const audit = yield* Audit
    const logs = yield* LogRemoval
    const records = yield* RecordRemoval
    const history = yield* AuditRemoval
    const workspaceId = yield* fillYears(size)
    const surveyed = yield* logs.survey
    const note = (action: string) =>
      audit.append({ workspaceId, actor: serviceContext.actor, action, target: { kind: "thing", id: "1" } })
    let waits: Array<number> = []
    const write = Effect.gen(function* () {
      const begun = yield* Clock.currentTimeNanos
      yield* sql.withTransaction(note("bench.write"))
      waits.push(Number((yield* Clock.currentTimeNanos) - begun) / nanosOfMilli)
      yield* Effect.sleep("1 millis")
    })
    const phases: Array<PrunePhase> = []
    const beside = Effect.fnUntraced(function* <A, E, R>(of: PrunePhase["of"], work: Effect.Effect<A, E, R>) {
      waits = []
      const traffic = yield* Effect.forkChild(Effect.forever(write))
      const done = yield* work
      yield* Fiber.interrupt(traffic)
      phases.push({ of, waits })
      return done
    })
    yield* beside("alone", Effect.sleep("1 second"))
    const removed = yield* beside("logs", Effect.tap(logs.removeAll, releaseEmptyPages))
    const logged = yield* Count.rows(sql)`SELECT COUNT(DISTINCT run_id) AS count FROM run_log_chunks`
    const gone = yield* beside("records", records.removeAll)
    const writes = yield* Count.rows(sql)`SELECT COUNT(*) AS count FROM audit_events WHERE action = 'bench.write'`
    const committed = phases.reduce((sum, phase) => sum + phase.waits.length, 0)
    // Writes as many events as there are Runs, so that the writer has time to commit while the history is removed.
    for (let from = 0; from < size.runs; from += notesAtOnce) {
      yield* sql.withTransaction(Effect.replicateEffect(note("bench.past"), notesAtOnce, { discard: true }))
    }
    const past = yield* beside("history", history.removeAll)
    return {
      surveyed,
      removed,
      gone,
      past,
      phases,
      lost: committed - (writes[0]?.count ?? 0),
      logged: logged[0]?.count,
      left: (yield* Count.rows(sql)`SELECT COUNT(*) AS count FROM runs`)[0]?.count
    }
  }).pipe(Effect.provide(Layer.fresh(prunings.pipe(Layer.provideMerge(testAccounts)))), Effect.scoped)
