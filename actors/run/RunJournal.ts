import { Context, Effect, Layer, Tracer } from "effect"
import { SqlClient } from "effect/sql"
import type { RunEventKind } from "../../schema/events/RunEvent.ts"
import { now } from "../Identity.ts"

type Listener = () => void

const mostOrigins = 10_000

/**
 * The event sequence of each Run. `append` writes in the caller's transaction and wakes the Run's subscribers once that
 * transaction has committed, so that nobody is told of what did not happen.
 */
export class RunJournal extends Context.Service<
  RunJournal,
  {
    readonly append: (
      runId: string,
      kind: RunEventKind,
      data?: Readonly<Record<string, unknown>>
    ) => Effect.Effect<void>
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

      const append = Effect.fnUntraced(function* (
        runId: string,
        kind: RunEventKind,
        data: Readonly<Record<string, unknown>> = {}
      ) {
        const at = yield* now
        yield* sql`INSERT INTO run_events (run_id, seq, at, kind, data)
          SELECT ${runId}, COALESCE(MAX(seq), 0) + 1, ${at}, ${kind}, ${JSON.stringify(data)}
          FROM run_events WHERE run_id = ${runId}`
        yield* remember(runId, kind)
        yield* sql.afterCommit(Effect.sync(() => wake(runId)))
      }, Effect.orDie)

      return RunJournal.of({ append, within, wake, listen })
    })
  )
}
