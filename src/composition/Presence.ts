import { Effect, Layer } from "effect"
import { RunExecutor } from "../../actors/execution/RunExecutor.ts"
import { readiness } from "../http/Health.ts"
import { OperatorListener } from "../observability/OperatorListener.ts"
import { Draining } from "../streams/Draining.ts"

/**
 * The operator is told that the service is up. On the way down this goes first: no new work is taken, neither from clients nor
 * from the queue, before anybody is told so.
 */
export const presence = Layer.effectDiscard(
  Effect.gen(function* () {
    const executor = yield* RunExecutor
    const operator = yield* OperatorListener
    const draining = yield* Draining
    yield* operator.up(yield* readiness)
    yield* Effect.addFinalizer(() => Effect.andThen(draining.begin, executor.quiesce))
  })
)
