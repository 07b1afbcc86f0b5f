import { Context, Effect } from "effect"

/**
 * Skips the remaining drain grace period: when this effect completes, a service that is stopping no longer waits for running
 * Runs. By default it never completes.
 */
export const SkipDrainGrace = Context.Reference<Effect.Effect<void>>("svc/actors/execution/SkipDrainGrace", {
  defaultValue: () => Effect.never
})
