import { Effect, type Redacted, type Schema } from "effect"
import type { LogStream, RunEventKind, RunPhase } from "../../schema/events/RunEvent.ts"

export type EventData = Readonly<Record<string, Schema.Json>>

/**
 * Where a run reports while it goes on. Everything but a checkpoint is redacted and free of terminal sequences.
 *
 * - `event`: `run.phase {phase}`, `resource.started|progress|completed|failed {address, action, elapsedSeconds?, id?}`,
 *   `plan.summary {add, change, destroy, replace, import, forget}`, `diagnostic` (a RunDiagnostic),
 *   `state.saved {serial, resourceCount, final}`
 * - `log`: one line or message of a program
 * - `checkpoint`: the state file as it stood when it was last whole. It is in clear text and must be sealed; returning means that it
 *   is kept
 */
export interface RunSink {
  readonly event: (kind: RunEventKind, data: EventData) => Effect.Effect<void>
  readonly log: (phase: RunPhase, stream: LogStream, text: string) => Effect.Effect<void>
  readonly checkpoint: (state: Redacted.Redacted<Uint8Array>) => Effect.Effect<void>
}

/**
 * A failing sink must not fail the run: a tool without a reader would block, and its state would be lost. A checkpoint still
 * fails, so that it is not reported as saved.
 */
export const unbreakableSink = (sink: RunSink): RunSink => {
  let told = false
  const guarded = (report: Effect.Effect<void>) =>
    Effect.catchDefect(report, (defect) => {
      // After one failure every following line would fail too.
      if (told) return Effect.void
      told = true
      return Effect.logError("A run cannot report what it does.", defect)
    })
  return {
    event: (kind, data) => guarded(Effect.suspend(() => sink.event(kind, data))),
    log: (phase, stream, text) => guarded(Effect.suspend(() => sink.log(phase, stream, text))),
    checkpoint: sink.checkpoint
  }
}
