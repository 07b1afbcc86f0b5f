import { Context, Effect, Layer, Tracer } from "effect"
import { SqlClient } from "effect/sql"
import type { RunEventKind } from "../../schema/events/RunEvent.ts"
import { transaction } from "../database/Transaction.ts"
import { now } from "../Identity.ts"

type Listener = () => void

const mostOrigins = 10_000

/** Noted events are written when they are this old or this many, whichever comes first. */
const noteAge = "10 millis"
const mostNoted = 256

type EventData = Readonly<Record<string, unknown>>

interface Noted {
  readonly at: string
  readonly kind: RunEventKind
  readonly data: EventData
}

/**
 * The event sequence of each Run. `append` writes in the caller's transaction and wakes the Run's subscribers once that
 * transaction has committed, so that nobody is told of what did not happen.
 */
export class RunJournal extends Context.Service<
  RunJournal,
  {
    readonly append: (runId: string, kind: RunEventKind, data?: EventData) => Effect.Effect<void>
    /**
     * Appends soon, many in one transaction: for what a tool tells by the dozen, where a commit each would hold up the tool
     * and everybody else. Nothing that is appended later comes before it. A crash may lose the last few milliseconds.
     */
    readonly note: (runId: string, kind: RunEventKind, data: EventData) => Effect.Effect<void>
    /** Runs `effect` in the trace of the request that queued the Run, while this process remembers it. */
    readonly within: <A, E>(runId: string, effect: Effect.Effect<A, E>) => Effect.Effect<A, E>
    readonly wake: (runId: string) => void
    readonly listen: (runId: string, listener: Listener) => () => void
  }
>()("svc/actors/run/RunJournal") {
  static readonly layer = Layer.effect(
    RunJournal,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const listeners = new Map<string, Set<Listener>>()
      const origins = new Map<string, Tracer.AnySpan>()

      // Over a copy: who is woken may listen again at once, and would be woken again without end.
      const wake = (runId: string) => {
        for (const listener of Array.from(listeners.get(runId) ?? [])) listener()
      }

      const listen = (runId: string, listener: Listener) => {
        const ofRun = listeners.get(runId) ?? new Set()
        ofRun.add(listener)
        listeners.set(runId, ofRun)
        return () => {
          ofRun.delete(listener)
          if (ofRun.size === 0) listeners.delete(runId)
        }
      }

      /** A trace costs memory only from queue to start. Whatever never starts makes way for the newest. */
      const remember = (runId: string, kind: RunEventKind) =>
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

      const within = <A, E>(runId: string, effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
        Effect.suspend(() => {
          const origin = origins.get(runId)
          origins.delete(runId)
          return origin === undefined ? effect : Effect.provideService(effect, Tracer.ParentSpan, origin)
        })

      const noted = new Map<string, Array<Noted>>()
      const scope = yield* Effect.scope

      const insert = (runId: string, { at, data, kind }: Noted) =>
        sql`INSERT INTO run_events (run_id, seq, at, kind, data)
          SELECT ${runId}, COALESCE(MAX(seq), 0) + 1, ${at}, ${kind}, ${JSON.stringify(data)}
          FROM run_events WHERE run_id = ${runId}`

      // Taken inside the transaction: until it has the database, whoever has it may write them first.
      const writeNoted = (runId: string) =>
        Effect.suspend(() => {
          const waiting = noted.get(runId) ?? []
          noted.delete(runId)
          return Effect.forEach(waiting, (event) => insert(runId, event), { discard: true })
        })

      const wakeAfterCommit = (runId: string) => sql.afterCommit(Effect.sync(() => wake(runId)))

      const flush = (runId: string) =>
        Effect.suspend(() =>
          noted.has(runId) ? transaction(sql)(Effect.andThen(writeNoted(runId), wakeAfterCommit(runId))) : Effect.void
        )

      const append = Effect.fnUntraced(function* (runId: string, kind: RunEventKind, data: EventData = {}) {
        const own = insert(runId, { at: yield* now, kind, data })
        yield* noted.has(runId) ? transaction(sql)(Effect.andThen(writeNoted(runId), own)) : own
        yield* remember(runId, kind)
        yield* wakeAfterCommit(runId)
      }, Effect.orDie)

      const note = Effect.fnUntraced(function* (runId: string, kind: RunEventKind, data: EventData) {
        const waiting = noted.get(runId) ?? []
        waiting.push({ at: yield* now, kind, data })
        noted.set(runId, waiting)
        if (waiting.length >= mostNoted) return yield* flush(runId)
        if (waiting.length > 1) return
        yield* Effect.delay(flush(runId), noteAge).pipe(
          Effect.catchCause((cause) => Effect.logError("Events of a Run could not be written.", cause)),
          Effect.forkIn(scope)
        )
      })

      yield* Effect.addFinalizer(() =>
        Effect.forEach([...noted.keys()], flush, { discard: true }).pipe(
          Effect.catchCause((cause) => Effect.logError("Events of Runs could not be written.", cause))
        )
      )

      return RunJournal.of({ append, note, within, wake, listen })
    })
  )
}
