import { Cause, Clock, Context, Effect, Layer, Queue, Schema, Semaphore } from "effect"
import { SqlClient } from "effect/sql"
import type { ApiError } from "../../schema/errors/ApiError.ts"
import { WorkspaceId } from "../../schema/records/Ids.ts"
import { StuckWorkKind } from "../../schema/records/AttentionItem.ts"
import { Timestamp } from "../../schema/records/Primitives.ts"
import { type RowOf, table } from "./database/Table.ts"
import { now } from "./Identity.ts"

/** A record for which work is due. */
interface DueRecord {
  readonly id: string
  readonly workspace_id: WorkspaceId
}

/**
 * One kind of work: the query for the records that are due, and the step that does the work for one record and, in the same
 * transaction, clears the record's mark.
 */
interface DueKind<Row extends DueRecord> {
  readonly kind: StuckWorkKind
  readonly due: Effect.Effect<ReadonlyArray<Row>>
  readonly step: (row: Row) => Effect.Effect<unknown, ApiError>
}

/** Work that keeps failing. */
export const StuckWorkRow = table("stuck_work", {
  kind: StuckWorkKind,
  record_id: Schema.String,
  workspace_id: WorkspaceId,
  since: Timestamp
})
export type StuckWork = RowOf<typeof StuckWorkRow.columns>

/** Returns a Workspace's work that keeps failing, oldest first. */
export const stuckWork = (sql: SqlClient.SqlClient, workspaceId: WorkspaceId) =>
  Effect.orDie(
    StuckWorkRow.rows(sql)`SELECT * FROM stuck_work WHERE workspace_id = ${workspaceId} ORDER BY since, record_id`
  )

/** Maximum number of concurrent steps. The database allows one writer at a time, so further steps would only wait. */
const steps = 16
const longestWait = 300_000
/** Maximum delay of the work, in milliseconds, if a wake-up is lost. */
const rereadMillis = 30_000

/** Returns the delay, in milliseconds, after which a record is retried if it has failed this many times in a row. */
export const retryWait = (failures: number) => Math.min(longestWait, 1000 * 2 ** Math.min(failures - 1, 20))

/**
 * Does work after a transaction. The sender marks a row in its transaction, and wakes the follower after the commit. The
 * follower takes one step, which does the work and clears the mark in one transaction. Therefore a crash never loses work,
 * and no work is done twice. After a failure, a record is retried with increasing delays of up to five minutes, without
 * affecting other records. A record that keeps failing is listed as needing attention in its Workspace until a step
 * succeeds.
 * - `serve`: registers one kind of work, with its marked records and its step
 * - `wake`: makes the follower look for marks now; call it after the commit that set a mark
 * - `follow`: takes the steps of all kinds until it is interrupted
 */
export class DueWork extends Context.Service<
  DueWork,
  {
    readonly serve: <Row extends DueRecord>(kind: DueKind<Row>) => Effect.Effect<void>
    readonly wake: Effect.Effect<void>
    readonly follow: Effect.Effect<never>
  }
>()("svc/actors/base/DueWork") {
  static readonly layer = Layer.effect(
    DueWork,
    Effect.suspend(() => make)
  )
}

interface Due {
  readonly key: string
  readonly kind: StuckWorkKind
  readonly record: DueRecord
  readonly step: Effect.Effect<unknown, ApiError>
}

interface Trouble {
  readonly failures: number
  /** Earliest time, in milliseconds, of the next attempt. */
  readonly until: number
}

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const signals = yield* Queue.sliding<void>(1)
  const places = yield* Semaphore.make(steps)
  const kinds: Array<Effect.Effect<ReadonlyArray<Due>>> = []
  const troubles = new Map<string, Trouble>()
  /**
   * Records whose step is in progress. The value is `true` if the record was found to be marked again after the step began.
   */
  const taken = new Map<string, boolean>()

  const wake = Effect.sync(() => void Queue.offerUnsafe(signals, undefined))

  const stuck = Effect.fnUntraced(function* ({ kind, record }: Due) {
    const row = { kind, record_id: record.id, workspace_id: record.workspace_id, since: yield* now }
    yield* sql`INSERT INTO stuck_work ${StuckWorkRow.values(sql, row)} ON CONFLICT DO NOTHING`
  })

  const unstuck = ({ kind, record }: Due) =>
    Effect.ignore(sql`DELETE FROM stuck_work WHERE kind = ${kind} AND record_id = ${record.id}`)

  const failed = Effect.fnUntraced(function* (due: Due, cause: Cause.Cause<ApiError>) {
    const at = yield* Clock.currentTimeMillis
    const failures = (troubles.get(due.key)?.failures ?? 0) + 1
    const wait = retryWait(failures)
    troubles.set(due.key, { failures, until: at + wait })
    if (wait === longestWait) yield* Effect.ignore(stuck(due))
    yield* Effect.logError(`Work that is due failed: ${due.key}. It is tried again in ${wait / 1000} s.`, cause)
  })

  const take = (due: Due) =>
    due.step.pipe(
      places.withPermits(1),
      Effect.matchCauseEffect({
        onFailure: (cause) => (Cause.hasInterruptsOnly(cause) ? Effect.void : failed(due, cause)),
        onSuccess: () => Effect.suspend(() => (troubles.delete(due.key) ? unstuck(due) : Effect.void))
      }),
      Effect.ensuring(
        Effect.suspend(() => {
          const isAskedAgain = taken.get(due.key) === true
          taken.delete(due.key)
          return isAskedAgain || troubles.has(due.key) ? wake : Effect.void
        })
      )
    )

  /** Starts the steps that are due. Returns the time, in milliseconds, at which more work may be due. */
  const begin = Effect.gen(function* () {
    const all = (yield* Effect.forEach(kinds, (due) => due)).flat()
    const at = yield* Clock.currentTimeMillis
    let wait = rereadMillis
    for (const due of all) {
      const until = troubles.get(due.key)?.until ?? at
      if (taken.has(due.key)) taken.set(due.key, true)
      else if (until > at) wait = Math.min(wait, until - at)
      else {
        taken.set(due.key, false)
        yield* Effect.forkScoped(take(due))
      }
    }
    return wait
  })

  const follow = Effect.gen(function* () {
    // Work that was stuck in an earlier process remains stuck until a step succeeds.
    const known = yield* Effect.orDie(StuckWorkRow.rows(sql)`SELECT * FROM stuck_work`)
    for (const { kind, record_id } of known) troubles.set(`${kind} ${record_id}`, { failures: 1, until: 0 })
    return yield* begin.pipe(
      Effect.flatMap((wait) => Effect.timeoutOption(Queue.take(signals), wait)),
      Effect.forever
    )
  }).pipe(Effect.scoped)

  return DueWork.of({
    serve: ({ due, kind, step }) =>
      Effect.sync(() => {
        const ofKind = Effect.map(due, (records) =>
          records.map((record): Due => ({ key: `${kind} ${record.id}`, kind, record, step: step(record) }))
        )
        kinds.push(
          Effect.catchCause(ofKind, (cause) =>
            Effect.as(Effect.logError(`The marks of ${kind} could not be read`, cause), [])
          )
        )
      }),
    wake,
    follow
  })
})
