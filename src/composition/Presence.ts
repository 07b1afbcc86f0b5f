import { Effect, Layer } from "effect"
import { RunExecutor } from "../../actors/run/RunExecutor.ts"
import { readiness } from "../http/Health.ts"
import { OperatorListener } from "../observability/OperatorListener.ts"

/** The operator is told that the service is up. On the way down this goes first: nothing more is taken from the queue. */
export const presence = Layer.effectDiscard(
  Effect.gen(function* () {
    const executor = yield* RunExecutor
    const operator = yield* OperatorListener
    yield* operator.up(yield* readiness)
    yield* Effect.addFinalizer(() => executor.quiesce)
  })
)
