import { Effect } from "effect"

/** Creates up to `count` expensive values on demand, and hands them out in turn. */
export const takenInTurn = <A>(count: number, make: Effect.Effect<A>): Effect.Effect<A> => {
  const made = Effect.runSync(Effect.forEach(Array.from({ length: count }), () => Effect.cached(make)))
  let next = 0
  return Effect.suspend(() => made[next++ % count] ?? make)
}
