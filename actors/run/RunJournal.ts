import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { RunEventKind } from "../../schema/events/RunEvent.ts"
import { now } from "../Identity.ts"

type Listener = () => void

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
    readonly wake: (runId: string) => void
    readonly listen: (runId: string, listener: Listener) => () => void
  }
>()("svc/actors/run/RunJournal") {
  static readonly layer = Layer.effect(
    RunJournal,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const listeners = new Map<string, Set<Listener>>()

      const wake = (runId: string) => {
        for (const listener of listeners.get(runId) ?? []) listener()
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

      const append = Effect.fnUntraced(function* (
        runId: string,
        kind: RunEventKind,
        data: Readonly<Record<string, unknown>> = {}
      ) {
        const at = yield* now
        yield* sql`INSERT INTO run_events (run_id, seq, at, kind, data)
          SELECT ${runId}, COALESCE(MAX(seq), 0) + 1, ${at}, ${kind}, ${JSON.stringify(data)}
          FROM run_events WHERE run_id = ${runId}`
        yield* sql.afterCommit(Effect.sync(() => wake(runId)))
      }, Effect.orDie)

      return RunJournal.of({ append, wake, listen })
    })
  )
}
