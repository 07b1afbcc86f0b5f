import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { RunCancels } from "./RunCancels.ts"
import { RunLifecycle } from "./RunLifecycle.ts"

/** Why a drift check was stopped that nobody stopped: a scheduled one that ends with this reason is made again soon. */
export const goesFirst = "Another Run goes first."

/**
 * Asks a running drift check to stop, in the caller's transaction. The request is recorded, since the check may have been
 * claimed and not yet listen.
 */
export const giveWay = Effect.fn("Run.giveWay")(function* (runId: string) {
  const sql = yield* SqlClient.SqlClient
  const lifecycle = yield* RunLifecycle
  const cancels = yield* RunCancels
  yield* lifecycle.requestCancel(runId, goesFirst)
  yield* sql.afterCommit(cancels.cancel(runId))
})
