import { Context, Effect, Layer, Schedule, Schema, type Scope, Semaphore } from "effect"
import { SqlClient } from "effect/sql"
import { type LogStream, RunLogEntry, type RunPhase } from "../../../schema/events/RunEvent.ts"
import { rowShape, table } from "../../base/database/Table.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { now } from "../../base/Identity.ts"
import type { HoldLost, RunHold } from "./RunHold.ts"
import { RunJournal } from "./RunJournal.ts"
import { logBatch } from "./RunSequences.ts"
import { SharedDatabase } from "../../base/node/Nodes.ts"
import { withoutWriteLock } from "../../base/database/WriteLock.ts"
import { RunSettings } from "./RunSettings.ts"
import { RunId } from "../../../schema/records/Ids.ts"
import { jsonText } from "../../base/database/StoredRecord.ts"

export const LogEntriesJson = jsonText(Schema.Array(RunLogEntry))

/** The lines `first_seq` to `last_seq` of a Run's log. */
export const RunLogChunkRow = table("run_log_chunks", {
  run_id: RunId,
  first_seq: Schema.Int,
  last_seq: Schema.Int,
  bytes: Schema.Int,
  entries: LogEntriesJson
})

/** Writes the log of one running Run. */
export interface RunLog {
  /**
   * Writes a redacted line. Returns as soon as the line is buffered. If the buffer is full, drops the line and counts it.
   */
  readonly write: (phase: RunPhase, stream: LogStream, text: string) => Effect.Effect<void, HoldLost>
  readonly flush: Effect.Effect<void, HoldLost>
}

/** A batch is written when it reaches this size or this age, whichever comes first. */
const batchBytes = 64 * 1024
const batchMillis = 20
/** With other servers, each batch takes several round trips to the database, and wakes readers at every server. */
const sharedBatchMillis = 200
/** Size of the buffer for lines while the database refuses writes. The log reports the number of lines that did not fit. */
const mostWaitingBytes = 2 * 1024 * 1024

/** Space reserved for the last lines, which usually explain why a Run ended. */
const mostLastBytes = 256 * 1024
/** Estimated number of bytes that each line needs in addition to its text. */
const lineBytes = 96

const Owner = rowShape({ owner: Schema.NullOr(Schema.String) })
const LogSize = rowShape({ bytes: Schema.NullOr(Schema.Int), batch: Schema.NullOr(Schema.Int) })

type Line = Omit<RunLogEntry, "seq">

/** Lines that are stored together. `endedAt` is set on the last batch of a log. */
interface LogBatch {
  readonly number: number
  readonly lines: ReadonlyArray<Line>
  readonly bytes: number
  readonly endedAt: string | null
}

const endAgain = Schedule.spaced("5 seconds")

/**
 * The log of each Run, written in batches so that a noisy Run causes few transactions. Line numbers have no gaps, and a
 * restarted Run continues them. Once a log exceeds its limit, nothing is added to it until the Run ends; then only the Run's
 * last lines are added. Otherwise a Run could fill the disk, which also holds the states.
 */
export class RunLogs extends Context.Service<
  RunLogs,
  {
    /** Opens the log for one execution. The log is closed when the scope closes. */
    readonly open: (hold: RunHold) => Effect.Effect<RunLog, never, Scope.Scope>
    /** Stores a batch of lines from an agent. Ignores a repeated batch, and drops lines beyond the log's limit. */
    readonly receive: (
      hold: RunHold,
      number: number,
      lines: ReadonlyArray<Omit<RunLogEntry, "seq">>
    ) => Effect.Effect<void, HoldLost>
    /** Closes logs that executions of gone servers left open. A server that still runs may be writing the last lines of its Runs. */
    readonly endAbandoned: (isGone: (owner: string | null) => Effect.Effect<boolean>) => Effect.Effect<void>
  }
