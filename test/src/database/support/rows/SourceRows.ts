import {
  at,
  connection_id,
  id,
  plan,
  source_id,
  source_snapshot_id,
  times,
  workspace_id,
  type Rows
} from "./RowValues.ts"

/** Connections, and a Source with the results of its syncs. */
export const sourceRows: Rows = [
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
  ["deferred_syncs", { source_id, ref: "refs/heads/main", path: ".", trigger_kind: "webhook", since: at }],
  ["pull_request_looks", { source_id, workspace_id, asked: 1, taken: 1 }],
  [
    "pull_requests",
    {
      id: id("pr", "a"),
      workspace_id,
      source_id,
      number: 1,
      ref: "refs/pull/1/head",
      state: "open",
      head_commit: "0".repeat(40),
      fork: "unknown",
      last_seen_at: at,
      created_at: at
    }
  ],
  ["source_lanes", { source_id, ref: "refs/heads/other", path: "." }],
  ["former_connection_values", { connection_id, version: 1, sealed_values: "sealed" }],
  ["former_connection_tokens", { connection_id, token_generation: 1, sealed_tokens: "sealed" }]
]
