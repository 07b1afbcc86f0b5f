import { Context, Deferred, Effect, Layer } from "effect"
import { type RunId } from "../../../schema/records/Ids.ts"

/**
 * Delivers a cancel request to the execution of a Run. Commands use this without knowing the executor, which registers its
 * executions. The request itself is a column of the Run, so that it also reaches an execution that registers later.
 */
export class RunCancels extends Context.Service<
  RunCancels,
  {
    /** Asks the execution of a Run to stop. Does nothing if the Run is not executing here. */
    readonly cancel: (runId: RunId) => Effect.Effect<void>
    /** Registers an execution; the resulting effect completes when it is asked to stop. */
    readonly register: (runId: RunId) => Effect.Effect<Effect.Effect<void>>
    readonly forget: (runId: RunId) => Effect.Effect<void>
    /** The Runs that are registered. */
    readonly registered: Effect.Effect<ReadonlyArray<RunId>>
  }
>()("svc/actors/ledger/run/RunCancels") {
  static readonly layer = Layer.sync(RunCancels, () => {
    const requests = new Map<RunId, Deferred.Deferred<void>>()
    return RunCancels.of({
      cancel: Effect.fnUntraced(function* (runId: RunId) {
        const request = requests.get(runId)
        if (request !== undefined) yield* Deferred.succeed(request, undefined)
      }),
      register: Effect.fnUntraced(function* (runId: RunId) {
        const request = yield* Deferred.make<void>()
        requests.set(runId, request)
        return Deferred.await(request)
      }),
      forget: (runId) => Effect.sync(() => void requests.delete(runId)),
      registered: Effect.sync(() => Array.from(requests.keys()))
    })
  })
}
