import { Context, Effect, Layer, Schema, type Scope, Semaphore } from "effect"
import { SqlClient } from "effect/sql"
import { type LogStream, RunLogEntry, type RunPhase } from "../../schema/events/RunEvent.ts"
import { now } from "../Identity.ts"
import { RunJournal } from "./RunJournal.ts"
import { RunSettings } from "./RunSettings.ts"

/** Where the lines of one running Run go. */
export interface RunLog {
  /** Takes a line that is already redacted. Returns once it is buffered; waits when the buffer is full. */
  readonly write: (phase: RunPhase, stream: LogStream, text: string) => Effect.Effect<void>
  readonly flush: Effect.Effect<void>
}

/** A batch is written when it is this large or this old, whichever comes first. */
const batchBytes = 64 * 1024
const batchMillis = 20
/** While the database refuses, lines wait here for it; what comes on top is dropped, and the log says how much. */
const mostWaitingBytes = 2 * 1024 * 1024

/** What is told last is most often why a Run ended. */
const mostLastBytes = 256 * 1024
/** What a line costs beside its text. */
const lineBytes = 96

const ChunkJson = Schema.fromJsonString(Schema.Array(RunLogEntry))
export const decodeChunk = Schema.decodeUnknownEffect(ChunkJson)

type Line = Omit<RunLogEntry, "seq">

/**
 * The log sequence of each Run, written in batches so that a noisy Run costs the ledger few transactions. Lines are
 * numbered without gaps; a Run that is started again goes on where it left off. Of a log beyond the limit of the settings
 * the last lines follow when the Run ends: no Run may fill the disk on which others keep their states.
 */
export class RunLogs extends Context.Service<
  RunLogs,
  {
    readonly open: (runId: string) => Effect.Effect<RunLog, never, Scope.Scope>
    /** Whether lines of this Run may still come, whatever its status says already. */
    readonly isOpen: (runId: string) => boolean
  }
>()("svc/actors/run/RunLogs") {
  static readonly layer = Layer.effect(
    RunLogs,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const journal = yield* RunJournal
      const { mostLogBytes } = yield* RunSettings
      const opened = new Set<string>()

      const open = Effect.fnUntraced(function* (runId: string) {
        const last = yield* sql<{ seq: number | null; bytes: number | null }>`
          SELECT MAX(last_seq) AS seq, SUM(bytes) AS bytes FROM run_log_chunks WHERE run_id = ${runId}`.pipe(
          Effect.orDie
        )
        const writing = yield* Semaphore.make(1)
        const scope = yield* Effect.scope
        let stored = last[0]?.seq ?? 0
        let pending: Array<Line> = []
        let pendingBytes = 0
        let dropped = 0
        let timerArmed = false
        let taken = last[0]?.bytes ?? 0
        let lastLines: Array<Line> = []
        let lastBytes = 0
        let leftOut = 0

        const insert = Effect.fnUntraced(function* (lines: ReadonlyArray<Line>, bytes: number) {
          const entries = lines.map((line, index): RunLogEntry => ({ seq: stored + 1 + index, ...line }))
          yield* sql`INSERT INTO run_log_chunks ${sql.insert({
            run_id: runId,
            first_seq: stored + 1,
            last_seq: stored + lines.length,
            bytes,
            entries: JSON.stringify(entries)
          })}`
          stored += lines.length
          journal.wake(runId)
        })

        const store = Effect.suspend(() => {
          if (pending.length === 0) return Effect.void
          const lines = pending
          const bytes = pendingBytes
          pending = []
          pendingBytes = 0
          return insert(lines, bytes).pipe(
            Effect.tap(() => noteDropped),
            Effect.catch((error) =>
              Effect.andThen(
                Effect.sync(() => {
                  pending = [...lines, ...pending]
                  pendingBytes += bytes
                }),
                Effect.logWarning("Lines of a Run could not be written and wait.", error)
              )
            )
          )
        })

        const noteDropped = Effect.gen(function* () {
          if (dropped === 0) return
          const text = `${dropped} lines were lost here: the database could not be written.`
          dropped = 0
          pending.unshift({ at: yield* now, phase: "state", stream: "system", text })
        })

        const flush = Effect.uninterruptible(writing.withPermits(1)(store))

        const holdBack = (line: Line) => {
          lastLines.push(line)
          lastBytes += line.text.length + lineBytes
          while (lastBytes > mostLastBytes) {
            lastBytes -= (lastLines.shift()?.text.length ?? 0) + lineBytes
            leftOut += 1
          }
        }

        const writeHeldBack = Effect.gen(function* () {
          if (lastLines.length === 0) return
          if (leftOut > 0) {
            const text = `${leftOut} lines were left out here: the log of a Run keeps its first ${mostLogBytes} bytes and its last lines.`
            pending.push({ at: yield* now, phase: lastLines[0]?.phase ?? "state", stream: "system", text })
          }
          pending.push(...lastLines)
          pendingBytes += lastBytes
          lastLines = []
          lastBytes = 0
        })

        const write = Effect.fnUntraced(function* (phase: RunPhase, stream: LogStream, text: string) {
          taken += text.length + lineBytes
          if (taken > mostLogBytes) return holdBack({ at: yield* now, phase, stream, text })
          if (pendingBytes >= mostWaitingBytes) {
            dropped += 1
            return
          }
          pending.push({ at: yield* now, phase, stream, text })
          pendingBytes += text.length + lineBytes
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

        yield* Effect.acquireRelease(
          Effect.sync(() => opened.add(runId)),
          () =>
            Effect.andThen(
              Effect.andThen(writeHeldBack, flush),
              Effect.sync(() => {
                opened.delete(runId)
                // Readers that waited for the last line are told now that it was the last.
                journal.wake(runId)
              })
            )
        )
        return { write, flush }
      })

      return RunLogs.of({ open, isOpen: (runId) => opened.has(runId) })
    })
  )
}
