import { Context, Deferred, Effect, Layer } from "effect"
import type { RunId } from "../../../schema/records/Ids.ts"
import { SqlClient } from "effect/sql"
import { onRemoteChange } from "../../base/database/RemoteChanges.ts"
import { RunLifecycle } from "./RunLifecycle.ts"

/**
 * Delivers cancel requests to running executions. The executor registers its executions here, so that commands need no
 * reference to the executor. The request is also stored in a column of the Run, so that it reaches an execution that
 * registers later.
 */
export class RunCancels extends Context.Service<
  RunCancels,
  {
    /** Asks the execution of a Run to stop. Does nothing if this process is not executing the Run. */
    readonly cancel: (runId: RunId) => Effect.Effect<void>
    /** Registers an execution. The returned effect completes when somebody asks the Run to stop. */
    readonly register: (runId: RunId) => Effect.Effect<Effect.Effect<void>>
    readonly forget: (runId: RunId) => Effect.Effect<void>
    /** The Runs with a registered execution. */
    readonly registered: Effect.Effect<ReadonlyArray<RunId>>
  }
>()("svc/actors/ledger/run/RunCancels") {
  static readonly layer = Layer.effect(
    RunCancels,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const requests = new Map<RunId, Deferred.Deferred<void>>()
  yield* onRemoteChange((change) => {
    const request = change.kind === "cancel" ? requests.get(change.runId) : undefined
    if (request !== undefined) Deferred.doneUnsafe(request, Effect.void)
  })
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

/** Cancel reason of a drift check that svc stopped for another Run. Scheduled checks with this reason are retried soon. */
export const preemptedReason = "Another Run goes first."

/**
 * Asks a running drift check to stop, in the caller's transaction. The request is stored, because a claimed check may not be
 * registered yet.
 */
export const preempt = Effect.fn("Run.preempt")(function* (runId: RunId) {
  const sql = yield* SqlClient.SqlClient
  const lifecycle = yield* RunLifecycle
  const cancels = yield* RunCancels
  yield* lifecycle.requestCancel(runId, { reason: preemptedReason })
  yield* sql.afterCommit(cancels.cancel(runId))
})
