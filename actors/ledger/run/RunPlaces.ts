import { Effect } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { localPool } from "../../../schema/agent/PoolName.ts"
import type { InstallConfigId, RunId } from "../../../schema/records/Ids.ts"
import type { RunType } from "../../../schema/records/Run.ts"
import { isApply } from "./RunAttempt.ts"
import { placesOfPool, RunPools } from "./RunPools.ts"
import { RunRow } from "./RunRow.ts"

/** The properties of a new Run that determine its place. */
interface PlacedRun {
  readonly type: RunType
  readonly installConfigId?: InstallConfigId | undefined
  readonly planRunId?: RunId | undefined
}

/** The pool that executes a new Run, and the kind of place it waits for. */
export const makeRunPlaces = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const pools = yield* RunPools

  /**
   * Fetching and building take as long as a remote server or a build command does, and change nothing: they must not take up the
   * places of applies.
   */
  const ownPlaces = Effect.fnUntraced(function* (run: PlacedRun): Effect.fn.Return<string, SqlError.SqlError> {
    if (run.type === "source_sync" || run.type === "compatibility_check") return "builds"
    if (run.type !== "plan" && run.type !== "destroy_plan") return "runs"
    const built = yield* sql`SELECT 1 AS one FROM install_configs
      WHERE id = ${run.installConfigId ?? ""} AND json_type(config, '$.sourceBuild') = 'object'`
    return built.length > 0 ? "builds" : "runs"
  })

  /** A saved plan is tied to the tool and its platform, so it is applied where it was created. */
  const poolOf = Effect.fnUntraced(function* (run: PlacedRun): Effect.fn.Return<string, SqlError.SqlError> {
    if (isApply(run.type)) {
      const [plan] = yield* RunRow.some(sql, "pool")`SELECT pool FROM runs WHERE id = ${run.planRunId ?? null}`
      return plan?.pool ?? localPool
    }
    const isOfModule = run.type === "plan" || run.type === "destroy_plan" || run.type === "drift_check"
    return isOfModule ? yield* pools(run.installConfigId) : localPool
  })

  return Effect.fnUntraced(function* (run: PlacedRun) {
    const pool = yield* poolOf(run)
    return { pool, places: pool === localPool ? yield* ownPlaces(run) : placesOfPool(pool) }
  })
})
