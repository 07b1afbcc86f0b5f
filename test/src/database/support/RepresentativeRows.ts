/** Columns of a row; those that a version does not have yet are left out there. */
type Values = Readonly<Record<string, string | number>>

const id = (prefix: string, letter: string) => `${prefix}_${letter.repeat(24)}`
const at = "2026-01-01T00:00:00.000Z"
const later = "2026-01-02T00:00:00.000Z"
const times = { created_at: at, updated_at: at }
const workspace_id = id("ws", "a")
const subject = id("usr", "a")
const source_id = id("src", "a")
const source_snapshot_id = id("snap", "a")
const install_config_id = id("icfg", "a")
const producer = id("cap", "a")
const consumer = id("cap", "b")
const connection_id = id("conn", "a")
const plan = id("run", "a")
const apply = id("run", "b")
const group_id = id("rgrp", "a")
const grant_id = id("grt", "a")
const team_id = id("team", "a")

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

const capsule = {
  workspace_id,
  project_id: id("prj", "a"),
  environment: "production",
  source_id,
  module_path: ".",
  install_config_id,
  runtime_safety: "safe",
  current_state_generation: 1,
  execution_authority_epoch: 1,
  tracked_ref: "HEAD",
  tracked_path: ".",
  adopted_ref: "refs/heads/main",
  adopted_path: ".",
  auto_update_enabled: 1,
  auto_update_apply: 0,
  drift_status: "unknown",
  ...times
}

const state = {
  workspace_id,
  generation: 1,
  serial: 1,
  lineage: "lineage",
  digest: "d",
  resource_count: 1,
  size_bytes: 2,
  state: "sealed",
  partial: 0,
  install_config_id
}

const run = {
  workspace_id,
  capsule_id: consumer,
  install_config_id,
  requires_approval: 1,
  trigger_kind: "user",
  attempt: 1,
  spec: "{}",
  evidence: "{}",
  created_at: at,
  queued_at: at
}

