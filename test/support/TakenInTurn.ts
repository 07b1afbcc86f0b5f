import { Effect } from "effect"

/** Makes up to `count` values, when they are needed, and then hands them out in turn: for what takes long to make. */
export const takenInTurn = <A>(count: number, make: Effect.Effect<A>): Effect.Effect<A> => {
  const made = Effect.runSync(Effect.forEach(Array.from({ length: count }), () => Effect.cached(make)))
  let next = 0
  return Effect.suspend(() => made[next++ % count] ?? make)
}
