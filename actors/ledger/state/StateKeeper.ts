import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { transaction } from "../../base/database/Transaction.ts"
import { KillPoint } from "../../base/KillPoint.ts"
import { holdOf } from "../run/RunHold.ts"
import { RunJournal } from "../run/RunJournal.ts"
import type { RunRow } from "../run/RunRow.ts"
import { RunCheckpoints } from "./RunCheckpoints.ts"
import { makeStateKeeping } from "./StateKeeping.ts"

/** Stores each state of an execution as the checkpoint of its Run, and reports `state.saved`. */
export const makeStateKeeper = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const checkpoints = yield* RunCheckpoints
  const journal = yield* RunJournal
  const killPoint = yield* KillPoint

  return (run: RunRow) => {
    const hold = holdOf(run)
    return makeStateKeeping(({ resourceCount, serial, state }) =>
      Effect.andThen(
        checkpoints.prepare(hold, run.workspace_id, state),
        transaction(sql)(
          Effect.andThen(
            checkpoints.save(hold, run.workspace_id, state),
            journal.report(hold, "state.saved", { serial, resourceCount, final: false })
          )
        )
      ).pipe(Effect.andThen(killPoint(`${run.type}.checkpoint`)))
    )
  }
})
