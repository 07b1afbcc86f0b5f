import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { localPool } from "../../../schema/agent/PoolName.ts"
import { rowShape } from "../../base/database/Table.ts"
import { RunPools } from "../run/RunLedger.ts"
import { executionProfile, OperatorConfigs } from "./OperatorConfigs.ts"

const ProfileName = rowShape({ profile: Schema.NullOr(Schema.String) })

/** Assigns a new Run to the pool that the operator currently defines for its execution profile. */
export const layer = Layer.effect(
  RunPools,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const operator = yield* OperatorConfigs
    return Effect.fnUntraced(function* (configId) {
      // If the operator defines no pool, as in most installations, the query is skipped.
      if (Object.values(operator.profiles).every(({ pool }) => pool === undefined)) return localPool
      const [config] = yield* ProfileName.rows(sql)`SELECT json_extract(config, '$.operator.profile') AS profile
        FROM install_configs WHERE id = ${configId ?? null}`
      const profile = config?.profile ?? undefined
      return (profile === undefined ? undefined : executionProfile(operator, profile)?.pool) ?? localPool
    }, Effect.orDie)
  })
)
