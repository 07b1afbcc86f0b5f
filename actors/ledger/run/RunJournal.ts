import { Context, Deferred, Effect, Layer, Schema, Tracer } from "effect"
import { SqlClient } from "effect/sql"
import {
  closed,
  longestEventText,
  ReportedFact,
  type RunEventData,
  RunEventKind
} from "../../../schema/events/RunEvent.ts"
import { onRemoteChange } from "../../base/database/RemoteChanges.ts"
import { inParts } from "../../base/database/RowParts.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { now } from "../../base/Identity.ts"
import type { HoldLost, RunHold } from "./RunHold.ts"
import { eventBatch, nextEvent, nextEvents } from "./RunSequences.ts"
import { RunId } from "../../../schema/records/Ids.ts"
import { plainText } from "../../../runner/redaction/LogText.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { jsonText } from "../../base/database/StoredRecord.ts"
import { table } from "../../base/database/Table.ts"
import { RunRow } from "./RunRow.ts"

/** The fields of one event. */
const EventDataJson = jsonText(Schema.Record(Schema.String, Schema.Unknown))

/** The events of Runs. */
export const RunEventRow = table("run_events", {
  run_id: RunId,
  seq: Schema.Int,
  at: Timestamp,
  kind: RunEventKind,
  data: EventDataJson
})

/** An event reported by a runner, with its time. */
export type ReportedEvent = ReportedFact & { readonly at: Timestamp }

const isRecord = Schema.is(Schema.Record(Schema.String, Schema.Unknown))

const cleaned = (value: unknown): unknown =>
  typeof value === "string" ? plainText(value.slice(0, longestEventText)).slice(0, longestEventText) : value

/** Cleans the texts in reported data. The data is flat, because the schemas reject nesting. */
const withCleanTexts = (fact: unknown): unknown =>
  isRecord(fact) && isRecord(fact["data"])
    ? {
        ...fact,
        data: Object.fromEntries(Object.entries(fact["data"]).map(([name, value]) => [name, cleaned(value)]))
      }
    : fact

const decodeFact = Schema.decodeUnknownEffect(ReportedFact, closed)

/**
 * Validates a runner's report. Rejects unknown fields, unknown kinds and kinds reserved for svc. The runner has already
 * redacted and cleaned its output; svc cleans the output again, because this is the last check before people see it.
 */
export const receivedFact = (fact: unknown): Effect.Effect<ReportedFact, Schema.SchemaError> =>
  Effect.suspend(() => decodeFact(withCleanTexts(fact)))

type Listener = () => void

const mostOrigins = 10_000

/**
 * Buffered events are written when the oldest of them reaches this age or when their number reaches this limit, whichever
 * comes first.
 */
const noteAge = "10 millis"
const mostNoted = 256

interface NewEvent {
  readonly at: string
  readonly kind: RunEventKind
  readonly data: RunEventData<RunEventKind>
}

/** Events of one execution that are waiting to be written. */
interface Noted {
  readonly hold: RunHold
  readonly events: Array<NewEvent>
}

/**
 * The event sequence of each Run. `append` writes in the caller's transaction and wakes the Run's subscribers only after the
 * commit, so they never see events that are rolled back.
 */
