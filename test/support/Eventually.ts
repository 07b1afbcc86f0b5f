import { Effect } from "effect"

/** Polls until the condition holds: work that actors do after a transaction has no signal of its own. */
export const eventually = <A, E, R>(ask: Effect.Effect<A, E, R>, holds: (answer: A) => boolean) =>
  Effect.gen(function* () {
    for (;;) {
      const answer = yield* ask
      if (holds(answer)) return answer
      yield* Effect.sleep("20 millis")
    }
  })
