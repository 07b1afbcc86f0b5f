import { Context, Effect } from "effect"

/**
 * Ends the patience of a service that is stopping: completes when whoever stops it will not wait for the grace of running
 * Runs. Never by itself.
 */
export const DrainHurry = Context.Reference<Effect.Effect<void>>("svc/actors/execution/DrainHurry", {
  defaultValue: () => Effect.never
})
