import { Effect, Schema } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { type RowOf, rowShape } from "../../base/database/Table.ts"
import { type HoldLost, holdLost, isHeld, type RunHold } from "./RunHold.ts"
import { type RunId } from "../../../schema/records/Ids.ts"

/** A numbered batch. The numbers of one hold start at 1 and have no gaps. */
export interface Batch {
  readonly number: number
  readonly count: number
}

/** The sequence number that precedes the first entry of the batch; `undefined` if the batch is already stored. */
type Position = number | undefined

const Counter = rowShape({ last: Schema.Int })
type Counter = RowOf<typeof Counter.columns>

/** Reserves and returns the next number in a Run's event sequence, whether or not the Run is executing. */
export const nextEvent = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  runId: RunId
): Effect.fn.Return<number, SqlError.SqlError> {
  const [counter] = yield* Counter.rows(sql)`UPDATE runs SET last_event_seq = last_event_seq + 1
    WHERE id = ${runId} RETURNING last_event_seq AS last`
  return counter === undefined ? yield* Effect.die(new Error(`There is no Run ${runId}`)) : counter.last
})

/** Reserves `count` numbers for an execution's events, and returns the number that precedes the first of them. */
export const nextEvents = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  hold: RunHold,
  count: number
): Effect.fn.Return<number, HoldLost | SqlError.SqlError> {
  const [counter] = yield* Counter.rows(sql)`UPDATE runs SET last_event_seq = last_event_seq + ${count}
    WHERE ${isHeld(sql, hold)} RETURNING last_event_seq AS last`
  return counter === undefined ? yield* holdLost(hold) : counter.last - count
})

/** Returns `undefined` if the batch is a repeat. Fails if the hold has been lost. */
const repeated = Effect.fnUntraced(function* (
  hold: RunHold,
  batch: Batch,
  taken: Effect.Effect<ReadonlyArray<Counter>, SqlError.SqlError>
): Effect.fn.Return<undefined, HoldLost | SqlError.SqlError> {
  const [counter] = yield* taken
  if (counter === undefined) return yield* holdLost(hold)
  if (counter.last >= batch.number) return undefined
  return yield* Effect.die(
    new Error(`Batch ${batch.number} of the Run ${hold.runId} came after batch ${counter.last}, with a gap.`)
  )
})

/** Reserves the numbers for a batch of events, which may arrive more than once. */
export const eventBatch = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  hold: RunHold,
  batch: Batch
): Effect.fn.Return<Position, HoldLost | SqlError.SqlError> {
  const [counter] = yield* Counter.rows(sql)`UPDATE runs
    SET last_event_seq = last_event_seq + ${batch.count}, last_event_batch = ${batch.number}
    WHERE ${isHeld(sql, hold)} AND last_event_batch = ${batch.number - 1} RETURNING last_event_seq AS last`
  if (counter !== undefined) return counter.last - batch.count
  return yield* repeated(
    hold,
    batch,
    Counter.rows(sql)`SELECT last_event_batch AS last FROM runs WHERE ${isHeld(sql, hold)}`
  )
})

/**
 * Reserves the numbers for a batch of log lines, which may arrive more than once. `endedAt` is set on the last batch. The
 * last lines may arrive after the Run has ended, so they are accepted under the Run's fence until the log ends or the Run is
 * claimed again.
 */
export const logBatch = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  hold: RunHold,
  batch: Batch,
  endedAt: string | null
): Effect.fn.Return<Position, HoldLost | SqlError.SqlError> {
  const isFenced = sql`id = ${hold.runId} AND fence = ${hold.fence}`
  const [counter] = yield* Counter.rows(sql)`UPDATE runs SET last_log_seq = last_log_seq + ${batch.count},
      last_log_batch = ${batch.number}, log_ended_at = ${endedAt}
    WHERE ${isFenced} AND log_ended_at IS NULL AND last_log_batch = ${batch.number - 1} RETURNING last_log_seq AS last`
  if (counter !== undefined) return counter.last - batch.count
  return yield* repeated(
    hold,
    batch,
    Counter.rows(sql)`SELECT last_log_batch AS last FROM runs
      WHERE ${isFenced} AND (log_ended_at IS NULL OR last_log_batch >= ${batch.number})`
  )
})
