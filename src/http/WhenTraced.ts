import { Effect, References } from "effect"

/** The effect in a span of that name, where spans are made at all: what a span needs costs as much as a small read. */
export const whenTraced = <A, E, R>(name: string, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => {
  const traced = Effect.withSpan(effect, name)
  return Effect.flatMap(References.TracerEnabled, (isTraced) => (isTraced ? traced : effect))
}