export class RunJournal extends Context.Service<
  RunJournal,
  {
    /** Appends an event about a decision made outside the Run's execution. */
    readonly append: <Kind extends RunEventKind>(
      runId: RunId,
      kind: Kind,
      data: RunEventData<Kind>
    ) => Effect.Effect<void>
    /** Appends an event that the execution reports. Opens a transaction if the caller has none. */
    readonly report: <Kind extends RunEventKind>(
      hold: RunHold,
      kind: Kind,
      data: RunEventData<Kind>
    ) => Effect.Effect<void, HoldLost>
    /** Stores a batch of a runner's reports. Storing the same batch again has no effect. */
    readonly receive: (
      hold: RunHold,
      batch: number,
      events: ReadonlyArray<ReportedEvent>
    ) => Effect.Effect<void, HoldLost>
    /**
     * Buffers an event, to be written soon with others in one transaction. Use it for events that a tool emits in large numbers,
     * where a commit per event would delay the tool and other writers. The order of events is kept. A crash may lose the
     * events of the last few milliseconds.
     */
    readonly note: <Kind extends RunEventKind>(
      hold: RunHold,
      kind: Kind,
      data: RunEventData<Kind>
    ) => Effect.Effect<void, HoldLost>
    /**
     * Writes the events buffered under this hold, in the caller's transaction. Call it before releasing the hold, because
     * the events cannot be written afterwards.
     */
    readonly flush: (hold: RunHold) => Effect.Effect<void, HoldLost>
    /** Runs `effect` inside the trace of the request that queued the Run, if this process still has the trace. */
    readonly within: <A, E>(runId: RunId, effect: Effect.Effect<A, E>) => Effect.Effect<A, E>
    readonly wake: (runId: RunId) => void
    readonly listen: (runId: RunId, listener: Listener) => () => void
  }
