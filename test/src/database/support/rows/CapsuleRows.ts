import {
  apply,
  at,
  connection_id,
  consumer,
  id,
  install_config_id,
  later,
  plan,
  producer,
  source_id,
  times,
  workspace_id,
  type Rows
} from "./RowValues.ts"

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

/** Two Capsules with their states. The second Capsule consumes an Output of the first. */
export const capsuleRows: Rows = [
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
  ]
]
