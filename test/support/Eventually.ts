import { Effect } from "effect"

/** Polls until the condition holds, because no event signals the end of an actor's work after a transaction. */
export const eventually = <A, E, R>(ask: Effect.Effect<A, E, R>, holds: (answer: A) => boolean) =>
  Effect.gen(function* () {
    for (;;) {
      const answer = yield* ask
      if (holds(answer)) return answer
      yield* Effect.sleep("20 millis")
    }
  })
