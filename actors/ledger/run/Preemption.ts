import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { RunCancels } from "./RunCancels.ts"
import { RunLifecycle } from "./RunLifecycle.ts"
import { type RunId } from "../../../schema/records/Ids.ts"

/** The reason given for a drift check that the service stopped: a scheduled check with this reason is repeated soon. */
export const preemptedReason = "Another Run goes first."

/**
 * Asks a running drift check to stop, in the caller's transaction. The request is recorded, since the check may have been claimed
 * but may not be listening yet.
 */
export const preempt = Effect.fn("Run.preempt")(function* (runId: RunId) {
  const sql = yield* SqlClient.SqlClient
  const lifecycle = yield* RunLifecycle
  const cancels = yield* RunCancels
  yield* lifecycle.requestCancel(runId, { reason: preemptedReason })
  yield* sql.afterCommit(cancels.cancel(runId))
})
