import { expect } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { staleTables } from "../../../../schema/tables/StaleTables.ts"
import { seed, world } from "../../../src/http/support/World.ts"
import { testDatabase } from "../../../support/Database.ts"
import { it } from "../../../support/Effect.ts"

/** Restores the previous release's tables and rows, then runs this release's migration. */
const upgradedFromBefore = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const statement of [
    "DROP TABLE consumed_inputs",
    "ALTER TABLE capsules DROP COLUMN stale_reasons",
    "ALTER TABLE capsules DROP COLUMN inputs_compared",
    ...staleTables
  ]) {
    yield* sql.unsafe(statement).unprepared
  }
})

it.live("an upgrade keeps the reasons why a Capsule is stale, and infers its last applied inputs from timestamps", () =>
  Effect.gen(function* () {
    yield* seed
    const sql = yield* SqlClient.SqlClient
    const applyId = "run_yyyyyyyyyyyyyyyyyyyyyyyy"
    const lane = {
      status: "stale",
      adopted_ref: "refs/heads/main",
      adopted_path: ".",
      adopted_commit: "1".repeat(40)
    }
    yield* sql`UPDATE capsules SET ${sql.update({ ...lane, current_state_version_id: world.stateVersionId })}`
    yield* sql`UPDATE dependencies SET outputs = ${JSON.stringify([{ from: "url", to: "address", required: true }])}`
    yield* sql`UPDATE runs SET started_at = '2026-01-02T00:00:00.000Z' WHERE id = ${world.runId}`
    const at = "2026-01-02T00:00:00.000Z"
    yield* sql`INSERT INTO runs ${sql.insert({ id: applyId, workspace_id: world.workspaceA, type: "apply", status: "succeeded", capsule_id: world.capsuleId, plan_run_id: world.runId, requires_approval: 0, trigger_kind: "user", attempt: 1, spec: "{}", evidence: "{}", created_at: at, queued_at: at })}`
    yield* sql`UPDATE state_versions SET created_by_run_id = ${applyId}`
    yield* upgradedFromBefore
    const [capsule] = yield* sql<{ stale_reasons: string }>`SELECT stale_reasons FROM capsules`
    expect(JSON.parse(capsule?.stale_reasons ?? "")).toEqual([
      { kind: "commit", sourceSnapshotId: world.sourceSnapshotId }
    ])
    expect(yield* sql`SELECT * FROM consumed_inputs`).toEqual([
      {
        capsule_id: world.capsuleId,
        dependency_id: world.dependencyId,
        input: "address",
        producer_capsule_id: world.capsuleId,
        output: "url",
        name: "url",
        state_version_id: world.stateVersionId
      }
    ])
  }).pipe(Effect.provide(testDatabase))
)
