import { expect } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { migrate, migrateBy, migrations } from "../../../src/database/Migrations.ts"
import { layerWriter } from "../../../src/database/SqliteClient.ts"
import { it } from "../../support/Effect.ts"
import { temporaryFolder } from "../../support/TemporaryFolder.ts"

const before = Object.fromEntries(Object.entries(migrations).filter(([name]) => Number.parseInt(name, 10) < 56))
const at = "2026-01-01T00:00:00.000Z"
// Nulls within a change are values of attributes, and numbers keep their digits.
const changes = `[{"address":"a","changedAttributes":[{"name":"n","before":null,"after":1.50}]}]`
const drift = `[{"address":"a"},{"address":"b"}]`

it.live("the details of plans from an earlier release are stored apart from the rest of the evidence", () =>
  Effect.gen(function* () {
    const folder = yield* temporaryFolder
    yield* Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* migrateBy(before)
      yield* sql`INSERT INTO workspaces ${sql.insert({ id: "ws_a", handle: "a", display_name: "a", type: "organization", created_at: at, updated_at: at })}`
      const run = {
        workspace_id: "ws_a",
        status: "succeeded",
        requires_approval: 1,
        trigger_kind: "user",
        attempt: 1,
        spec: "{}",
        created_at: at,
        queued_at: at
      }
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
    }).pipe(Effect.provide(layerWriter(`${folder}/svc.db`)))
  })
)