/** A few rows of an installation in use, in the order of their references. */
export const representativeRows: ReadonlyArray<readonly [table: string, values: Values]> = [
  ["users", { subject, email: "ada@example.test", is_operator: 1, status: "active", ...times }],
  ["user_passwords", { subject, password_hash: "hash", updated_at: at }],
  ["setup_links", { id: "lnk_1", secret_hash: "h", purpose: "first_user", created_at: at, expires_at: later }],
  [
    "account_sessions",
    { id: "ses_1", secret_hash: "h", subject, method: "password", created_at: at, last_seen_at: at, expires_at: later }
  ],
  [
    "address_changes",
    {
      id: "adr_1",
      secret_hash: "h",
      subject,
      email: "b@example.test",
      proof: "operator",
      created_at: at,
      expires_at: later
    }
  ],
  ["totp_factors", { subject, secret: "sealed", created_at: at, failures: 0 }],
  ["recovery_codes", { id: "rcv_1", subject, code_hash: "h", created_at: at }],
  ["account_notices", { id: "ntc_1", subject, kind: "password", created_at: at }],
  [
    "access_tokens",
    {
      token_id: id("pat", "a"),
      secret_hash: "h",
      subject,
      name: "ci",
      prefix: "svc_",
      scopes: '["read"]',
      created_at: at
    }
  ],
  [
    "passkeys",
    {
      id: "pky_1",
      subject,
      credential_id: "c",
      public_key: "k",
      counter: 3,
      transports: "[]",
      device_type: "singleDevice",
      backed_up: 0,
      name: "laptop",
      created_at: at
    }
  ],
  ["workspaces", { id: workspace_id, handle: "alpha", display_name: "Alpha", type: "organization", ...times }],
  ["memberships", { id: id("mbr", "a"), workspace_id, subject, role: "owner", status: "active", ...times }],
  [
    "invitations",
    {
      id: id("inv", "a"),
      secret_hash: "h",
      workspace_id,
      role: "member",
      stand_in: id("usr", "b"),
      invited_by: subject,
      status: "pending",
      created_at: at,
      expires_at: later
    }
  ],
  ["projects", { id: id("prj", "a"), workspace_id, name: "Default", slug: "default", is_default: 1, ...times }],
  [
    "vault_data_keys",
    {
      id: "key_1",
      record_kind: "connections",
      workspace_id,
      master_key_id: "m",
      wrapped_key: "w",
      status: "active",
      created_at: at,
      wrapped_at: at
    }
  ],
  [
    "audit_events",
    {
      id: id("act", "a"),
      workspace_id,
      actor_kind: "session",
      actor_subject: subject,
      action: "capsule.update",
      target_kind: "capsule",
      target_id: producer,
      data: '{"fields":["autoUpdate"]}',
      created_at: at
    }
  ],
  [
    "audit_events",
    {
      id: id("act", "b"),
      workspace_id,
      actor_kind: "session",
      actor_subject: subject,
      action: "source.create",
      target_kind: "source",
      target_id: source_id,
      data: "{}",
      created_at: at
    }
  ],
  [
    "idempotency_receipts",
    {
      scope: workspace_id,
      actor: subject,
      route: "runs",
      idempotency_key: "k",
      request_digest: "d",
      result_id: plan,
      first_status: 201,
      created_at: at
    }
  ],
  [
    "connections",
    {
      id: connection_id,
      workspace_id,
      scope: "workspace",
      provider: "git",
      kind: "git_https",
      recipe_id: "git-https",
      auth_mode: "token",
      display_name: "Git",
      status: "verified",
      env_names: "[]",
      file_names: "[]",
      sealed_values: "sealed",
      provider_config: "{}",
      module_input_defaults: "{}",
      ...times
    }
  ],
  [
    "connections",
    {
      id: id("conn", "b"),
      workspace_id,
      scope: "workspace",
      provider: "registry.opentofu.org/Hashicorp/AWS",
      kind: "provider",
      recipe_id: "generic-env",
      auth_mode: "env",
      display_name: "Cloud",
      status: "pending",
      env_names: "[]",
      file_names: "[]",
      provider_config: "{}",
      module_input_defaults: "{}",
      ...times
    }
  ],
  [
    "output_shares",
    {
      id: id("oshare", "a"),
      from_workspace_id: workspace_id,
      to_workspace_id: workspace_id,
      producer_capsule_id: producer,
      outputs: "[]",
      status: "active",
      created_at: at
    }
  ],
  [
    "sources",
    {
      id: source_id,
      workspace_id,
      name: "app",
      url: "https://Git.example.test:443/app.git",
      default_ref: "HEAD",
      default_path: ".",
      auth_connection_id: connection_id,
      auto_sync: 1,
      status: "active",
      hook_secret: "sealed",
      ...times
    }
  ],
  [
    "source_snapshots",
    {
      id: source_snapshot_id,
      workspace_id,
      source_id,
      url: "https://git.example.test/app.git",
      ref: "refs/heads/main",
      resolved_commit: "0".repeat(40),
      path: ".",
      archive_digest: "d",
      archive_size_bytes: 1,
      file_count: 1,
      omitted: "[]",
      repository_manifest: "{}",
      warnings: "[]",
      created_by_run_id: plan,
      created_at: at
    }
  ],
  [
    "compatibility_reports",
    {
      id: id("rep", "a"),
      workspace_id,
      source_id,
      source_snapshot_id,
      module_path: ".",
      status: "ready",
      report: "{}",
      module_scan: "{}",
      contract_digest: "d",
      created_by_run_id: plan,
      created_at: at
    }
  ],
  ["webhook_deliveries", { source_id, delivery_id: "1", received_at: at }],
  [
    "install_configs",
    {
      id: install_config_id,
      workspace_id,
      origin: "generic",
      module_path: ".",
      contract_digest: "d",
      digest: "d",
      config: '{"variables":[]}',
      created_at: at
    }
  ],
  ["capsules", { id: producer, name: "network", slug: "network", status: "active", ...capsule }],
  [
    "capsules",
    { id: consumer, name: "app", slug: "app", status: "stale", current_state_version_id: id("sv", "b"), ...capsule }
  ],
  [
    "provider_bindings",
    { id: id("pb", "a"), workspace_id, install_config_id, provider: "p", module_local_name: "p", connection_id }
  ],
  ["state_versions", { id: id("sv", "a"), capsule_id: producer, created_by_run_id: apply, created_at: at, ...state }],
  [
    "state_versions",
    { id: id("sv", "b"), capsule_id: consumer, created_by_run_id: apply, created_at: later, ...state }
  ],
  [
    "outputs",
    {
      id: id("out", "a"),
      workspace_id,
      capsule_id: producer,
      state_version_id: id("sv", "a"),
      name: "url",
      type: '"string"',
      value: '"https://a.test"',
      sensitive: 0
    }
  ],
  [
    "dependencies",
    {
      id: id("dep", "a"),
      workspace_id,
      producer_capsule_id: producer,
      consumer_capsule_id: consumer,
      mode: "published_output",
      outputs: '[{"from":"url","to":"address","required":true}]',
      created_at: at
    }
  ],
  [
    "backups",
    {
      id: id("bkp", "a"),
      workspace_id,
      digest: "d",
      size_bytes: 1,
      archive: "sealed",
      created_by_run_id: plan,
      created_at: at
    }
  ],
  ["runs", { id: plan, type: "plan", status: "succeeded", started_at: later, finished_at: later, ...run }],
  ["runs", { id: apply, type: "apply", status: "succeeded", plan_run_id: plan, started_at: later, ...run }],
  ["runs", { id: id("run", "c"), type: "plan", status: "queued", ...run }],
  ["runs", { id: id("run", "d"), type: "plan", status: "queued", ...run, queued_at: later }],
  ["run_plans", { run_id: plan, plan_file: "sealed", lock_text: "lock", created_at: at }],
  ["run_checkpoints", { run_id: apply, state: "sealed", saved_at: at }],
  [
    "left_over_states",
    {
      id: id("lo", "a"),
      workspace_id,
      capsule_id: consumer,
      run_id: apply,
      reason: "lineage_changed",
      digest: "d",
      size_bytes: 2,
      state: "sealed",
      state_generation: 1,
      execution_authority_epoch: 1,
      created_at: at
    }
  ],
  [
    "state_uploads",
    {
      id: id("sup", "a"),
      workspace_id,
      sha256: "d",
      size_bytes: 2,
      lineage: "lineage",
      serial: 1,
      resource_count: 1,
      state: "sealed",
      created_at: at,
      expires_at: later
    }
  ],
  ["state_indexes", { state_version_id: id("sv", "a"), capsule_id: producer, generation: 1, outcome: "indexed" }],
  [
    "resource_versions",
    {
      workspace_id,
      capsule_id: producer,
      address: "terraform_data.greeting",
      deposed: "",
      type: "terraform_data",
      provider: "terraform.io/builtin/terraform",
      attributes: `{"input":"d"}`,
      digest: "d",
      valid_from: 1,
      run_id: apply,
      changed_at: at
    }
  ],
  [
    "output_versions",
    { workspace_id, capsule_id: producer, name: "greeting", digest: "d", valid_from: 1, run_id: apply, changed_at: at }
  ],
  ["run_results", { run_id: plan, result: "{}", created_at: at }],
  ["run_events", { run_id: plan, seq: 1, at, kind: "run.queued", data: "{}" }],
  ["run_log_chunks", { run_id: plan, first_seq: 1, last_seq: 2, bytes: 10, entries: "[]" }],
  ["run_groups", { id: group_id, workspace_id, type: "update", created_at: at }],
  [
    "install_plans",
    {
      id: id("ipl", "a"),
      workspace_id,
      phase: "reviewable",
      request: "{}",
      actor: `{"actor":{"subject":"${subject}"}}`,
      source_id,
      diagnostics: "[]",
      ...times
    }
  ],
  [
    "revision_plans",
    {
      id: id("rpl", "a"),
      workspace_id,
      capsule_id: consumer,
      ref: "main",
      phase: "reviewable",
      actor: "{}",
      execution_authority_epoch: 1,
      diagnostics: "[]",
      ...times
    }
  ],
  [
    "oidc_signing_keys",
    { kid: "k", algorithm: "ES256", status: "active", public_jwk: "{}", private_jwk: "sealed", published_at: at }
  ],
  [
    "oidc_capsule_clients",
    {
      client_id: "cli_1",
      workspace_id,
      capsule_id: producer,
      redirect_uri: "https://a.test/cb",
      post_logout_paths: '["/goodbye"]',
      introspection_hash: "hash",
      scopes: "[]",
      status: "active",
      ...times
    }
  ],
  [
    "oidc_grants",
    {
      id: grant_id,
      client_id: "cli_1",
      subject,
      workspace_id,
      scopes: "[]",
      claims: "{}",
      auth_time: 1,
      created_at: at
    }
  ],
  ["oidc_refresh_tokens", { secret_hash: "r", grant_id, created_at: at, expires_at: later }],
  ["oidc_consents", { subject, client_id: "cli_1", workspace_id, scopes: "[]", updated_at: at }],
  [
    "interfaces",
    {
      id: id("ifc", "a"),
      workspace_id,
      capsule_id: producer,
      interface_key: "web",
      name: "web",
      type: "http",
      version: "1",
      document: "{}",
      inputs: "{}",
      access: "{}",
      status: "active",
      revision: 1,
      ...times
    }
  ],
  [
    "interface_bindings",
    {
      id: id("ifb", "a"),
      workspace_id,
      interface_id: id("ifc", "a"),
      subject,
      request_key: "r",
      permissions: "[]",
      delivery_type: "none",
      status: "active",
      ...times
    }
  ],
  [
    "generated_secrets",
    {
      id: "gen_1",
      workspace_id,
      capsule_id: producer,
      target: "t",
      bytes: 32,
      encoding: "base64",
      sealed_value: "sealed",
      created_at: at
    }
  ],
  [
    "upstream_identities",
    {
      issuer: "https://i.test",
      upstream_subject: "u",
      subject,
      verified_email: "a@example.com",
      created_at: at,
      last_used_at: at
    }
  ],
  [
    "upstream_sign_ins",
    {
      secret_hash: "u1",
      link_subject: subject,
      return_path: "/",
      expires_at: at,
      invitation_id: "inv_a",
      invitation_proof: "mail"
    }
  ],
  [
    "mails",
    {
      id: "mail_a",
      recipient: "a@example.com",
      kind: "notice",
      attempts: 1,
      next_at: at,
      expires_at: at,
      created_at: at,
      ended_at: at,
      outcome: "sent"
    }
  ],
  ["provisioned_memberships", { workspace_id, subject, role: "member", updated_at: at }],
  ["deferred_syncs", { source_id, ref: "refs/heads/main", path: ".", trigger_kind: "webhook", since: at }],
  ["run_turns", { turn: 7, slot_pool: "runs", workspace_id, subject }],
  [
    "consumed_inputs",
    {
      capsule_id: consumer,
      dependency_id: id("dep", "a"),
      input: "other",
      producer_capsule_id: producer,
      output: "url",
      name: "url",
      state_version_id: id("sv", "a")
    }
  ],
  ["run_group_members", { group_id, capsule_id: consumer, wave: 1 }],
  ["source_lanes", { source_id, ref: "refs/heads/other", path: "." }],
  [
    "auto_update_decisions",
    {
      id: id("aud", "a"),
      capsule_id: consumer,
      source_snapshot_id,
      resolved_commit: "0".repeat(40),
      decision: "held",
      reason: "paused",
      message: "m",
      execution_authority_epoch: 1,
      state_generation: 1,
      ...times
    }
  ],
  ["teams", { id: team_id, workspace_id, name: "sre", ...times }],
  ["team_members", { team_id, subject }],
  ["team_grants", { team_id, position: 0, environment: "production", role: "admin" }],
  [
    "approval_rules",
    {
      id: id("apr", "a"),
      workspace_id,
      environment: "production",
      approvers: 2,
      role: "admin",
      team_id,
      plan_author_counts: 0,
      commit_author_counts: 1,
      automation_counts: 0,
      ...times
    }
  ],
  ["run_approvals", { run_id: plan, approver: "service", created_at: at }],
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
      offered_at: at
    }
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
  ],
  ["connection_holds", { run_id: plan, connection_id, version: 1 }],
  ["retention_tallies", { workspace_id, kind: "runs", records: 1, bytes: 2 }],
  ["former_connection_values", { connection_id, version: 1, sealed_values: "sealed" }],
  ["former_connection_tokens", { connection_id, token_generation: 1, sealed_tokens: "sealed" }]
]
