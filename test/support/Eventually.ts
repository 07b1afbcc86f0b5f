import { Effect } from "effect"

/** Polls until the condition holds, because actors' work after a transaction sends no signal. */
export const eventually = <A, E, R>(ask: Effect.Effect<A, E, R>, holds: (answer: A) => boolean) =>
  Effect.gen(function* () {
    for (;;) {
      const answer = yield* ask
      if (holds(answer)) return answer
      yield* Effect.sleep("20 millis")
    }
  })
