import { apply, at, id, later, workspace_id, type Rows } from "./RowValues.ts"

export const agentFacts = JSON.stringify({
  version: "1.0.0",
  protocol: 1,
  capabilities: [],
  incarnation: "0".repeat(32),
  hostname: "machine",
  platform: "linux_amd64",
  tools: [],
  isolation: "bubblewrap",
  labels: {},
  places: 1,
  disk: { freeBytes: 1, totalBytes: 2, low: false },
  draining: false
})

/** A pool with one agent. */
export const agentRows: Rows = [
  ["agent_pools", { name: "far", lease_seconds: 2700, created_at: at }],
  ["agent_pool_workspaces", { pool: "far", workspace_id, assigned_at: at }],
  ["agent_pool_provisions", { pool: "far", name: "cloud", workspace_id, provided_at: at }],
  [
    "agent_enrolment_tokens",
    { id: id("aet", "a"), pool: "far", secret_hash: "hash", uses_left: 0, created_at: at, expires_at: later }
  ],
  [
    "agents",
    {
      id: id("agt", "a"),
      pool: "far",
      name: "one",
      sign_key: "a".repeat(43),
      seal_key: "b".repeat(43),
      facts: agentFacts,
      enrolment_token_id: id("aet", "a"),
      enrolled_at: at,
      last_contact_at: at
    }
  ],
  ["agent_provided_marks", { agent_id: id("agt", "a"), name: "cloud", mark: "c".repeat(43) }],
  [
    "agent_sessions",
    {
      secret_hash: "hash",
      agent_id: id("agt", "a"),
      incarnation: "0".repeat(32),
      draining: 0,
      created_at: at,
      expires_at: later
    }
  ],
  [
    "agent_runs",
    {
      run_id: apply,
      fence: 1,
      agent_id: id("agt", "a"),
      claim: "0".repeat(32),
      incarnation: "0".repeat(32),
      kind: "apply",
      platform: "linux_amd64",
      lease_seconds: 2700,
      offered_at: at,
      heard: 7,
      newest_serial: 4,
      closed_at: later,
      node_id: "inst_1#3"
    }
  ],
  ["agent_nonces", { nonce_hash: "0".repeat(64), agent_id: id("agt", "a"), expires_at: later }],
  [
    "agent_blobs",
    { run_id: apply, fence: 1, kind: "state", digest: `sha256:${"0".repeat(64)}`, parts: 1, stored_at: at }
  ],
  [
    "agent_blob_parts",
    { run_id: apply, fence: 1, kind: "state", digest: `sha256:${"0".repeat(64)}`, part: 0, bytes: new Uint8Array([1]) }
  ],
  [
    "agent_carried_files",
    { run_id: apply, fence: 1, kind: "outcome", digest: `sha256:${"1".repeat(64)}`, bytes: new Uint8Array([1, 2, 3]) }
  ],
  [
    "agent_evidence",
    {
      id: id("evd", "a"),
      run_id: apply,
      fence: 1,
      agent_id: id("agt", "a"),
      digest: `sha256:${"0".repeat(64)}`,
      journal: JSON.stringify({ started: [], completed: [], possiblyCreated: [] }),
      received_at: at
    }
  ],
  [
    "agent_server_keys",
    { id: "current", sign_key: "a".repeat(43), seal_key: "b".repeat(43), sealed_keys: "sealed", created_at: at }
  ]
]
