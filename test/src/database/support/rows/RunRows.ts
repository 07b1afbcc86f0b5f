import {
  apply,
  at,
  connection_id,
  consumer,
  group_id,
  id,
  install_config_id,
  later,
  plan,
  source_id,
  source_snapshot_id,
  subject,
  times,
  workspace_id,
  type Rows
} from "./RowValues.ts"

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

/** Runs, and the records that the Runs created. */
export const runRows: Rows = [
  [
    "runs",
    { id: plan, type: "plan", status: "succeeded", started_at: later, finished_at: later, change_digest: "d", ...run }
  ],
  [
    "nodes",
    {
      id: "inst_1#3",
      incarnation: 3,
      beats: 12,
      release: "1.4.0",
      label: "host-a",
      started_at: at,
      beat_at: at,
      gone_at: later
    }
  ],
  ["exclusive_work", { name: "run-groups", node_id: "inst_1#3", taken_at: at }],
  ["shared_archives", { kind: "build", digest: `sha256:${"0".repeat(64)}`, copy: "a copy", parts: 1, stored_at: at }],
  ["shared_archive_parts", { copy: "a copy", part: 0, stored_at: at, bytes: new Uint8Array([1]) }],
  ["runs", { id: apply, type: "apply", status: "succeeded", plan_run_id: plan, started_at: later, ...run }],
  ["runs", { id: id("run", "c"), type: "plan", status: "queued", ...run }],
  ["runs", { id: id("run", "d"), type: "plan", status: "queued", ...run, queued_at: later }],
  ["run_plans", { run_id: plan, plan_file: "sealed", lock_text: "lock", created_at: at }],
  ["run_checkpoints", { run_id: apply, state: "sealed", saved_at: at }],
  ["sealed_parts", { value: "sealed", part: 0, owner: apply, nonce: "n", bytes: new Uint8Array([1, 2]) }],
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
  ["run_turns", { turn: 7, slot_pool: "runs", workspace_id, subject }],
  ["run_group_members", { group_id, capsule_id: consumer, wave: 1 }],
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
  ["connection_holds", { run_id: plan, connection_id, version: 1 }]
]
