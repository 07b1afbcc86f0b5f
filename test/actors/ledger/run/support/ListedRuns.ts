import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { transaction } from "../../../../../actors/base/database/Transaction.ts"
import { RunLedger, type NewRun } from "../../../../../actors/ledger/run/RunLedger.ts"
import type { WorkspaceId } from "../../../../../schema/records/Ids.ts"
import type { RunStatus } from "../../../../../schema/records/Run.ts"
import { namedCapsule, namedRun, namedSnapshot, namedSource } from "../../../../support/NamedIds.ts"

/** Returns the time at the given number of minutes into the year. */
export const minute = (at: number) => new Date(Date.UTC(2026, 0, 1, 0, at)).toISOString()

type Rest = Partial<Omit<NewRun, "id" | "workspaceId" | "spec">>

/** A finished Run, created the given number of minutes into the year. */
export const endedRun = Effect.fnUntraced(function* (
  workspaceId: WorkspaceId,
  name: string,
  at: number,
  { status = "succeeded", ...rest }: Rest & { readonly status?: RunStatus } = {}
) {
  const sql = yield* SqlClient.SqlClient
  const ledger = yield* RunLedger
  const id = namedRun(name)
  // Uses a transaction, so that the service does not start the Run.
  yield* Effect.gen(function* () {
    yield* ledger.insert({ type: "plan", trigger: "user", spec: {}, ...rest, id, workspaceId })
    yield* sql`UPDATE runs SET status = ${status}, created_at = ${minute(at)} WHERE id = ${id}`
  }).pipe(transaction(sql))
  return id
})

/** Inserts records that Runs refer to: a Source with snapshots, and Capsules. */
export const recordsOfRuns = Effect.fnUntraced(function* (
  workspaceId: WorkspaceId,
  {
    capsules,
    snapshots,
    source
  }: {
    readonly source: string
    /** Capsule names and their environments. */
    readonly capsules: Readonly<Record<string, string>>
    /** Commits by snapshot name. */
    readonly snapshots: Readonly<Record<string, { readonly commit: string; readonly title: string }>>
  }
) {
  const sql = yield* SqlClient.SqlClient
  const [project] = yield* sql<{ id: string }>`SELECT id FROM projects WHERE workspace_id = ${workspaceId}`
  const source_id = namedSource(source)
  const install_config_id = `icfg_${source.padStart(24, "0")}`
  const created_at = minute(0)
  yield* sql`INSERT INTO sources ${sql.insert({ id: source_id, workspace_id: workspaceId, name: source, url: "https://git.example.test/app.git", default_ref: "HEAD", default_path: ".", auto_sync: 0, status: "active", hook_secret: "sealed", created_at, updated_at: created_at })}`
  yield* sql`INSERT INTO install_configs ${sql.insert({ id: install_config_id, workspace_id: workspaceId, origin: "generic", module_path: ".", contract_digest: "d", digest: "d", config: "{}", created_at })}`
  for (const [name, environment] of Object.entries(capsules)) {
    const row = { id: namedCapsule(name), workspace_id: workspaceId, project_id: project?.id ?? "", source_id }
    const named = { install_config_id, name, slug: name, environment, module_path: "." }
    const lane = { tracked_ref: "HEAD", tracked_path: ".", auto_update_enabled: 0, auto_update_apply: 0 }
    const states = { status: "active", runtime_safety: "safe", drift_status: "none" }
    const fence = { current_state_generation: 0, execution_authority_epoch: 1, created_at, updated_at: created_at }
    yield* sql`INSERT INTO capsules ${sql.insert({ ...row, ...named, ...lane, ...states, ...fence })}`
  }
  for (const [name, { commit, title }] of Object.entries(snapshots)) {
    const row = { id: namedSnapshot(name), workspace_id: workspaceId, source_id, created_at }
    const lane = { url: "https://git.example.test/app.git", ref: "HEAD", resolved_commit: commit, path: "." }
    const archive = { archive_digest: "d", archive_size_bytes: 1, file_count: 1, omitted: "[]", warnings: "[]" }
    const origin = { repository_manifest: "absent", created_by_run_id: namedRun("none") }
    const commit_description = JSON.stringify({ title, authorName: "Mei Tanaka" })
    yield* sql`INSERT INTO source_snapshots ${sql.insert({ ...row, ...lane, ...archive, ...origin, commit_description })}`
  }
  return source_id
})
