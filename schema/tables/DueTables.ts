/** Selects messages of the given name that an earlier release sent to the given actor and never processed. */
const unprocessed = (actor: string, message: string) =>
  `FROM cluster_messages WHERE entity_type = '${actor}' AND tag = '${message}' AND kind = 0 AND processed = 0`

/**
 * Columns that record which work is due. Install plans, revision plans and Interfaces need no such columns, because their
 * existing columns show which steps are due. Earlier releases stored this work as messages of a library. The upgrade
 * converts unprocessed messages, and drops the library's tables.
 */
export const dueWorkTables: ReadonlyArray<string> = [
  `ALTER TABLE capsules ADD COLUMN follow_snapshot_id TEXT`,
  `ALTER TABLE capsules ADD COLUMN follow_look TEXT`,
  `CREATE INDEX capsules_to_follow ON capsules (id) WHERE follow_snapshot_id IS NOT NULL`,
  `ALTER TABLE sources ADD COLUMN unread_due TEXT`,
  `CREATE INDEX sources_unread ON sources (id) WHERE unread_due IS NOT NULL`,
  // Stored in a separate table, because changing a column rewrites the entire row, and the row of a Run can be large.
  `CREATE TABLE run_follow_due (
    run_id TEXT PRIMARY KEY NOT NULL REFERENCES runs (id)
  )`,
  `CREATE INDEX install_plans_to_begin ON install_plans (id) WHERE phase = 'syncing_source' AND sync_run_id IS NULL`,
  `CREATE INDEX revision_plans_to_begin ON revision_plans (id) WHERE phase = 'syncing_source' AND sync_run_id IS NULL`,
  `CREATE INDEX interface_intents_pending ON interface_intents (created_at, id) WHERE status = 'pending'`,
  // Work that keeps failing. People see it in the attention list.
  `CREATE TABLE stuck_work (
    kind TEXT NOT NULL,
    record_id TEXT NOT NULL,
    workspace_id TEXT NOT NULL REFERENCES workspaces (id),
    since TEXT NOT NULL,
    PRIMARY KEY (kind, record_id)
  )`,
  `CREATE INDEX stuck_work_by_workspace ON stuck_work (workspace_id, since)`,
  // The table is created if it is missing, because it exists only in databases that contain messages from earlier releases.
  `CREATE TABLE IF NOT EXISTS cluster_messages (
    entity_type TEXT, entity_id TEXT, kind INTEGER, tag TEXT, payload TEXT, processed BOOLEAN
  )`,
  `UPDATE capsules SET (follow_snapshot_id, follow_look) =
    (SELECT json_extract(payload, '$.sourceSnapshotId'), json_extract(payload, '$.look')
      ${unprocessed("Capsule", "FollowLane")} AND entity_id = capsules.id ORDER BY cluster_messages.rowid DESC LIMIT 1)
    WHERE id IN (SELECT entity_id ${unprocessed("Capsule", "FollowLane")})`,
  `UPDATE sources SET unread_due = (SELECT json_extract(payload, '$.runId')
      ${unprocessed("Source", "Unread")} AND entity_id = sources.id ORDER BY cluster_messages.rowid DESC LIMIT 1)
    WHERE id IN (SELECT entity_id ${unprocessed("Source", "Unread")})`,
  `INSERT INTO run_follow_due (run_id) SELECT id FROM runs
    WHERE id IN (SELECT json_extract(payload, '$.planRunId') ${unprocessed("Capsule", "ApplyFollowed")})`,
  // Marks the newest Run of each unfinished coordinator as due. The coordinator then collects the result again. Collecting a
  // result twice has no further effect.
  `INSERT INTO run_follow_due (run_id) SELECT id FROM runs
    WHERE id NOT IN (SELECT run_id FROM run_follow_due) AND status NOT IN ('queued', 'running')
      AND (id IN (SELECT COALESCE(plan_run_id, check_run_id, sync_run_id) FROM install_plans
          WHERE phase NOT IN ('reviewable', 'failed'))
        OR id IN (SELECT COALESCE(plan_run_id, check_run_id, sync_run_id) FROM revision_plans
          WHERE phase NOT IN ('reviewable', 'failed')))`,
  `DROP TABLE IF EXISTS cluster_replies`,
  `DROP TABLE cluster_messages`,
  `DROP TABLE IF EXISTS cluster_migrations`,
  `DROP TABLE IF EXISTS cluster_locks`,
  `DROP TABLE IF EXISTS cluster_runners`,
  `DROP TABLE IF EXISTS cluster_shards`
]
