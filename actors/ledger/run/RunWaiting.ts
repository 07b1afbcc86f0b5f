import { Deferred, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { RunJournal } from "./RunJournal.ts"
import { RunRow } from "./RunRow.ts"
import { type RunId } from "../../../schema/records/Ids.ts"

/** Waits until a Run is neither queued nor running. The Run's own events wake it; the row decides. */
export const awaitRun = Effect.fn("Run.await")(function* (runId: RunId) {
  const sql = yield* SqlClient.SqlClient
  const journal = yield* RunJournal
  for (;;) {
    const changed = yield* Deferred.make<void>()
    const stop = journal.listen(runId, () => Deferred.doneUnsafe(changed, Effect.void))
    const rows = yield* Effect.orDie(RunRow.some(sql, "status")`SELECT status FROM runs WHERE id = ${runId}`)
    const status = rows[0]?.status
    if (status !== "queued" && status !== "running") {
      stop()
      return
    }
    yield* Deferred.await(changed).pipe(Effect.ensuring(Effect.sync(stop)))
  }
})
