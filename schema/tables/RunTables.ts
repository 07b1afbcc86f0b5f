/** Runs, their streams and results. */
export const runTables: ReadonlyArray<string> = [
  // `spec` contains the parameters of the Run; `evidence` is for reviewers. Neither contains a secret.
  `CREATE TABLE runs (
    id TEXT PRIMARY KEY NOT NULL,
    workspace_id TEXT NOT NULL REFERENCES workspaces (id),
    type TEXT NOT NULL,
    status TEXT NOT NULL,
    capsule_id TEXT,
    source_id TEXT,
    plan_run_id TEXT,
    run_group_id TEXT,
    coordinator_kind TEXT,
    coordinator_id TEXT,
    source_snapshot_id TEXT,
    resolved_commit TEXT,
    compatibility_report_id TEXT,
    install_config_id TEXT,
    execution_authority_epoch INTEGER,
    base_state_generation INTEGER,
    base_state_version_id TEXT,
    plan_digest TEXT,
    requires_approval INTEGER NOT NULL,
    approved_by TEXT,
    approved_at TEXT,
    approval_comment TEXT,
    used_by_run_id TEXT,
    created_by TEXT,
    trigger_kind TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    owner TEXT,
    spec TEXT NOT NULL,
    evidence TEXT NOT NULL,
    error_code TEXT,
    error_message TEXT,
    state_version_id TEXT,
    connection_id TEXT,
    cancel_requested_at TEXT,
    cancel_reason TEXT,
    created_at TEXT NOT NULL,
    queued_at TEXT NOT NULL,
    started_at TEXT,
    finished_at TEXT,
    expires_at TEXT
  )`,
  `CREATE INDEX runs_by_workspace ON runs (workspace_id, created_at, id)`,
  `CREATE INDEX runs_by_capsule ON runs (capsule_id, created_at, id)`,
  `CREATE INDEX runs_by_source ON runs (source_id, created_at, id)`,
  `CREATE INDEX runs_by_plan ON runs (plan_run_id)`,
  `CREATE INDEX runs_by_group ON runs (run_group_id, created_at, id)`,
  `CREATE INDEX runs_open ON runs (status, queued_at, id) WHERE status IN ('queued', 'running', 'waiting_approval')`,
  // The saved plan, sealed. It can be applied only once.
  `CREATE TABLE run_plans (
    run_id TEXT PRIMARY KEY NOT NULL REFERENCES runs (id),
    plan_file TEXT NOT NULL,
    lock_text TEXT NOT NULL,
    created_at TEXT NOT NULL
  )`,
  // The last state that a running apply saved, sealed. Deleted when its StateVersion is committed.
  `CREATE TABLE run_checkpoints (
    run_id TEXT PRIMARY KEY NOT NULL REFERENCES runs (id),
    state TEXT NOT NULL,
    saved_at TEXT NOT NULL
  )`,
  // The result that a finished Run passes to its coordinator, until the initial commit.
  `CREATE TABLE run_results (
    run_id TEXT PRIMARY KEY NOT NULL REFERENCES runs (id),
    result TEXT NOT NULL,
    created_at TEXT NOT NULL
  )`,
  `CREATE TABLE run_events (
    run_id TEXT NOT NULL REFERENCES runs (id),
    seq INTEGER NOT NULL,
    at TEXT NOT NULL,
    kind TEXT NOT NULL,
    data TEXT NOT NULL,
    PRIMARY KEY (run_id, seq)
  )`,
  // Lines are stored in batches: one row contains the lines first_seq..last_seq as a JSON array.
  `CREATE TABLE run_log_chunks (
    run_id TEXT NOT NULL REFERENCES runs (id),
    first_seq INTEGER NOT NULL,
    last_seq INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    entries TEXT NOT NULL,
    PRIMARY KEY (run_id, first_seq)
  )`,
  `CREATE TABLE run_groups (
    id TEXT PRIMARY KEY NOT NULL,
    workspace_id TEXT NOT NULL REFERENCES workspaces (id),
    type TEXT NOT NULL,
    created_at TEXT NOT NULL,
    finished_at TEXT
  )`
]

/** Sealed values that the apply of a plan must redact: the plan's inputs, and values that it marks as sensitive. */
export const planSecretColumns: ReadonlyArray<string> = [`ALTER TABLE run_plans ADD COLUMN sealed_secrets TEXT`]

/** The dependencies and shares that supplied values to a plan, as JSON; `NULL` for plans created before this column existed. */
export const planConsumptionColumns: ReadonlyArray<string> = [`ALTER TABLE run_plans ADD COLUMN consumed_outputs TEXT`]

