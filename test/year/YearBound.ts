import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { MonthFigures } from "./YearFigures.ts"
import type { YearSize } from "./YearSize.ts"

const kibibyte = 1024
const mebibyte = 1024 * kibibyte
/** The size of an empty database, plus space that is never freed. */
const base = 8 * mebibyte
const runBytes = 6 * kibibyte
const eventBytes = kibibyte
const targetBytes = 16 * kibibyte
const targets = 10
/** Number of days after which the plan file of a Run is removed. */
const planDays = 8
const spare = 1.25
/** Excludes the write-ahead log. */
export const logBound = 64 * mebibyte

interface Load {
  readonly capsules: number
  readonly runs: number
  readonly plans: number
  readonly applies: number
  readonly commits: number
  readonly state: number
  readonly logs: number
  readonly changes: number
}

/** Returns the average daily activity since the given date, and the size of a sealed state. */
export const loadSince = Effect.fn("loadSince")(function* (since: string, days: number) {
  const sql = yield* SqlClient.SqlClient
  const [load] = yield* sql<Load>`SELECT
    (SELECT COUNT(*) FROM capsules WHERE status <> 'destroyed') AS capsules,
    (SELECT COUNT(*) FROM runs WHERE created_at >= ${since}) AS runs,
    (SELECT COUNT(*) FROM runs WHERE created_at >= ${since} AND type IN ('plan', 'destroy_plan')) AS plans,
    (SELECT COUNT(*) FROM runs WHERE created_at >= ${since} AND type IN ('apply', 'destroy_apply')) AS applies,
    (SELECT COUNT(*) FROM source_snapshots WHERE created_at >= ${since}) AS commits,
    (SELECT COALESCE(MAX(OCTET_LENGTH(state)), 0) FROM state_versions) AS state,
    (SELECT COALESCE(SUM(l.bytes), 0) FROM run_log_chunks l JOIN runs r ON r.id = l.run_id WHERE r.created_at >= ${since}) AS logs,
    (SELECT COUNT(*) FROM audit_events WHERE created_at >= ${since}) AS changes`
  if (load === undefined) return yield* Effect.die("nothing was counted")
  const daily = (count: number) => count / days
  return {
    ...load,
    runs: daily(load.runs),
    plans: daily(load.plans),
    applies: daily(load.applies),
    commits: daily(load.commits),
    logs: daily(load.logs),
    changes: daily(load.changes)
  }
})

/**
 * Computes the formula from the operations page, in bytes. `keepAudit` is the number of days for which the history is kept.
 */
export const boundOf = (load: Load, { keep, keepAudit }: YearSize) =>
  base +
  spare *
    (load.runs * keep * runBytes +
      load.logs * keep +
      load.changes * keepAudit * eventBytes +
      (load.capsules * targets + load.applies * keep) * (load.state + targetBytes) +
      load.plans * planDays * (load.state + targetBytes))

/** Tables that grow by design, with the reason. */
const growing = new Map([
  ["access_tokens", "the inventory names revoked tokens"],
  ["capsules", "destroyed ones stay in the list"],
  ["install_configs", "what destroyed Capsules were configured with"],
  ["vault_data_keys", "a retired one stays: what it seals may"],
  ["svc_migrations", "releases"],
  ["sqlite_stat1", "statistics of the query planner"]
])
const share = 1.25
const few = 25

/** Returns the tables that have more rows at the end than after the first complete cleanup. */
export const notLevel = (first: MonthFigures, last: MonthFigures): ReadonlyArray<string> => {
  const faults: Array<string> = []
  for (const [table, rows] of last.rows) {
    const before = first.rows.get(table) ?? 0
    if (!growing.has(table) && rows > before * share + few) faults.push(`${table} grew from ${before} to ${rows} rows`)
  }
  if (last.database > first.database * share + mebibyte) {
    faults.push(`the database grew from ${first.database} to ${last.database} bytes`)
  }
  for (const [folder, bytes] of Object.entries(last.folders)) {
    const before = first.folders[folder] ?? 0
    if (bytes > before * share + mebibyte) faults.push(`${folder} grew from ${before} to ${bytes} bytes`)
  }
  return faults
}
