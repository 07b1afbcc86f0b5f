/**
 * The owner of a Run's execution, and the Run's sequence numbers.
 *
 * - `fence`: incremented by every claim and never decreased; a claim under an earlier fence can no longer write
 * - `pool`: the pool that executes the Run; `local` is this process
 * - `lease_seconds`, `start_acknowledged_at`: how long the owner may be silent, and when it was allowed to start the tool;
 *   `local` uses neither, because its lease is the lock on the data folder
 * - `last_event_seq`, `last_log_seq`: the numbers of the last event and the last log line
 * - `last_event_batch`, `last_log_batch`: the last batches accepted under the current fence
 * - `log_ended_at`: when the log was completed; `NULL` while more lines may follow
 */
export const runLifecycleTables: ReadonlyArray<string> = [
  `ALTER TABLE runs ADD COLUMN fence INTEGER NOT NULL DEFAULT 0`,
  `ALTER TABLE runs ADD COLUMN lease_seconds INTEGER`,
  `ALTER TABLE runs ADD COLUMN pool TEXT NOT NULL DEFAULT 'local'`,
  `ALTER TABLE runs ADD COLUMN last_event_seq INTEGER NOT NULL DEFAULT 0`,
  `ALTER TABLE runs ADD COLUMN last_event_batch INTEGER NOT NULL DEFAULT 0`,
  `ALTER TABLE runs ADD COLUMN last_log_seq INTEGER NOT NULL DEFAULT 0`,
  `ALTER TABLE runs ADD COLUMN last_log_batch INTEGER NOT NULL DEFAULT 0`,
  `ALTER TABLE runs ADD COLUMN log_ended_at TEXT`,
  `ALTER TABLE runs ADD COLUMN start_acknowledged_at TEXT`,
  // Run folders used to be named after the attempt. The attempt number becomes the fence, so that a running Run keeps its
  // folder.
  `UPDATE runs SET fence = attempt`,
  `UPDATE runs SET
    last_event_seq = COALESCE((SELECT MAX(seq) FROM run_events WHERE run_id = runs.id), 0),
    last_log_seq = COALESCE((SELECT MAX(last_seq) FROM run_log_chunks WHERE run_id = runs.id), 0)`,
  `UPDATE runs SET log_ended_at = COALESCE(finished_at, started_at) WHERE status NOT IN ('queued', 'running')`,
  // Owners used to be random process names. These owners now count as incarnation 0, which precedes all other incarnations.
  `ALTER TABLE installation ADD COLUMN incarnation INTEGER NOT NULL DEFAULT 0`,
  `UPDATE runs SET owner = CASE WHEN status = 'running' THEN (SELECT installation_id || '#0' FROM installation) END`,
  `CREATE INDEX runs_log_open ON runs (id) WHERE started_at IS NOT NULL AND log_ended_at IS NULL`,
  // The data that the preparation of an execution stores for the settlement: ids and digests, never secrets.
  `CREATE TABLE run_preparations (
    run_id TEXT NOT NULL REFERENCES runs (id),
    fence INTEGER NOT NULL,
    kind TEXT NOT NULL,
    data TEXT NOT NULL,
    created_at TEXT NOT NULL,
    PRIMARY KEY (run_id, fence)
  )`
]
