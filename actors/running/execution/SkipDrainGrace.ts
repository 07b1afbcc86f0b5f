import { Context, Effect } from "effect"

/**
 * Skips the rest of the drain grace period: once this effect completes, a service that is stopping no longer waits for running
 * Runs. By default it never completes.
 */
export const SkipDrainGrace = Context.Reference<Effect.Effect<void>>("svc/actors/running/execution/SkipDrainGrace", {
  defaultValue: () => Effect.never
})
