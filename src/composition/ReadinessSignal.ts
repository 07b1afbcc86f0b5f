import { Effect, Layer } from "effect"
import { RunExecutor } from "../../actors/running/execution/RunExecutor.ts"
import { readiness } from "../http/Health.ts"
import { OperatorListener } from "../observability/OperatorListener.ts"
import { Draining } from "../streams/Draining.ts"

/**
 * Reports readiness to the operator's listener. During shutdown, it closes before anything else, so that the server first
 * stops accepting work from clients and from the queue.
 */
export const readinessSignal = Layer.effectDiscard(
  Effect.gen(function* () {
    const executor = yield* RunExecutor
    const operator = yield* OperatorListener
    const draining = yield* Draining
    yield* operator.up(yield* readiness)
    yield* Effect.addFinalizer(() => Effect.andThen(draining.begin, executor.quiesce))
  })
)
