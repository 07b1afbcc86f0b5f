const drift = `(type = 'drift_check')`
const subject = `COALESCE(created_by, '')`

/**
 * The first queued Run of a Capsule may start if none of its Runs is running; all other queued Runs wait. Triggers maintain
 * this state, so that every status change is covered, and claiming a Run does not require reading entire queues.
 */
const settleLine = `
    UPDATE runs SET capsule_wait = 1 WHERE capsule_line = NEW.capsule_line AND status = 'queued' AND capsule_wait = 0;
    UPDATE runs SET capsule_wait = 0
      WHERE id = (SELECT id FROM runs WHERE capsule_line = NEW.capsule_line AND status = 'queued'
          ORDER BY ${drift}, queued_at, id LIMIT 1)
        AND NOT EXISTS (SELECT 1 FROM runs WHERE capsule_line = NEW.capsule_line AND status = 'running');`

/** Columns and indexes that let the queue find the next Run without reading every queued Run. */
export const queueTables: ReadonlyArray<string> = [
  // The Run's slot pool, and the Capsule in whose queue it waits; `NULL` if it may run in parallel with other Runs of its
  // Capsule.
  `ALTER TABLE runs ADD COLUMN slot_pool TEXT NOT NULL DEFAULT 'runs'`,
  `ALTER TABLE runs ADD COLUMN capsule_line TEXT`,
  `ALTER TABLE runs ADD COLUMN capsule_wait INTEGER NOT NULL DEFAULT 0`,
  `UPDATE runs SET slot_pool = 'builds' WHERE status IN ('queued', 'running') AND (
    type IN ('source_sync', 'compatibility_check') OR (type IN ('plan', 'destroy_plan') AND EXISTS (
      SELECT 1 FROM install_configs i WHERE i.id = runs.install_config_id
        AND json_type(i.config, '$.sourceBuild') = 'object')))`,
  `UPDATE runs SET capsule_line = capsule_id WHERE status IN ('queued', 'running')
    AND type IN ('plan', 'apply', 'destroy_plan', 'destroy_apply', 'drift_check', 'restore')`,
  `CREATE INDEX runs_line_queued ON runs (capsule_line, ${drift}, queued_at, id) WHERE status = 'queued'`,
  `CREATE INDEX runs_line_running ON runs (capsule_line) WHERE status = 'running'`,
  `CREATE INDEX runs_line_first ON runs (capsule_line) WHERE status = 'queued' AND capsule_wait = 0`,
  `UPDATE runs SET capsule_wait = 1 WHERE status = 'queued' AND capsule_line IS NOT NULL AND (
    EXISTS (SELECT 1 FROM runs o WHERE o.capsule_line = runs.capsule_line AND o.status = 'running')
    OR id <> (SELECT o.id FROM runs o WHERE o.capsule_line = runs.capsule_line AND o.status = 'queued'
      ORDER BY (o.type = 'drift_check'), o.queued_at, o.id LIMIT 1))`,
  `CREATE TRIGGER runs_line_entered AFTER INSERT ON runs
  WHEN NEW.capsule_line IS NOT NULL AND NEW.status IN ('queued', 'running') BEGIN${settleLine}
  END`,
  `CREATE TRIGGER runs_line_moved AFTER UPDATE OF status, queued_at ON runs
  WHEN NEW.capsule_line IS NOT NULL AND (OLD.status <> NEW.status OR OLD.queued_at <> NEW.queued_at)
    AND (OLD.status IN ('queued', 'running') OR NEW.status IN ('queued', 'running')) BEGIN${settleLine}
  END`,
  `CREATE INDEX runs_claimable ON runs (slot_pool, ${drift}, workspace_id, queued_at, id)
    WHERE status = 'queued' AND capsule_wait = 0`,
  `CREATE INDEX runs_claimable_of_subject ON runs (slot_pool, ${drift}, workspace_id, ${subject}, queued_at, id)
    WHERE status = 'queued' AND capsule_wait = 0`,
  `CREATE INDEX runs_queued_of_workspace ON runs (workspace_id, queued_at, id) WHERE status = 'queued'`,
  // The turn in which each Workspace, and each subject in it, last started a Run. Turns only increase and do not depend on a
  // clock.
  `CREATE TABLE run_turns (
    turn INTEGER PRIMARY KEY AUTOINCREMENT,
    slot_pool TEXT NOT NULL,
    workspace_id TEXT NOT NULL REFERENCES workspaces (id),
    subject TEXT NOT NULL,
    UNIQUE (slot_pool, workspace_id, subject)
  )`,
  `CREATE INDEX run_turns_of_workspace ON run_turns (slot_pool, workspace_id)`
]
