import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { now } from "../Identity.ts"
import { RunCancels } from "./RunCancels.ts"
import { RunJournal } from "./RunJournal.ts"
import { RunLedger } from "./RunLedger.ts"

/** Why a drift check was stopped that nobody stopped: a scheduled one that ends with this reason is made again soon. */
export const goesFirst = "Another Run goes first."

/**
 * Asks a running drift check to stop, in the caller's transaction. The request is recorded, since the check may have been
 * claimed and not yet listen.
 */
export const giveWay = Effect.fn("Run.giveWay")(function* (runId: string) {
  const sql = yield* SqlClient.SqlClient
  const ledger = yield* RunLedger
  const journal = yield* RunJournal
  const cancels = yield* RunCancels
  yield* ledger.set(runId, { cancel_requested_at: yield* now, cancel_reason: goesFirst })
  yield* journal.append(runId, "run.cancelling", { reason: goesFirst })
  yield* sql.afterCommit(cancels.cancel(runId))
})
