import { afterAll, expect } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Capsules } from "../../../actors/capsule/Capsules.ts"
import { ReadSql } from "../../../actors/database/ReadSql.ts"
import { CapsuleId, WorkspaceId } from "../../../schema/records/Ids.ts"
import { capsulesNeedingAttention } from "../../../schema/tables/CapsuleTables.ts"
import { attentionOf } from "../../../src/http/handlers/Attention.ts"
import { suite } from "../../support/Effect.ts"
import { TestPlane, testPlane } from "../../support/TestPlane.ts"

const tests = suite(testPlane())
afterAll(tests.dispose)

const at = "2026-01-01T00:00:00.000Z"
const sound = { status: "active", runtime_safety: "safe", drift_status: "none", updated_at: at }
const id = (index: number) => `cap_${String(index).padStart(24, "0")}`

/** More Capsules than fit on a page, all healthy except those changed by `states`. */
const seed = Effect.fnUntraced(function* (
  workspaceId: string,
  count: number,
  states: ReadonlyMap<number, Partial<typeof sound>>
) {
  const sql = yield* SqlClient.SqlClient
  const [project] = yield* sql<{ id: string }>`SELECT id FROM projects WHERE workspace_id = ${workspaceId}`
  const project_id = project?.id ?? ""
  const source_id = `src_${"a".repeat(24)}`
  const install_config_id = `icfg_${"a".repeat(24)}`
  yield* sql`INSERT INTO sources ${sql.insert({ id: source_id, workspace_id: workspaceId, name: "app", url: "https://git.example.test/app.git", default_ref: "HEAD", default_path: ".", auto_sync: 0, status: "active", hook_secret: "sealed", created_at: at, updated_at: at })}`
  yield* sql`INSERT INTO install_configs ${sql.insert({ id: install_config_id, workspace_id: workspaceId, origin: "generic", module_path: ".", contract_digest: "d", digest: "d", config: "{}", created_at: at })}`
  for (let index = 0; index < count; index++) {
    const row = { workspace_id: workspaceId, project_id, source_id, install_config_id, module_path: "." }
    const named = { id: id(index), name: `capsule-${index}`, slug: `capsule-${index}`, environment: "production" }
    const authority = {
      current_state_generation: 0,
      execution_authority_epoch: 1,
      tracked_ref: "HEAD",
      tracked_path: "."
    }
    const rest = { auto_update_enabled: 0, auto_update_apply: 0, created_at: at }
    yield* sql`INSERT INTO capsules ${sql.insert({ ...row, ...named, ...authority, ...rest, ...sound, ...states.get(index) })}`
  }
})

tests.live("every Capsule that needs attention is found in the whole Workspace, and no others", () =>
  Effect.gen(function* () {
    const { workspaceId } = yield* TestPlane
    const capsules = yield* Capsules
    yield* seed(
      workspaceId,
      130,
      new Map([
        [3, { status: "destroyed", drift_status: "drifted" }],
        [101, { drift_status: "drifted", updated_at: "2026-01-04T00:00:00.000Z" }],
        [110, { status: "stale", updated_at: "2026-01-02T00:00:00.000Z" }],
        [119, { status: "error", runtime_safety: "unknown", updated_at: "2026-01-03T00:00:00.000Z" }]
      ])
    )
    const needingAttention = yield* capsules.needingAttention(workspaceId)
    expect(needingAttention.map(({ name }) => name)).toEqual(["capsule-101", "capsule-119", "capsule-110"])
    expect(attentionOf({ needingAttention }).map(({ capsuleName, kind }) => [kind, capsuleName])).toEqual([
      ["unknown_safety", "capsule-119"],
      ["failed", "capsule-119"],
      ["drifted", "capsule-101"],
      ["stale", "capsule-110"]
    ])
    expect(yield* capsules.needingAttention(WorkspaceId.make(`ws_${"z".repeat(24)}`))).toEqual([])
    const read = yield* ReadSql
    const plan = yield* read<{ detail: string }>`EXPLAIN QUERY PLAN SELECT id FROM capsules
      WHERE workspace_id = ${workspaceId} AND ${read.literal(capsulesNeedingAttention)} ORDER BY updated_at DESC, id LIMIT 100`
    expect(plan.map(({ detail }) => detail).join(" ")).toContain("capsules_in_need")
    const names = yield* capsules.names([CapsuleId.make(id(129)), CapsuleId.make(id(999))])
    expect([...names]).toEqual([[id(129), "capsule-129"]])
  })
)
