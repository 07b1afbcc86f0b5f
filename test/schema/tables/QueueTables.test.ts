import { Database } from "bun:sqlite"
import { expect, test } from "bun:test"
import { capsuleTables } from "../../../schema/tables/CapsuleTables.ts"
import { queueTables } from "../../../schema/tables/QueueTables.ts"
import { runTables } from "../../../schema/tables/RunTables.ts"

test("an upgrade assigns a pool and a place in the Capsule's queue to Runs left open by an earlier release", () => {
  const database = new Database(":memory:")
  for (const statement of [...capsuleTables, ...runTables]) database.run(statement)
  const config =
    database.query(`INSERT INTO install_configs (id, workspace_id, origin, module_path, contract_digest, digest, config, created_at)
    VALUES (?, 'ws', 'generic', '.', 'd', 'd', ?, 't')`)
  config.run("icfg_plain", JSON.stringify({ variables: [] }))
  config.run("icfg_built", JSON.stringify({ variables: [], sourceBuild: { commands: [], outputs: [] } }))
  const run =
    database.query(`INSERT INTO runs (id, workspace_id, type, status, capsule_id, install_config_id, requires_approval,
    trigger_kind, attempt, spec, evidence, created_at, queued_at) VALUES (?, 'ws', ?, ?, ?, ?, 0, 'user', 0, '{}', '{}', 't', ?)`)
  run.run("running", "apply", "running", "cap_1", "icfg_built", "1")
  run.run("behind", "plan", "queued", "cap_1", "icfg_plain", "2")
  run.run("drift", "drift_check", "queued", "cap_2", "icfg_built", "1")
  run.run("built", "plan", "queued", "cap_2", "icfg_built", "2")
  run.run("sync", "source_sync", "queued", null, null, "3")
  run.run("done", "plan", "succeeded", "cap_3", "icfg_built", "1")
  for (const statement of queueTables) database.run(statement)

  const rows = () =>
    database
      .query("SELECT id, slot_pool, capsule_line, capsule_wait FROM runs ORDER BY id")
      .values()
      .map((row) => row.join(" "))
  expect(rows()).toEqual([
    "behind runs cap_1 1",
    "built builds cap_2 0",
    "done runs  0",
    "drift runs cap_2 1",
    "running runs cap_1 0",
    "sync builds  0"
  ])
  // From here on, every status change of a Run updates its queue, regardless of the code that makes the change.
  database.run("UPDATE runs SET status = 'failed' WHERE id = 'running'")
  database.run("UPDATE runs SET status = 'running' WHERE id = 'built'")
  expect(rows().filter((row) => /^(behind|drift)/.test(row))).toEqual(["behind runs cap_1 0", "drift runs cap_2 1"])
  database.run("UPDATE runs SET status = 'cancelled' WHERE id = 'built'")
  expect(rows().filter((row) => row.startsWith("drift"))).toEqual(["drift runs cap_2 0"])
})
