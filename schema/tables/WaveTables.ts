const touched = "UPDATE run_groups SET moved = moved + 1 WHERE finished_at IS NULL AND type = 'update'"

/** Creates a trigger that fires for every change that an open update of a Workspace may be waiting for. */
const trigger = (name: string, event: string, when: string, which: string) =>
  `CREATE TRIGGER run_group_${name} AFTER ${event} WHEN ${when} BEGIN ${touched} AND ${which}; END`

const ofCapsule = (id: string) => `id IN (SELECT group_id FROM run_group_members WHERE capsule_id = ${id})`

/**
 * Updates of a Workspace, which advance in waves. `moved` counts changes since the group began. Only triggers increment it,
 * so that every change of a Run or Capsule is counted. `seen` is the count at the last decision.
 */
export const waveTables: ReadonlyArray<string> = [
  `ALTER TABLE run_groups ADD COLUMN started_by TEXT`,
  `ALTER TABLE run_groups ADD COLUMN cancelled_at TEXT`,
  `ALTER TABLE run_groups ADD COLUMN cancelled_by TEXT`,
  `ALTER TABLE run_groups ADD COLUMN cancel_reason TEXT`,
  `ALTER TABLE run_groups ADD COLUMN replaced_by TEXT`,
  `ALTER TABLE run_groups ADD COLUMN held_reason TEXT`,
  `ALTER TABLE run_groups ADD COLUMN held_by_pause INTEGER NOT NULL DEFAULT 0`,
  `ALTER TABLE run_groups ADD COLUMN moved INTEGER NOT NULL DEFAULT 0`,
  `ALTER TABLE run_groups ADD COLUMN seen INTEGER NOT NULL DEFAULT 0`,
  // Marks groups of earlier releases as finished, because they planned all their updates at once.
  `UPDATE run_groups SET finished_at = created_at`,
  `CREATE INDEX run_groups_due ON run_groups (created_at, id) WHERE finished_at IS NULL AND type = 'update'
    AND (moved <> seen OR held_by_pause = 1)`,
  `CREATE INDEX run_groups_open ON run_groups (workspace_id, created_at, id) WHERE finished_at IS NULL AND type = 'update'`,
  // Decisions that are made only once; everything else is derived from the Runs. `code` and `message` contain the reason.
  `CREATE TABLE run_group_members (
    group_id TEXT NOT NULL REFERENCES run_groups (id),
    capsule_id TEXT NOT NULL REFERENCES capsules (id),
    wave INTEGER NOT NULL,
    decision TEXT,
    code TEXT,
    message TEXT,
    PRIMARY KEY (group_id, capsule_id)
  )`,
  `CREATE INDEX run_group_members_by_capsule ON run_group_members (capsule_id)`,
  trigger("run_made", "INSERT ON runs", "NEW.run_group_id IS NOT NULL", "id = NEW.run_group_id"),
  trigger(
    "run_moved",
    "UPDATE OF status, used_by_run_id ON runs",
    "NEW.run_group_id IS NOT NULL",
    "id = NEW.run_group_id"
  ),
  trigger("capsule_moved", "UPDATE OF status ON capsules", "NEW.status IS NOT OLD.status", ofCapsule("NEW.id")),
  trigger("dependency_made", "INSERT ON dependencies", "NEW.id IS NOT NULL", ofCapsule("NEW.consumer_capsule_id")),
  trigger("dependency_ended", "DELETE ON dependencies", "OLD.id IS NOT NULL", ofCapsule("OLD.consumer_capsule_id"))
]
