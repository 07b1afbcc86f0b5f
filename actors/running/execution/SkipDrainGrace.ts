import { Context, Effect } from "effect"

/**
 * Skips the rest of the drain grace period: when this effect completes, a stopping service no longer waits for running Runs. By
 * default it never completes.
 */
export const SkipDrainGrace = Context.Reference<Effect.Effect<void>>("svc/actors/running/execution/SkipDrainGrace", {
  defaultValue: () => Effect.never
})
