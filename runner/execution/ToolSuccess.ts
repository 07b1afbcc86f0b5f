import { Effect } from "effect"
import type { RunPhase } from "../../schema/events/RunEvent.ts"
import type { CancelSignal } from "./CancelSignal.ts"
import { type RunnerFailure, type RunnerFailureReason, runnerFailure } from "./RunnerFailure.ts"
import type { ToolEnd } from "./ToolRun.ts"

/** Fails unless a command exited with one of `codes`. */
export const requireSuccess = (
  end: ToolEnd,
  phase: RunPhase,
  reason: RunnerFailureReason,
  codes: ReadonlyArray<number> = [0]
): Effect.Effect<void, RunnerFailure> => {
  const { diagnostics, sandboxKilled } = end
  const more = { diagnostics, sandboxKilled }
  if (end.limit !== undefined) return Effect.fail(runnerFailure(end.limit.code, phase, end.limit.message, more))
  switch (end.ending) {
    case "cancelled":
      return Effect.fail(runnerFailure("cancelled", phase, "The run was cancelled.", more))
    case "timed_out":
      return Effect.fail(runnerFailure("timed_out", phase, `The phase ${phase} did not end in time.`, more))
    case "killed":
      return Effect.fail(
        runnerFailure("killed", phase, "The tool was ended by a signal, for example because memory ran out.", more)
      )
    case "exited": {
      if (end.code !== undefined && codes.includes(end.code)) return Effect.void
      const error = diagnostics.find(({ severity }) => severity === "error")
      const explanation = error?.summary ?? end.lastLines.join(" | ")
      const message =
        explanation === "" ? `The tool ended with exit code ${end.code} and did not say why.` : explanation
      return Effect.fail(runnerFailure(reason, phase, message, more))
    }
  }
}

export const failWhenCancelled = (cancel: CancelSignal, phase: RunPhase) =>
  cancel.isRequested.pipe(
    Effect.flatMap((requested) =>
      requested ? Effect.fail(runnerFailure("cancelled", phase, "The run was cancelled.")) : Effect.void
    )
  )
