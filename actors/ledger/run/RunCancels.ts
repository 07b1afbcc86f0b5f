import { Context, Deferred, Effect, Layer } from "effect"
import type { RunId } from "../../../schema/records/Ids.ts"
import { SqlClient } from "effect/sql"
import { RunLifecycle } from "./RunLifecycle.ts"

/**
 * Delivers a cancel request to the execution of a Run. Commands use this without knowing the executor, which registers its
 * executions. The request itself is a column of the Run, so that it also reaches an execution that registers later.
 */
export class RunCancels extends Context.Service<
  RunCancels,
  {
    /** Requests the execution of a Run to stop. Does nothing if the Run is not executing here. */
    readonly cancel: (runId: RunId) => Effect.Effect<void>
    /** Registers an execution; the resulting effect completes when a stop is requested. */
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

/** The reason of a drift check that the service stopped: a scheduled check with this reason is repeated soon. */
export const preemptedReason = "Another Run goes first."

/**
 * Requests a running drift check to stop, in the caller's transaction. The request is recorded, because the check may have been
 * claimed but may not be listening yet.
 */
export const preempt = Effect.fn("Run.preempt")(function* (runId: RunId) {
  const sql = yield* SqlClient.SqlClient
  const lifecycle = yield* RunLifecycle
  const cancels = yield* RunCancels
  yield* lifecycle.requestCancel(runId, { reason: preemptedReason })
  yield* sql.afterCommit(cancels.cancel(runId))
})
