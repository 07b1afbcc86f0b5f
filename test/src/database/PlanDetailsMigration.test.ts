import { expect } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { migrate } from "../../../src/database/Migrations.ts"
import { it } from "../../support/Effect.ts"
import { beforeMigration, run } from "./support/EarlierRelease.ts"

// The migration must keep nulls within a change, which are attribute values, and the digits of numbers.
const changes = `[{"address":"a","changedAttributes":[{"name":"n","before":null,"after":1.50}]}]`
const drift = `[{"address":"a"},{"address":"b"}]`

const stored = {
  a_plan: [
    "plan",
    `{"planSummary":{"add":1},"resourceChanges":${changes},"outputChanges":[],"resourceDrift":${drift}}`
  ],
  b_check: ["drift_check", `{"drifted":true,"resourceDrift":${drift}}`],
  c_clean: ["drift_check", `{"drifted":false,"resourceDrift":[]}`],
  d_apply: ["apply", `{"diagnostics":[{"summary":"s"}]}`],
  e_queued: ["plan", "{}"]
}

it.live("the migration moves plan details of earlier releases out of the remaining evidence", () =>
  beforeMigration(
    56,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      for (const [id, [type, evidence]] of Object.entries(stored))
        yield* sql`INSERT INTO runs ${sql.insert({ ...run, id, type, evidence })}`
      yield* migrate
      const migrated = yield* sql`SELECT id, evidence, plan_details FROM runs ORDER BY id`
      expect(migrated.map((row) => [row["evidence"], row["plan_details"]])).toEqual([
        [`{"planSummary":{"add":1}}`, `{"resourceChanges":${changes},"outputChanges":[],"resourceDrift":${drift}}`],
        [`{"drifted":true,"driftedResources":2}`, `{"resourceDrift":${drift}}`],
        [`{"drifted":false,"driftedResources":0}`, `{"resourceDrift":[]}`],
        [stored.d_apply[1], "{}"],
        ["{}", "{}"]
      ])
    })
  )
)
