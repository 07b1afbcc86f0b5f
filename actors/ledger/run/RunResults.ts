import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { now } from "../../base/Identity.ts"
import { RunResultRow } from "./RunResultRow.ts"
import { type RunId } from "../../../schema/records/Ids.ts"

/** A finished Run's result for its coordinator, stored until the coordinator has consumed it. Contains no secrets. */
export class RunResults extends Context.Service<
  RunResults,
  {
    /** In the caller's transaction. */
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
