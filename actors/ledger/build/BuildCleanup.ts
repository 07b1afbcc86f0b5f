import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { BuildStore } from "../../../runner/execution/BuildStore.ts"
import { livingCapsule } from "../../../schema/tables/CapsuleTables.ts"
import { rowShape } from "../../base/database/Table.ts"

const UsedBuild = rowShape({ build_digest: Schema.String })

/**
 * Returns the builds used by the current states of existing Capsules, and by left-over states that nobody has adopted or
 * discarded.
 */
export const neededBuilds = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* UsedBuild.rows(sql)`
    SELECT v.build_digest FROM state_versions v JOIN capsules c ON c.current_state_version_id = v.id
      WHERE v.build_digest IS NOT NULL AND ${sql.literal(livingCapsule("c."))}
    UNION SELECT build_digest FROM left_over_states
      WHERE build_digest IS NOT NULL AND adopted_at IS NULL AND discarded_at IS NULL`
  return rows.map((row) => row.build_digest)
})

/** Removes builds that neither an applicable plan nor a current state uses. */
export const cleanUpBuilds = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const builds = yield* BuildStore
  const rows = yield* UsedBuild.rows(sql)`
    SELECT build_digest FROM run_plans WHERE build_digest IS NOT NULL`
  yield* builds.cleanUp(new Set([...rows.map((row) => row.build_digest), ...(yield* neededBuilds)]))
}).pipe(Effect.orDie, Effect.withSpan("cleanUpBuilds"))
