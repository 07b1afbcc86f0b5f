import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { now } from "../../base/Identity.ts"
import { RunId } from "../../../schema/records/Ids.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { table } from "../../base/database/Table.ts"

/** The result of a Run as JSON. Only the Run and its coordinator read it. */
export const RunResultRow = table("run_results", { run_id: RunId, result: Schema.String, created_at: Timestamp })

/** Results of finished Runs, stored until their coordinator has consumed them. A result contains no secrets. */
export class RunResults extends Context.Service<
  RunResults,
  {
    /** Saves the result. Runs in the caller's transaction. */
    readonly save: (runId: RunId, result: string) => Effect.Effect<void>
    readonly load: (runId: RunId | null) => Effect.Effect<string | undefined>
    readonly drop: (runId: RunId | null) => Effect.Effect<void>
  }
>()("svc/actors/ledger/run/RunResults") {
  static readonly layer = Layer.effect(
    RunResults,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      return RunResults.of({
        save: Effect.fnUntraced(function* (runId: RunId, result: string) {
          yield* sql`INSERT INTO run_results ${RunResultRow.values(sql, { run_id: runId, result, created_at: yield* now })}
            ON CONFLICT (run_id) DO UPDATE SET result = ${result}`
        }, Effect.orDie),
        load: (runId) =>
          RunResultRow.some(sql, "result")`SELECT result FROM run_results WHERE run_id = ${runId}`.pipe(
            Effect.map((rows) => rows[0]?.result),
            Effect.orDie
          ),
        drop: (runId) => sql`DELETE FROM run_results WHERE run_id = ${runId}`.pipe(Effect.asVoid, Effect.orDie)
      })
    })
  )
}
