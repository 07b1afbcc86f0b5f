import { Context, Effect, Layer, Schema, type Scope, Semaphore } from "effect"
import { SqlClient } from "effect/sql"
import { type LogStream, RunLogEntry, type RunPhase } from "../../schema/events/RunEvent.ts"
import { now } from "../Identity.ts"
import { RunJournal } from "./RunJournal.ts"

/** Where the lines of one running Run go. */
export interface RunLog {
  /** Takes a line that is already redacted. Returns once it is buffered; waits when the buffer is full. */
  readonly write: (phase: RunPhase, stream: LogStream, text: string) => Effect.Effect<void>
  readonly flush: Effect.Effect<void>
}

/** A batch is written when it is this large or this old, whichever comes first. */
const batchBytes = 64 * 1024
const batchMillis = 20

const ChunkJson = Schema.fromJsonString(Schema.Array(RunLogEntry))
export const decodeChunk = Schema.decodeUnknownEffect(ChunkJson)

/**
 * The log sequence of each Run, written in batches so that a noisy Run costs the ledger few transactions. Lines are
 * numbered without gaps; a Run that is started again goes on where it left off.
 */
export class RunLogs extends Context.Service<
  RunLogs,
  { readonly open: (runId: string) => Effect.Effect<RunLog, never, Scope.Scope> }
>()("svc/actors/run/RunLogs") {
  static readonly layer = Layer.effect(
    RunLogs,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const journal = yield* RunJournal

      const open = Effect.fnUntraced(function* (runId: string) {
        const last = yield* sql<{ seq: number | null }>`
          SELECT MAX(last_seq) AS seq FROM run_log_chunks WHERE run_id = ${runId}`.pipe(Effect.orDie)
        const writing = yield* Semaphore.make(1)
        const scope = yield* Effect.scope
        let written = last[0]?.seq ?? 0
        let pending: Array<RunLogEntry> = []
        let pendingBytes = 0
        let timerArmed = false

        const store = Effect.fnUntraced(function* () {
          if (pending.length === 0) return
          const entries = pending
          const bytes = pendingBytes
          pending = []
          pendingBytes = 0
          const first = entries[0]
          const end = entries[entries.length - 1]
          if (first === undefined || end === undefined) return
          yield* sql`INSERT INTO run_log_chunks ${sql.insert({
            run_id: runId,
            first_seq: first.seq,
            last_seq: end.seq,
            bytes,
            entries: JSON.stringify(entries)
          })}`
          journal.wake(runId)
        }, Effect.orDie)

        const flush = writing.withPermits(1)(Effect.suspend(store))

        const write = Effect.fnUntraced(function* (phase: RunPhase, stream: LogStream, text: string) {
          const at = yield* now
          written += 1
          pending.push({ seq: written, at, phase, stream, text })
          pendingBytes += text.length + 96
          if (pendingBytes >= batchBytes) return yield* flush
          if (timerArmed) return
          timerArmed = true
          yield* Effect.sleep(batchMillis).pipe(
            Effect.andThen(
              Effect.sync(() => {
                timerArmed = false
              })
            ),
            Effect.andThen(flush),
            Effect.forkIn(scope)
          )
        })

        yield* Effect.addFinalizer(() => flush)
        return { write, flush }
      })

      return RunLogs.of({ open })
    })
  )
}
