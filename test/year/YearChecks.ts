import { Effect, FileSystem, Option, Path } from "effect"
import { SqlClient } from "effect/sql"
import { AuditKeys } from "../../actors/base/audit/AuditLink.ts"
import { verifyAudit } from "../../actors/base/audit/AuditVerification.ts"
import { ReadSql } from "../../actors/base/database/ReadSql.ts"
import { StoredBytes } from "../../actors/upkeep/retention/StoredBytes.ts"
import { SnapshotStore } from "../../runner/snapshot/SnapshotStore.ts"
import { StateVersionId } from "../../schema/records/Ids.ts"
import { StateVersions } from "../../actors/ledger/state/StateVersions.ts"

/** Statements that find rows that must not exist. */
const dangling = [
  [
    "Capsules without their present state",
    `SELECT c.id FROM capsules c WHERE c.status IN ('active', 'stale') AND NOT EXISTS (SELECT 1 FROM state_versions v
      WHERE v.id = c.current_state_version_id AND v.state IS NOT NULL)`
  ],
  [
    "Capsules without the commit that they stand at",
    `SELECT c.id FROM capsules c WHERE c.status IN ('active', 'stale') AND NOT EXISTS (SELECT 1 FROM source_snapshots s
      WHERE s.id = c.adopted_snapshot_id)`
  ],
  [
    "Capsules with fewer states to go back to than they had, and than ten",
    `SELECT c.id FROM capsules c WHERE c.status IN ('active', 'stale') AND (SELECT COUNT(*) FROM state_versions v
      WHERE v.capsule_id = c.id) < MIN(10, (SELECT MAX(v.generation) FROM state_versions v WHERE v.capsule_id = c.id))`
  ],
  [
    "states without the commit that they were made from",
    `SELECT v.id FROM state_versions v WHERE NOT EXISTS (SELECT 1 FROM source_snapshots s WHERE s.id = v.source_snapshot_id)`
  ],
  [
    "states without the Run that made them",
    `SELECT v.id FROM state_versions v WHERE NOT EXISTS (SELECT 1 FROM runs r WHERE r.id = v.created_by_run_id)`
  ],
  [
    "plans that wait without their file",
    `SELECT r.id FROM runs r WHERE r.type IN ('plan', 'destroy_plan') AND r.status = 'waiting_approval'
      AND NOT EXISTS (SELECT 1 FROM run_plans p WHERE p.run_id = r.id AND p.plan_file IS NOT NULL)`
  ],
  [
    "receipts without what they answer",
    `SELECT i.idempotency_key AS id FROM idempotency_receipts i WHERE i.result_id LIKE 'run\\_%' ESCAPE '\\'
      AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.id = i.result_id)`
  ],
  ["rows that name what is gone", 'SELECT "table" AS id FROM pragma_foreign_key_check'],
  ["damaged pages", "SELECT quick_check AS id FROM pragma_quick_check WHERE quick_check <> 'ok'"]
] as const

const filesBelow = Effect.fnUntraced(function* (folder: string) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const found: Array<string> = []
  for (const name of yield* files.readDirectory(folder, { recursive: true })) {
    // A file may disappear if the service removes it during the walk.
    const info = yield* Effect.catchReason(
      Effect.asSome(files.stat(path.join(folder, name))),
      "PlatformError",
      "NotFound",
      () => Effect.succeedNone
    )
    if (Option.isSome(info) && info.value.type === "File") found.push(name)
  }
  return found
})

/** Returns the archives that no record references. An archive is an orphan if two checks, several days apart, find it. */
export const unnamedArchives = Effect.fn("unnamedArchives")(function* (dataDir: string) {
  const read = yield* ReadSql
  const rows = yield* read<{ digest: string }>`SELECT DISTINCT archive_digest AS digest FROM source_snapshots`
  const named = new Set(rows.map(({ digest }) => digest.replace("sha256:", "")))
  const stored = yield* filesBelow(`${dataDir}/snapshots`)
  return stored.filter((file) => !named.has(file.replace(/^.*\//, "").replace(/\..*$/, "")))
})

/** Checks that every archive referenced by a record exists and is intact, by reading and verifying each of its files. */
const archives = Effect.fn("archives")(function* () {
  const read = yield* ReadSql
  const store = yield* SnapshotStore
  const rows = yield* read<{ digest: string }>`SELECT DISTINCT archive_digest AS digest FROM source_snapshots`
  const faults: Array<string> = []
  for (const { digest } of rows) {
    const opened = yield* Effect.result(store.digests(digest))
    if (opened._tag === "Failure") faults.push(`the archive ${digest}: ${opened.failure.message}`)
  }
  return faults
})

/** Checks that every current state can be unsealed. */
const states = Effect.fn("states")(function* () {
  const read = yield* ReadSql
  const kept = yield* StateVersions
  const rows = yield* read<{ id: string }>`SELECT current_state_version_id AS id FROM capsules
    WHERE status IN ('active', 'stale')`
  const faults: Array<string> = []
  for (const { id } of rows) {
    const outputs = yield* Effect.exit(kept.outputs(StateVersionId.make(id)))
    if (outputs._tag === "Failure") faults.push(`the Outputs of ${id} cannot be read`)
    for (const output of outputs._tag === "Success" ? outputs.value : []) {
      if ((yield* Effect.exit(kept.outputText(output)))._tag === "Failure")
        faults.push(`${id} ${output.name} is unreadable`)
    }
  }
  return faults
})

/** Checks that the reported storage matches the tables. */
const usage = Effect.fn("usage")(function* () {
  const read = yield* ReadSql
  const { amounts } = yield* (yield* StoredBytes).measure
  const measured = (kind: string) => amounts.reduce((sum, each) => sum + (each.kind === kind ? each.bytes : 0), 0)
  const [held] = yield* read<{ logs: number; states: number; snapshots: number }>`SELECT
    (SELECT COALESCE(SUM(OCTET_LENGTH(entries)), 0) FROM run_log_chunks) AS logs,
    (SELECT COALESCE(SUM(OCTET_LENGTH(state)), 0) FROM state_versions) AS states,
    (SELECT COALESCE(SUM(size), 0) FROM (SELECT MAX(archive_size_bytes) AS size FROM source_snapshots
      GROUP BY archive_digest)) AS snapshots`
  const faults: Array<string> = []
  if (measured("states") !== held?.states) faults.push(`states: ${measured("states")} said, ${held?.states} held`)
  if (measured("snapshots") !== held?.snapshots)
    faults.push(`snapshots: ${measured("snapshots")} said, ${held?.snapshots} held`)
  if (measured("logs") > 2 * (held?.logs ?? 0) || 2 * measured("logs") < (held?.logs ?? 0))
    faults.push(`logs: ${measured("logs")} said, ${held?.logs} held`)
  return faults
})

/** Returns all faults of an idle installation. */
export const faultsOf = Effect.fn("faultsOf")(function* () {
  const sql = yield* SqlClient.SqlClient
  const faults: Array<string> = []
  for (const [what, statement] of dangling) {
    const rows = yield* sql.unsafe<{ id: string }>(statement)
    if (rows.length > 0) faults.push(`${rows.length} ${what}: ${JSON.stringify(rows.slice(0, 3))}`)
  }
  faults.push(...(yield* archives()), ...(yield* states()), ...(yield* usage()))
  const audit = yield* verifyAudit(yield* AuditKeys, undefined)
  faults.push(...audit.faults.map(({ message }) => `history: ${message}`))
  return faults
})
