/**
 * Agents: processes on other machines that execute the Runs of a pool.
 * - `agent_pools.isolation`: the minimum isolation level of the pool's agents; `NULL` means any
 * - `agent_enrolment_tokens.uses_left`: how many more agents may enrol with the token
 * - `agents.facts`: the facts that the agent last reported; `next_keys`: its keys for the next session
 * - `agent_runs`: one row per claim; `claim` is the id that the agent chose for its request, so that a repeated request finds the
 *   same offer; `checkpoint_serial` is the serial of the newest stored state; the blobs of `result` are files in the data folder,
 *   or rows of `agent_carried_files`
 * - `agent_evidence`: states and journals that arrived after the Run had been settled without them
 */
export const agentTables: ReadonlyArray<string> = [
  `CREATE TABLE agent_pools (
    name TEXT PRIMARY KEY NOT NULL,
    isolation TEXT,
    lease_seconds INTEGER NOT NULL,
    created_at TEXT NOT NULL,
    archived_at TEXT
  )`,
  `CREATE TABLE agent_pool_workspaces (
    pool TEXT NOT NULL REFERENCES agent_pools (name),
    workspace_id TEXT NOT NULL REFERENCES workspaces (id),
    assigned_at TEXT NOT NULL,
    PRIMARY KEY (pool, workspace_id)
  )`,
  `CREATE INDEX agent_pool_workspaces_of_workspace ON agent_pool_workspaces (workspace_id)`,
  `CREATE TABLE agent_enrolment_tokens (
    id TEXT PRIMARY KEY NOT NULL,
    pool TEXT NOT NULL REFERENCES agent_pools (name),
    secret_hash TEXT NOT NULL UNIQUE,
    uses_left INTEGER NOT NULL,
    created_at TEXT NOT NULL,
    expires_at TEXT NOT NULL,
    revoked_at TEXT
  )`,
  `CREATE TABLE agents (
    id TEXT PRIMARY KEY NOT NULL,
    pool TEXT NOT NULL REFERENCES agent_pools (name),
    name TEXT NOT NULL,
    sign_key TEXT NOT NULL UNIQUE,
    seal_key TEXT NOT NULL,
    next_keys TEXT,
    facts TEXT NOT NULL,
    enrolment_token_id TEXT NOT NULL REFERENCES agent_enrolment_tokens (id),
    enrolled_at TEXT NOT NULL,
    last_contact_at TEXT NOT NULL,
    drain_requested_at TEXT,
    revoked_at TEXT
  )`,
  `CREATE INDEX agents_of_pool ON agents (pool, id)`,
  `CREATE TABLE agent_sessions (
    secret_hash TEXT PRIMARY KEY NOT NULL,
    agent_id TEXT NOT NULL REFERENCES agents (id),
    incarnation TEXT NOT NULL,
    draining INTEGER NOT NULL,
    created_at TEXT NOT NULL,
    expires_at TEXT NOT NULL
  )`,
  `CREATE INDEX agent_sessions_of_agent ON agent_sessions (agent_id)`,
  `CREATE TABLE agent_runs (
    run_id TEXT NOT NULL REFERENCES runs (id),
    fence INTEGER NOT NULL,
    agent_id TEXT NOT NULL REFERENCES agents (id),
    claim TEXT NOT NULL,
    incarnation TEXT NOT NULL,
    kind TEXT NOT NULL,
    platform TEXT NOT NULL,
    lease_seconds INTEGER NOT NULL,
    offered_at TEXT NOT NULL,
    accepted_at TEXT,
    checkpoint_serial INTEGER,
    result TEXT,
    result_at TEXT,
    ended_at TEXT,
    PRIMARY KEY (run_id, fence)
  )`,
  `CREATE INDEX agent_runs_open ON agent_runs (agent_id) WHERE ended_at IS NULL`,
  `CREATE TABLE agent_evidence (
    id TEXT PRIMARY KEY NOT NULL,
    run_id TEXT NOT NULL REFERENCES runs (id),
    fence INTEGER NOT NULL,
    agent_id TEXT NOT NULL REFERENCES agents (id),
    digest TEXT NOT NULL,
    journal TEXT NOT NULL,
    left_over_state_id TEXT,
    received_at TEXT NOT NULL,
    UNIQUE (run_id, digest)
  )`,
  `CREATE TABLE agent_server_keys (
    id TEXT PRIMARY KEY NOT NULL,
    sign_key TEXT NOT NULL,
    seal_key TEXT NOT NULL,
    sealed_keys TEXT NOT NULL,
    created_at TEXT NOT NULL
  )`,
  `ALTER TABLE runs ADD COLUMN agent_unreachable_since TEXT`
]

/**
 * Start of the period in which an executing agent receives no responses although its requests reach the server; `NULL` while
 * responses arrive.
 */
export const lostAnswerColumns: ReadonlyArray<string> = [`ALTER TABLE agent_runs ADD COLUMN unanswered_since TEXT`]

/**
 * Credentials that only the agents of a pool have.
 *
 * - `agent_pool_provisions`: the Workspaces whose Connections the operator allows to use these credentials
 * - `connections.provided_pool`, `provided_name`: set on a Connection that uses these credentials; such a Connection stores
 *   no values
 */
export const agentProvisionTables: ReadonlyArray<string> = [
  `CREATE TABLE agent_pool_provisions (
    pool TEXT NOT NULL REFERENCES agent_pools (name),
    name TEXT NOT NULL,
    workspace_id TEXT NOT NULL REFERENCES workspaces (id),
    provided_at TEXT NOT NULL,
    PRIMARY KEY (pool, name, workspace_id)
  )`,
  `CREATE INDEX agent_pool_provisions_of_workspace ON agent_pool_provisions (workspace_id)`,
  `ALTER TABLE connections ADD COLUMN provided_pool TEXT`,
  `ALTER TABLE connections ADD COLUMN provided_name TEXT`
]

/**
 * The agent credentials used for each plan.
 *
 * - `agent_provided_marks`: the mark of each set of credentials, as the agent last reported it
 * - `run_plans.provided_marks`: JSON; the marks of the sets used to create the plan
 */
export const providedMarkTables: ReadonlyArray<string> = [
  `CREATE TABLE agent_provided_marks (
    agent_id TEXT NOT NULL REFERENCES agents (id),
    name TEXT NOT NULL,
    mark TEXT NOT NULL,
    PRIMARY KEY (agent_id, name)
  )`,
  `ALTER TABLE run_plans ADD COLUMN provided_marks TEXT`,
  // The column is indexed, because a query without the index would have to read the large plan files, which precede this
  // column in the row.
  `CREATE INDEX run_plans_provided ON run_plans (run_id, provided_marks) WHERE provided_marks IS NOT NULL`
]

/** The small sealed files of a result that svc has not settled yet. Larger files are in the data folder. */
export const carriedFileTables: ReadonlyArray<string> = [
  `CREATE TABLE agent_carried_files (
    run_id TEXT NOT NULL,
    fence INTEGER NOT NULL,
    kind TEXT NOT NULL,
    digest TEXT NOT NULL,
    bytes BLOB NOT NULL,
    PRIMARY KEY (run_id, fence, kind),
    FOREIGN KEY (run_id, fence) REFERENCES agent_runs (run_id, fence)
  )`
]
