import { Cause, Clock, Context, Effect, Layer, Queue, Schema, Semaphore } from "effect"
import { SqlClient } from "effect/sql"
import type { ApiError } from "../../schema/errors/ApiError.ts"
import { WorkspaceId } from "../../schema/records/Ids.ts"
import { StuckWorkKind } from "../../schema/records/Need.ts"
import { Timestamp } from "../../schema/records/Primitives.ts"
import { type RowOf, table } from "./database/Table.ts"
import { now } from "./Identity.ts"

/** A record with a mark. */
interface DueRecord {
  readonly id: string
  readonly workspace_id: WorkspaceId
}

/** One kind of work: the records with a mark, and the step that clears a record's mark in its transaction. */
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

/** The work that keeps failing in a Workspace, oldest first. */
export const stuckWork = (sql: SqlClient.SqlClient, workspaceId: WorkspaceId) =>
  Effect.orDie(
    StuckWorkRow.rows(sql)`SELECT * FROM stuck_work WHERE workspace_id = ${workspaceId} ORDER BY since, record_id`
  )

/** Steps under way at the same time. The database has one writer, so that more would only wait. */
const steps = 16
const longestWait = 300_000
/** A wake that was lost delays work by this at most. */
const rereadMillis = 30_000

/** The time that a record waits after this many consecutive failures. */
const waitAfter = (failures: number) => Math.min(longestWait, 1000 * 2 ** Math.min(failures - 1, 20))

/**
 * Work that has to be done later. The sender sets a mark in a row, in a transaction, and wakes the follower after the commit; the
 * follower takes one step, which does the work and clears the mark in one transaction. Therefore nothing is lost when the process
 * ends, and nothing is done twice.
 *
 * A failing record backs off without affecting other records, up to five minutes; then it appears in the Workspace's attention
 * until a step succeeds.
 *
 * - `serve`: registers the records with marks of one kind of work, and its step
 * - `wake`: looks for marks now. Call it after the commit that set a mark
 * - `follow`: takes the steps of all kinds, until it is interrupted
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
  /** The time in milliseconds before which the record waits. */
  readonly until: number
}

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const signals = yield* Queue.sliding<void>(1)
  const places = yield* Semaphore.make(steps)
  const kinds: Array<Effect.Effect<ReadonlyArray<Due>>> = []
  const troubles = new Map<string, Trouble>()
  /** Records with a step under way; `true` if somebody has looked for their marks again since it began. */
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
    const wait = waitAfter(failures)
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

  /** Begins what is due, and returns how long nothing else is, in milliseconds. */
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
    // The work of an earlier process may have been stuck: a success ends that.
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
