import { Effect, References } from "effect"

/**
 * Runs the effect in a span with the given name, but only if spans are exported, because a span costs as much as a small
 * read.
 */
export const whenTraced = <A, E, R>(name: string, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(References.TracerEnabled, (isTraced) => (isTraced ? Effect.withSpan(effect, name) : effect))