/**
 * The version of the redaction rules under which a plan was created, and the reason why an Output is private although its module
 * does not mark it as sensitive; `NULL` in rows written before these columns existed.
 */
export const secretRuleColumns: ReadonlyArray<string> = [
  `ALTER TABLE run_plans ADD COLUMN secret_rule INTEGER`,
  `ALTER TABLE outputs ADD COLUMN private_origins TEXT`
]

/** The purpose of a plan; `NULL` for a plan of the newest commit. */
export const runPurposeColumns: ReadonlyArray<string> = [`ALTER TABLE runs ADD COLUMN purpose TEXT`]

/**
 * The isolation of a Run's module, and the network that the module can reach; `NULL` before the module executes, and in rows
 * written before these columns existed.
 */
export const runConfinementColumns: ReadonlyArray<string> = [
  `ALTER TABLE runs ADD COLUMN isolation TEXT`,
  `ALTER TABLE runs ADD COLUMN network TEXT`
]

/**
 * A check started by a webhook or the schedule is quiet until it finds something: lists omit it, and it is removed later.
 */
export const emptySyncColumns: ReadonlyArray<string> = [
  `ALTER TABLE runs ADD COLUMN quiet INTEGER NOT NULL DEFAULT 0`,
  `CREATE INDEX runs_listed ON runs (workspace_id, created_at, id) WHERE quiet = 0`,
  `CREATE INDEX runs_quiet ON runs (finished_at) WHERE quiet = 1`
]

/**
 * The log of a finished Run is removed in two steps, so that the process can safely exit at any time. Once `log_removed_at`
 * is set, svc no longer reads the log. While `log_removing` is 1, some lines have not been deleted yet.
 */
export const logRemovalColumns: ReadonlyArray<string> = [
  `ALTER TABLE runs ADD COLUMN log_removed_at TEXT`,
  `ALTER TABLE runs ADD COLUMN log_removing INTEGER NOT NULL DEFAULT 0`,
  `CREATE INDEX runs_log_kept ON runs (log_ended_at, id)
    WHERE log_removed_at IS NULL AND log_ended_at IS NOT NULL AND last_log_seq > 0`,
  `CREATE INDEX runs_log_removing ON runs (id) WHERE log_removing = 1`
]

/**
 * The name and digest of a Run's execution profile. For an apply, also the result of the tool (1 for success, 0 for failure),
 * regardless of later failures. `NULL` before the result, and in rows written before these columns existed.
 */
export const runProfileColumns: ReadonlyArray<string> = [
  `ALTER TABLE runs ADD COLUMN profile TEXT`,
  `ALTER TABLE runs ADD COLUMN profile_digest TEXT`,
  `ALTER TABLE runs ADD COLUMN provider_apply_succeeded INTEGER`
]

/**
 * The detailed findings of a plan or drift check. They are separate from the other evidence, because they can be large and
 * lists do not show them. For drift checks, the evidence still contains the number of findings.
 */
export const planDetailColumns: ReadonlyArray<string> = [
  `ALTER TABLE runs ADD COLUMN plan_details TEXT NOT NULL DEFAULT '{}'`,
  `UPDATE runs SET plan_details = json_patch('{}', json_object('resourceChanges', json_extract(evidence, '$.resourceChanges'),
      'outputChanges', json_extract(evidence, '$.outputChanges'), 'resourceDrift', json_extract(evidence, '$.resourceDrift'))),
    evidence = CASE WHEN type = 'drift_check' AND json_type(evidence, '$.resourceDrift') = 'array'
      THEN json_set(json_remove(evidence, '$.resourceChanges', '$.outputChanges', '$.resourceDrift'),
        '$.driftedResources', json_array_length(evidence, '$.resourceDrift'))
      ELSE json_remove(evidence, '$.resourceChanges', '$.outputChanges', '$.resourceDrift') END
    WHERE json_type(evidence, '$.resourceChanges') IS NOT NULL OR json_type(evidence, '$.outputChanges') IS NOT NULL
      OR json_type(evidence, '$.resourceDrift') IS NOT NULL`
]

/**
 * Indexes with every column that filters and counts of Runs use, so that a page or count that excludes most Runs reads only
 * the index and no evidence. They replace narrower indexes with the same order, which SQLite would otherwise prefer.
 */
export const runFacetIndexes: ReadonlyArray<string> = [
  `DROP INDEX runs_listed`,
  `DROP INDEX runs_by_workspace`,
  `CREATE INDEX runs_by_workspace ON runs
    (workspace_id, created_at, id, quiet, type, status, trigger_kind, created_by, capsule_id, source_id, source_snapshot_id)`
]

