import { Effect, Layer, Schema } from "effect"
import { EarlierData, RunEventKind, type RunLogEntry } from "../../../schema/events/RunEvent.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { isFinalStatus } from "../../../schema/records/RunTransitions.ts"
import { ReadSql } from "../../base/database/ReadSql.ts"
import { RunJournal } from "../../ledger/run/RunJournal.ts"
import { LogEntriesJson, RunLogChunkRow } from "../../ledger/run/RunLogs.ts"
import { RunRow } from "../../ledger/run/RunRow.ts"
import { RunStreams } from "../../ledger/run/Runs.ts"
import type { RunId } from "../../../schema/records/Ids.ts"

/** Accepts any contents, because an earlier release may have stored the events. They are returned unchanged. */
const decodeEvents = Schema.decodeUnknownEffect(
  Schema.Array(
    Schema.Struct({
      seq: Schema.Int,
      at: Timestamp,
      kind: RunEventKind,
      data: Schema.fromJsonString(EarlierData)
    })
  )
)

/**
 * Reads the stored sequences of events and log lines. Reads the end before the entries, so that `done` is never reported
 * before the last entry.
 */
export const layer = Layer.effect(
  RunStreams,
  Effect.gen(function* () {
    const sql = yield* ReadSql
    const journal = yield* RunJournal

    const statusOf = (id: RunId) =>
      Effect.map(RunRow.some(sql, "status")`SELECT status FROM runs WHERE id = ${id}`, (rows) => rows[0]?.status)

    /** Returns true while more lines may follow: the Run may still start, or its execution has not written its last line. */
    const isLogOpen = (id: RunId) =>
      Effect.map(
        sql`SELECT 1 AS one FROM runs WHERE id = ${id} AND (status IN ('queued', 'running')
          OR (started_at IS NOT NULL AND log_ended_at IS NULL))`,
        (rows) => rows.length > 0
      )

    const events = Effect.fn("RunStreams.events")(function* (id: RunId, after: number, limit: number) {
      const status = yield* statusOf(id)
      const rows = yield* sql`SELECT seq, at, kind, data FROM run_events
        WHERE run_id = ${id} AND seq > ${after} ORDER BY seq LIMIT ${limit}`
      const items = yield* decodeEvents(rows)
      const last = items[items.length - 1]
      return {
        items,
        nextAfter: last?.seq ?? after,
        done: items.length < limit && (status === undefined || isFinalStatus(status))
      }
    }, Effect.orDie)

    const logs = Effect.fn("RunStreams.logs")(function* (id: RunId, after: number, limit: number) {
      const open = yield* isLogOpen(id)
      const items: Array<RunLogEntry> = []
      let from = after
      let exhausted = false
      // Reads a few rows at a time, because a row contains many lines.
      while (items.length < limit && !exhausted) {
        const chunks = yield* RunLogChunkRow.some(sql, "entries")`SELECT entries FROM run_log_chunks
          WHERE run_id = ${id} AND last_seq > ${from}
          AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.id = ${id} AND r.log_removed_at IS NOT NULL)
          ORDER BY first_seq LIMIT 8`
        exhausted = chunks.length < 8
        for (const chunk of chunks) {
          for (const entry of LogEntriesJson.read(chunk.entries)) {
            if (entry.seq <= from) continue
            if (items.length >= limit) break
            items.push(entry)
            from = entry.seq
          }
        }
      }
      return { items, nextAfter: from, done: items.length < limit && !open }
    }, Effect.orDie)

    return RunStreams.of({ events, logs, listen: (id, listener) => journal.listen(id, listener) })
  })
)
