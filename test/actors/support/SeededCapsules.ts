import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const at = "2026-01-01T00:00:00.000Z"
const sound = { status: "active", runtime_safety: "safe", drift_status: "none", updated_at: at }
export const id = (index: number) => `cap_${String(index).padStart(24, "0")}`

/** Inserts Capsules directly as rows. All Capsules are healthy unless `states` changes them. */
export const seedCapsules = Effect.fnUntraced(function* (
  workspaceId: string,
  count: number,
  states: ReadonlyMap<number, Readonly<Record<string, string | null>>>
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