>()("svc/actors/ledger/run/RunLogs") {
  static readonly layer = Layer.effect(
    RunLogs,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const journal = yield* RunJournal
      const { mostLogBytes } = yield* RunSettings
      const batchAge = (yield* SharedDatabase) ? sharedBatchMillis : batchMillis
      const layerScope = yield* Effect.scope

      const sizeOf = ({ fence, runId }: RunHold) =>
        LogSize.rows(sql)`SELECT (SELECT SUM(bytes) FROM run_log_chunks WHERE run_id = ${runId}) AS bytes,
          (SELECT last_log_batch FROM runs WHERE id = ${runId} AND fence = ${fence}) AS batch`

      const receive = Effect.fn("RunLogs.receive")(
        function* (hold: RunHold, number: number, lines: ReadonlyArray<Omit<RunLogEntry, "seq">>) {
          const [size] = yield* sizeOf(hold)
          const taken = size?.bytes ?? 0
          let bytes = 0
          const kept: Array<Line> = []
          for (const line of lines) {
            const more = line.text.length + lineBytes
            if (taken + bytes + more > mostLogBytes) break
            bytes += more
            kept.push(line)
          }
          if (kept.length < lines.length && taken <= mostLogBytes) {
            const text = `The log of a Run keeps its first ${mostLogBytes} bytes: lines were left out from here on.`
            const at = yield* now
            kept.push({ at, phase: lines[kept.length]?.phase ?? "state", stream: "system", text })
            // Sets the size to one byte more than the limit, so that the notice about omitted lines is written only once.
            bytes = mostLogBytes - taken + 1
          }
          const last = yield* logBatch(sql, hold, { number, count: kept.length }, null)
          if (last === undefined || kept.length === 0) return
          yield* sql`INSERT INTO run_log_chunks ${RunLogChunkRow.values(sql, {
            run_id: hold.runId,
            first_seq: last + 1,
            last_seq: last + kept.length,
            bytes,
            entries: LogEntriesJson.write(kept.map((line, index): RunLogEntry => ({ seq: last + 1 + index, ...line })))
          })}`
          yield* sql.afterCommit(Effect.sync(() => journal.wake(hold.runId)))
          // The statements compare the hold and the batch's number, so they need no lock.
        },
        transaction(sql),
        withoutWriteLock
      )

      const open = Effect.fnUntraced(function* (hold: RunHold) {
        const { runId } = hold
        const [earlier] = yield* Effect.orDie(sizeOf(hold))
        const writing = yield* Semaphore.make(1)
        const scope = yield* Effect.scope
        let pending: Array<Line> = []
        let pendingBytes = 0
        // A batch whose write failed. It is sent again unchanged, because the database may have stored it despite the error.
        let unsent: LogBatch | undefined
        // Continues the numbering of batches that an agent has already written under this fence.
        let batches = earlier?.batch ?? 0
        let lost: HoldLost | undefined
        let dropped = 0
        let timerArmed = false
        let taken = earlier?.bytes ?? 0
        let lastLines: Array<Line> = []
        let lastBytes = 0
        let leftOut = 0

        const store = Effect.fnUntraced(
          function* ({ bytes, endedAt, lines, number }: LogBatch) {
            const last = yield* logBatch(sql, hold, { number, count: lines.length }, endedAt)
            if (last === undefined || lines.length === 0) return
            const entries = lines.map((line, index): RunLogEntry => ({ seq: last + 1 + index, ...line }))
            yield* sql`INSERT INTO run_log_chunks ${RunLogChunkRow.values(sql, {
              run_id: runId,
              first_seq: last + 1,
              last_seq: last + lines.length,
              bytes,
              entries: LogEntriesJson.write(entries)
            })}`
          },
          sql.withTransaction,
          withoutWriteLock
        )

        const send = Effect.fnUntraced(function* (batch: LogBatch) {
          unsent = batch
          yield* store(batch)
          unsent = undefined
          journal.wake(runId)
        })

        /** Moves everything pending into the next batch. */
        const nextBatch = (endedAt: string | null): LogBatch => {
          batches += 1
          const batch = { number: batches, lines: pending, bytes: pendingBytes, endedAt }
          pending = []
          pendingBytes = 0
          return batch
        }

        /**
         * Adds lines to the next batch. Callers must read the time before they call it, because a flush could run while the
         * time is being read.
         */
        const add = (...lines: ReadonlyArray<Line>) => {
          pending.push(...lines)
          for (const { text } of lines) pendingBytes += text.length + lineBytes
        }

        /**
         * Reports dropped lines. Called before the first line after the dropped lines, so that the notice is in the right
         * place.
         */
        const noteDropped = (at: string) => {
          if (dropped === 0) return
          const text = `${dropped} lines were lost here: the database could not be written.`
          dropped = 0
          add({ at, phase: "state", stream: "system", text })
        }

        /** Adds the last lines of a log that exceeds its limit, after a notice with the number of omitted lines. */
        const addHeldBack = (at: string) => {
          if (leftOut > 0) {
            const text = `${leftOut} lines were left out here: the log of a Run keeps its first ${mostLogBytes} bytes and its last lines.`
            add({ at, phase: lastLines[0]?.phase ?? "state", stream: "system", text })
          }
          add(...lastLines)
          lastLines = []
          lastBytes = 0
          leftOut = 0
        }

        const sendAll = Effect.gen(function* () {
          if (unsent !== undefined) yield* send(unsent)
          if (pending.length > 0) yield* send(nextBatch(null))
        })

        const sendLast = Effect.gen(function* () {
          if (unsent !== undefined) {
            const isLast = unsent.endedAt !== null
            yield* send(unsent)
            if (isLast) return
          }
          const at = yield* now
          noteDropped(at)
          addHeldBack(at)
          yield* send(nextBatch(at))
        })

        /** Discards everything buffered, because nothing can be written after the hold is lost. */
        const dropAll = (error: HoldLost) =>
          Effect.suspend(() => {
            lost = error
            unsent = undefined
            pending = []
            pendingBytes = 0
            return Effect.fail(error)
          })

        const flush = Effect.suspend(() => (lost === undefined ? sendAll : Effect.fail(lost))).pipe(
          Effect.catchTags({
            HoldLost: dropAll,
            SqlError: (error) => Effect.logWarning("Lines of a Run could not be written and wait.", error)
          }),
          writing.withPermits(1),
          Effect.uninterruptible
        )

        const holdBack = (line: Line) => {
          lastLines.push(line)
          lastBytes += line.text.length + lineBytes
          while (lastBytes > mostLastBytes) {
            lastBytes -= (lastLines.shift()?.text.length ?? 0) + lineBytes
            leftOut += 1
          }
        }

        /** Schedules a flush, unless one is already scheduled. */
        const flushSoon = Effect.suspend(() => {
          if (timerArmed) return Effect.void
          timerArmed = true
          return Effect.sleep(batchAge).pipe(
            Effect.andThen(
              Effect.sync(() => {
                timerArmed = false
              })
            ),
            Effect.andThen(flush),
            Effect.ignore,
            Effect.forkIn(scope)
          )
        })

        const write = Effect.fnUntraced(function* (phase: RunPhase, stream: LogStream, text: string) {
          const at = yield* now
          if (lost !== undefined) return yield* lost
          taken += text.length + lineBytes
          if (taken > mostLogBytes) return holdBack({ at, phase, stream, text })
          if (pendingBytes + (unsent?.bytes ?? 0) >= mostWaitingBytes) {
            dropped += 1
            return yield* flushSoon
          }
          noteDropped(at)
          add({ at, phase, stream, text })
          yield* pendingBytes >= batchBytes ? flush : flushSoon
        })

        /**
         * Closes the log and notifies the readers waiting for its end. If the database refuses the write, retries in the
         * background; the next process closes logs that a shutdown left open.
         */
        const close = Effect.suspend(() =>
          lost === undefined
            ? writing
                .withPermits(1)(sendLast)
                .pipe(
                  Effect.catchTag("HoldLost", () => Effect.void),
                  Effect.catchTag("SqlError", (error) =>
                    Effect.andThen(
                      Effect.logWarning("The log of a Run could not be ended. It is tried again.", error),
                      writing
                        .withPermits(1)(sendLast)
                        .pipe(
                          Effect.retry({ schedule: endAgain, while: ({ _tag }) => _tag === "SqlError" }),
                          Effect.ignore,
                          Effect.interruptible,
                          Effect.forkIn(layerScope)
                        )
                    )
                  ),
                  Effect.asVoid
                )
            : Effect.void
        )
        yield* Effect.addFinalizer(() => close)
        return { write, flush }
      })

      const endAbandoned = Effect.fn("RunLogs.endAbandoned")(function* (
        isGone: (owner: string | null) => Effect.Effect<boolean>
      ) {
        const open = sql`started_at IS NOT NULL AND log_ended_at IS NULL AND status NOT IN ('queued', 'running')`
        const owners = yield* Owner.rows(sql)`SELECT DISTINCT owner FROM runs WHERE ${open}`
        for (const { owner } of owners) {
          if (!(yield* isGone(owner))) continue
          yield* sql`UPDATE runs SET log_ended_at = ${yield* now} WHERE owner IS NOT DISTINCT FROM ${owner} AND ${open}`
        }
      }, Effect.orDie)

      return RunLogs.of({ open, receive, endAbandoned })
    })
  )
}