/** The keyed digest of the change in a plan; `NULL` for other Runs, and for plans created before this column existed. */
export const changeDigestColumns: ReadonlyArray<string> = [`ALTER TABLE runs ADD COLUMN change_digest TEXT`]

const isSpeculative = (of: string) => `COALESCE(${of}purpose, '') = 'speculative'`

/** The condition of `comesLast` when svc fetched heads of pull requests in turn with all other syncs. */
const cameLast = `(type = 'drift_check' OR ${isSpeculative("")})`

/**
 * SQL condition for Runs that start after all other Runs: drift checks, speculative plans and fetches of the heads of pull
 * requests. `of` is the alias of `runs` with a trailing dot; without it, the condition has the same text as in the indexes.
 */
export const comesLast = (of = ""): string => `(${of}type = 'drift_check' OR ${isSpeculative(of)}
    OR (${of}type = 'source_sync' AND COALESCE(${of}coordinator_kind, '') = 'pull_request'))`

/**
 * SQL conditions for plans that only show what a ref would change, and for all other Runs. `of` is the alias of `runs` with
 * a trailing dot.
 */
export const speculative = (of = ""): string => isSpeculative(of)
export const notSpeculative = (of = ""): string => `COALESCE(${of}purpose, '') <> 'speculative'`

/** Rejects writes that would approve or apply a speculative plan, or add it to its Capsule's queue. */
const neverDecided = (event: string) => `BEFORE ${event} ON runs WHEN ${isSpeculative("NEW.")} AND (NEW.type <> 'plan'
    OR NEW.requires_approval <> 0 OR NEW.approved_at IS NOT NULL OR NEW.used_by_run_id IS NOT NULL
    OR NEW.capsule_line IS NOT NULL OR NEW.status IN ('waiting_approval', 'expired')) BEGIN
    SELECT RAISE(ABORT, 'a speculative plan is never decided'); END`

/**
 * Speculative plans have the purpose `speculative`. Like drift checks, they start after all other Runs, and they do not use their
 * Capsule's queue. Queries for a Capsule's other Runs use `runs_of_capsule`, because a Capsule may have many speculative plans.
 */
export const speculativePlanTables: ReadonlyArray<string> = [
  `ALTER TABLE revision_plans ADD COLUMN speculative INTEGER NOT NULL DEFAULT 0`,
  `CREATE TRIGGER runs_speculative_made ${neverDecided("INSERT")}`,
  `CREATE TRIGGER runs_speculative_moved ${neverDecided("UPDATE OF purpose, type, requires_approval, approved_at, used_by_run_id, capsule_line, status")}`,
  `CREATE INDEX runs_of_capsule ON runs (capsule_id, created_at, id) WHERE ${notSpeculative()}`,
  `CREATE INDEX runs_of_pull_request ON runs (coordinator_id, capsule_id, created_at, id)
    WHERE coordinator_kind = 'pull_request'`,
  `CREATE INDEX runs_speculative ON runs (finished_at, id) WHERE ${speculative()}`,
  `DROP INDEX runs_by_workspace`,
  `CREATE INDEX runs_by_workspace ON runs
    (workspace_id, created_at, id, quiet, purpose, type, status, trigger_kind, created_by, capsule_id, source_id,
      source_snapshot_id)`,
  `DROP INDEX runs_claimable`,
  `CREATE INDEX runs_claimable ON runs (slot_pool, ${cameLast}, workspace_id, queued_at, id)
    WHERE status = 'queued' AND capsule_wait = 0`,
  `DROP INDEX runs_claimable_of_subject`,
  `CREATE INDEX runs_claimable_of_subject ON runs
    (slot_pool, ${cameLast}, workspace_id, COALESCE(created_by, ''), queued_at, id)
    WHERE status = 'queued' AND capsule_wait = 0`
]

/** The heads of pull requests are fetched after all other syncs, checks and builds. */
export const headFetchIndexes: ReadonlyArray<string> = [
  `DROP INDEX runs_claimable`,
  `CREATE INDEX runs_claimable ON runs (slot_pool, ${comesLast()}, workspace_id, queued_at, id)
    WHERE status = 'queued' AND capsule_wait = 0`,
  `DROP INDEX runs_claimable_of_subject`,
  `CREATE INDEX runs_claimable_of_subject ON runs
    (slot_pool, ${comesLast()}, workspace_id, COALESCE(created_by, ''), queued_at, id)
    WHERE status = 'queued' AND capsule_wait = 0`
]
