import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { holdOf } from "../../actors/ledger/run/RunHold.ts"
import { RunLifecycle } from "../../actors/ledger/run/RunLifecycle.ts"
import { type RunId } from "../../schema/records/Ids.ts"

/** Writes columns of a Run without its actors, to prepare a test. */
export const setRun = Effect.fnUntraced(function* (
  id: string,
  columns: Readonly<Record<string, string | number | null>>
) {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.orDie(sql`UPDATE runs SET ${sql.update(columns)} WHERE id = ${id}`)
})

/** Claims a queued Run for an owner that does not execute the Run, and returns the claim. */
export const heldRun = Effect.fnUntraced(function* (id: RunId) {
  const run = yield* (yield* RunLifecycle).claim(id, "inst_test#1")
  return run === undefined ? yield* Effect.die(new Error(`The Run ${id} is not queued`)) : holdOf(run)
})