>()("svc/actors/ledger/run/RunJournal") {
  static readonly layer = Layer.effect(
    RunJournal,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const listeners = new Map<RunId, Set<Listener>>()
      const origins = new Map<string, Tracer.AnySpan>()

      // Copies the set first, because a listener that is woken may subscribe again, and iterating over the set itself would
      // then never end.
      const wake = (runId: RunId) => {
        for (const listener of Array.from(listeners.get(runId) ?? [])) listener()
      }

      yield* onRemoteChange((change) => {
        if (change.kind === "run") wake(change.runId)
        else if (change.kind === "unknown") Array.from(listeners.keys()).forEach(wake)
      })

      const listen = (runId: RunId, listener: Listener) => {
        const ofRun = listeners.get(runId) ?? new Set()
        ofRun.add(listener)
        listeners.set(runId, ofRun)
        return () => {
          ofRun.delete(listener)
          if (ofRun.size === 0) listeners.delete(runId)
        }
      }

      /** Keeps the trace of a Run between queueing and start. Newer traces evict the traces of Runs that never start. */
      const remember = (runId: RunId, kind: RunEventKind) =>
        kind !== "run.queued"
          ? Effect.void
          : Effect.match(Effect.currentParentSpan, {
              onFailure: () => {},
              onSuccess: (span) => {
                if (!span.sampled) return
                origins.set(runId, span)
                for (const oldest of origins.keys()) {
                  if (origins.size <= mostOrigins) return
                  origins.delete(oldest)
                }
              }
            })

      const within = <A, E>(runId: RunId, effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
        Effect.suspend(() => {
          const origin = origins.get(runId)
          origins.delete(runId)
          return origin === undefined ? effect : Effect.provideService(effect, Tracer.ParentSpan, origin)
        })

      const noted = new Map<RunId, Noted>()
      const scope = yield* Effect.scope

      const insertAfter = (runId: RunId, last: number, events: ReadonlyArray<NewEvent>) =>
        inParts(
          events.map(({ at, data, kind }, index) => ({
            run_id: runId,
            seq: last + 1 + index,
            at,
            kind,
            data: EventDataJson.write({ ...data })
          })),
          (some) => sql`INSERT INTO run_events ${RunEventRow.several(sql, some)}`
        )

      const wakeAfterCommit = (runId: RunId) => sql.afterCommit(Effect.sync(() => wake(runId)))

      const writeAll = Effect.fnUntraced(function* (hold: RunHold, events: ReadonlyArray<NewEvent>) {
        yield* insertAfter(hold.runId, yield* nextEvents(sql, hold, events.length), events)
        yield* wakeAfterCommit(hold.runId)
      })

      // Reads the events inside the transaction, because another transaction may write the events while this transaction
      // waits for the database.
      const writeNoted = (runId: RunId) =>
        Effect.suspend(() => {
          const waiting = noted.get(runId)
          noted.delete(runId)
          return waiting === undefined ? Effect.void : writeAll(waiting.hold, waiting.events)
        })

      const flushSoon = (runId: RunId) =>
        Effect.suspend(() => (noted.has(runId) ? transaction(sql)(writeNoted(runId)) : Effect.void))

      /** Drops the events that were buffered under a hold that has been lost. */
      const noneLeft = (runId: RunId) => Effect.catchTag(writeNoted(runId), "HoldLost", () => Effect.void)

      const append = Effect.fnUntraced(function* <Kind extends RunEventKind>(
        runId: RunId,
        kind: Kind,
        data: RunEventData<Kind>
      ) {
        const event = { at: yield* now, kind, data }
        yield* noneLeft(runId)
        yield* insertAfter(runId, (yield* nextEvent(sql, runId)) - 1, [event])
        yield* remember(runId, kind)
        yield* wakeAfterCommit(runId)
      }, Effect.orDie)

      /** Returns the events buffered under this hold. Drops events of an earlier hold. */
      const taken = (hold: RunHold) => {
        const waiting = noted.get(hold.runId)
        noted.delete(hold.runId)
        return waiting?.hold.fence === hold.fence ? waiting.events : []
      }

      const flush = (hold: RunHold) =>
        Effect.suspend(() => {
          const events = taken(hold)
          return events.length === 0 ? Effect.void : Effect.catchTag(writeAll(hold, events), "SqlError", Effect.die)
        })

      const report = Effect.fnUntraced(function* <Kind extends RunEventKind>(
        hold: RunHold,
        kind: Kind,
        data: RunEventData<Kind>
      ) {
        const event = { at: yield* now, kind, data }
        yield* transaction(sql)(Effect.suspend(() => writeAll(hold, [...taken(hold), event])))
      })

      const receive = Effect.fnUntraced(function* (hold: RunHold, batch: number, events: ReadonlyArray<ReportedEvent>) {
        const last = yield* eventBatch(sql, hold, { number: batch, count: events.length })
        if (last === undefined) return
        yield* insertAfter(hold.runId, last, events)
        yield* wakeAfterCommit(hold.runId)
      }, transaction(sql))

      const note = Effect.fnUntraced(function* <Kind extends RunEventKind>(
        hold: RunHold,
        kind: Kind,
        data: RunEventData<Kind>
      ) {
        const { runId } = hold
        const event = { at: yield* now, kind, data }
        const waiting = taken(hold)
        waiting.push(event)
        noted.set(runId, { hold, events: waiting })
        if (waiting.length >= mostNoted) return yield* flushSoon(runId)
        if (waiting.length > 1) return
        yield* Effect.delay(flushSoon(runId), noteAge).pipe(
          Effect.catchCause((cause) => Effect.logError("Events of a Run could not be written.", cause)),
          Effect.forkIn(scope)
        )
      })

      yield* Effect.addFinalizer(() =>
        Effect.forEach([...noted.keys()], flushSoon, { discard: true }).pipe(
          Effect.catchCause((cause) => Effect.logError("Events of Runs could not be written.", cause))
        )
      )

      return RunJournal.of({ append, report, receive, note, flush, within, wake, listen })
    })
  )
}

/** Waits until a Run is neither queued nor running. Reads the row again after every event. */
export const awaitRun = Effect.fn("Run.await")(function* (runId: RunId) {
  const sql = yield* SqlClient.SqlClient
  const journal = yield* RunJournal
  for (;;) {
    const changed = yield* Deferred.make<void>()
    const stop = journal.listen(runId, () => Deferred.doneUnsafe(changed, Effect.void))
    const rows = yield* Effect.orDie(RunRow.some(sql, "status")`SELECT status FROM runs WHERE id = ${runId}`)
    const status = rows[0]?.status
    if (status !== "queued" && status !== "running") {
      stop()
      return
    }
    yield* Deferred.await(changed).pipe(Effect.ensuring(Effect.sync(stop)))
  }
})
