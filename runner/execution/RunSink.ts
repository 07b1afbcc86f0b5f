import { Effect, type Redacted } from "effect"
import type { LogStream, ReportedKind, RunEventData, RunPhase } from "../../schema/events/RunEvent.ts"

/** A complete state as the tool wrote it, in plaintext. The receiver seals it. */
export interface StateCheckpoint {
  readonly state: Redacted.Redacted<Uint8Array>
  readonly serial: number
  readonly resourceCount: number
}

/**
 * The destination of a run's reports while the run executes. Everything except a checkpoint is redacted and free of terminal
 * sequences.
 *
 * - `event`: an event of the Run, in the schema of its kind
 * - `log`: a line or message from a program
 * - `checkpoint`: receives a state that is already on this machine's disk; returns before the state is stored elsewhere, and the
 *   receiver that stores it reports `state.saved`
 */
export interface RunSink {
  readonly event: <Kind extends ReportedKind>(kind: Kind, data: RunEventData<Kind>) => Effect.Effect<void>
  readonly log: (phase: RunPhase, stream: LogStream, text: string) => Effect.Effect<void>
  readonly checkpoint: (checkpoint: StateCheckpoint) => Effect.Effect<void>
}

/**
 * Ignores failures of a sink. If a failure stopped the reading of the tool's output, the tool would block and its state would be
 * lost.
 */
export const unbreakableSink = (sink: RunSink): RunSink => {
  let isReported = false
  const guarded = (report: Effect.Effect<void>) =>
    Effect.catchDefect(report, (defect) => {
      // After one failure, stop writing: every later line would fail too.
      if (isReported) return Effect.void
      isReported = true
      return Effect.logError("A run cannot report what it does.", defect)
    })
  return {
    event: (kind, data) => guarded(Effect.suspend(() => sink.event(kind, data))),
    log: (phase, stream, text) => guarded(Effect.suspend(() => sink.log(phase, stream, text))),
    checkpoint: (checkpoint) => guarded(Effect.suspend(() => sink.checkpoint(checkpoint)))
  }
}
