import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { AccessTokens } from "../../../../actors/access/account/AccessTokens.ts"
import { serviceContext } from "../../../../schema/commands/Command.ts"
import { AutomationMembers } from "../../../../actors/access/member/AutomationMembers.ts"
import { AutomationTokens } from "../../../../actors/access/member/AutomationTokens.ts"
import type { WorkspaceId } from "../../../../schema/records/Ids.ts"
import { emptyConfig, world } from "./World.ts"

type Row = Readonly<Record<string, string | number | null>>

const newest = "2026-02-02T00:00:00.000Z"

/**
 * Adds at least two rows to every list of a Workspace by copying the test data, and returns the ids that the list routes
 * need. The letter distinguishes the records of two Workspaces.
 */
export const twoOfEach = Effect.fnUntraced(function* (workspace_id: WorkspaceId, letter: string) {
  const sql = yield* SqlClient.SqlClient
  const expiresAt = new Date(Date.now() + 86_400_000).toISOString()
  const id = (prefix: string, number: number) => `${prefix}_${letter.repeat(23)}${number}`
  const at = (number: number) => `2026-02-01T00:00:00.00${number}Z`
  const times = { created_at: newest, updated_at: newest }
  const add = (table: string, row: Row) => sql`INSERT INTO ${sql(table)} ${sql.insert(row)}`
  const copy = Effect.fnUntraced(function* (table: string, from: string, changes: Row) {
    const [row] = yield* sql`SELECT * FROM ${sql(table)} WHERE id = ${from}`
    yield* sql`INSERT INTO ${sql(table)} ${sql.insert({ ...row, workspace_id, ...changes })}`
  })
  const first = {
    project: id("prj", 1),
    source: id("src", 1),
    snapshot: id("snap", 1),
    capsule: id("cap", 1),
    config: id("icfg", 1),
    run: id("run", 1)
  }

  yield* sql`UPDATE install_configs SET config = ${emptyConfig} WHERE id = ${world.capsuleConfigId}`
  for (const number of [1, 2]) {
    const own = { created_at: at(number), updated_at: at(number) }
    const capsule_id = id("cap", number)
    const named = { name: `${letter}${number}`, slug: `${letter}${number}` }
    yield* copy("projects", world.projectId, { id: id("prj", number), is_default: 0, ...named, ...own })
    yield* copy("sources", world.sourceId, { id: id("src", number), name: `${letter}${number}`, ...own })
    yield* copy("source_snapshots", world.sourceSnapshotId, {
      id: id("snap", number),
      source_id: first.source,
      repository_manifest: '{"status":"absent"}',
      created_at: at(number)
    })
    yield* copy("install_configs", world.capsuleConfigId, {
      id: id("icfg", number),
      capsule_id: null,
      config: emptyConfig,
      created_at: at(number)
    })
    yield* copy("capsules", world.capsuleId, {
      id: capsule_id,
      ...named,
      project_id: first.project,
      source_id: first.source,
      install_config_id: id("icfg", number),
      status: "error",
      ...own
    })
    yield* copy("runs", world.runId, {
      id: id("run", number),
      capsule_id,
      status: "failed",
      created_at: at(number),
      queued_at: at(number)
    })
    yield* copy("state_versions", world.stateVersionId, {
      id: id("sv", number),
      capsule_id,
      install_config_id: first.config,
      created_at: at(number)
    })
    yield* sql`UPDATE capsules SET current_state_version_id = ${id("sv", number)}, current_state_generation = 1
      WHERE id = ${capsule_id}`
    yield* copy("backups", world.backupId, { id: id("bkp", number), capsule_id, created_at: at(number) })
    yield* copy("connections", world.connectionId, { id: id("conn", number), ...own })
    yield* add("output_shares", {
      id: id("oshare", number),
      from_workspace_id: workspace_id,
      to_workspace_id: workspace_id,
      producer_capsule_id: first.capsule,
      outputs: "[]",
      status: "pending",
      created_at: at(number)
    })
    yield* add("dependencies", {
      id: id("dep", number),
      workspace_id,
      producer_capsule_id: first.capsule,
      consumer_capsule_id: id("cap", number),
      mode: "published_output",
      outputs: "[]",
      created_at: at(number)
    })
    yield* add("approval_rules", {
      id: id("apr", number),
      workspace_id,
      environment: `e${number}`,
      approvers: 1,
      role: "admin",
      plan_author_counts: 1,
      commit_author_counts: 1,
      automation_counts: 0,
      ...own
    })
    yield* add("teams", { id: id("team", number), workspace_id, name: `${letter}${number}`, ...own })
    yield* add("notice_endpoints", {
      id: id("nep", number),
      workspace_id,
      name: `${letter}${number}`,
      format: "json",
      host: "https://hooks.example.test",
      address: "sealed",
      secret_version: 1,
      kinds: JSON.stringify(["run.failed"]),
      filter: "{}",
      state: "active",
      ...own
    })
    yield* add("notices", {
      id: id("ntc", number),
      workspace_id,
      kind: "run.failed",
      subject_kind: "capsule",
      subject_id: capsule_id,
      path: "runs",
      data: "{}",
      created_at: at(number)
    })
    yield* add("notice_deliveries", {
      id: id("ndl", number),
      notice_id: id("ntc", number),
      endpoint_id: id("nep", 1),
      kind: "run.failed",
      subject: `capsule:${capsule_id}`,
      sequence: 1,
      status: "waiting",
      attempts: 0,
      tries: 0,
      created_at: at(number)
    })
    yield* add("invitations", {
      id: id("inv", number),
      secret_hash: id("inv", number),
      workspace_id,
      role: "viewer",
      email: `${letter}${number}@example.test`,
      stand_in: id("usr", number),
      status: "pending",
      created_at: at(number),
      expires_at: expiresAt
    })
    yield* add("interfaces", {
      id: id("ifc", number),
      workspace_id,
      capsule_id: first.capsule,
      interface_key: `k${number}`,
      name: `k${number}`,
      type: "t",
      version: "1",
      document: "{}",
      inputs: "{}",
      access: '{"visibility":"workspace"}',
      status: "resolved",
      revision: 1,
      ...own
    })
    yield* add("interface_bindings", {
      id: id("ifb", number),
      workspace_id,
      interface_id: id("ifc", number),
      subject: world.ada,
      request_key: "ui",
      permissions: '["ui.open"]',
      delivery_type: "none",
      status: "ready",
      ...own
    })
    yield* add("interface_intents", {
      id: id("ifi", number),
      workspace_id,
      capsule_id: first.capsule,
      interface_key: `k${number}`,
      run_id: first.run,
      install_config_id: first.config,
      state_version_id: id("sv", 1),
      status: "failed",
      attempt: 1,
      code: "output_absent",
      message: "It failed.",
      ...own
    })
    yield* add("left_over_states", {
      id: id("lo", number),
      workspace_id,
      capsule_id: first.capsule,
      run_id: first.run,
      reason: "unknown",
      digest: "d",
      size_bytes: 1,
      state_generation: 0,
      execution_authority_epoch: 1,
      created_at: at(number),
      discarded_at: newest,
      discarded_by: world.ada
    })
    yield* copy("pull_requests", world.pullRequestId, {
      id: id("pr", number),
      source_id: id("src", number),
      created_at: at(number)
    })
    yield* add("pull_request_capsules", {
      pull_request_id: id("pr", number),
      capsule_id: first.capsule,
      head_commit: "0".repeat(40),
      touched: 1
    })
    yield* add("change_approvals", {
      id: id("cha", number),
      workspace_id,
      capsule_id: first.capsule,
      run_id: first.run,
      subject: id("usr", number),
      behind: "[]",
      plan_digest: "d",
      change_digest: "d",
      resolved_commit: "c",
      rules: "[]",
      created_at: at(number)
    })
    yield* add("run_comments", {
      id: id("cmt", number),
      run_id: first.run,
      author: world.ada,
      text: "A comment",
      mentions: "[]",
      created_at: at(number)
    })
    yield* add("auto_update_decisions", {
      id: id("aud", number),
      capsule_id: first.capsule,
      source_snapshot_id: id("snap", number),
      resolved_commit: "0".repeat(40),
      decision: "skipped",
      reason: "disabled",
      message: "It is off.",
      execution_authority_epoch: 1,
      state_generation: 0,
      ...own
    })
    const pool = `${letter}-pool-${number}`
    yield* add("agent_pools", { name: pool, lease_seconds: 60, created_at: at(number) })
    yield* add("agent_pool_workspaces", { pool, workspace_id, assigned_at: at(number) })
    yield* add("agent_enrolment_tokens", {
      id: id("aet", number),
      pool,
      secret_hash: id("aet", number),
      uses_left: 0,
      created_at: at(number),
      expires_at: newest
    })
    yield* add("agents", {
      id: id("agt", number),
      pool,
      name: `${letter}${number}`,
      sign_key: id("agt", number),
      seal_key: "k",
      facts: JSON.stringify({
        version: "0.0.0",
        protocol: 1,
        capabilities: [],
        incarnation: "0".repeat(32),
        hostname: "host",
        platform: "linux_amd64",
        tools: [],
        isolation: "bubblewrap",
        labels: {},
        places: 1,
        disk: { freeBytes: 1, totalBytes: 1, low: false },
        draining: false
      }),
      enrolment_token_id: id("aet", number),
      enrolled_at: at(number),
      last_contact_at: at(number)
    })
    yield* add("audit_events", {
      id: id("act", number),
      workspace_id,
      actor_kind: "user",
      actor_subject: world.ada,
      action: "capsule.update",
      target_kind: "capsule",
      target_id: first.capsule,
      capsule_id: first.capsule,
      data: "{}",
      created_at: at(number)
    })
  }

  // Adds a second generation of the first Capsule, in which both resources changed.
  yield* copy("state_versions", world.stateVersionId, {
    id: id("sv", 3),
    capsule_id: first.capsule,
    generation: 2,
    install_config_id: first.config,
    created_at: at(3)
  })
  yield* sql`UPDATE capsules SET current_state_version_id = ${id("sv", 3)}, current_state_generation = 2
    WHERE id = ${first.capsule}`
  for (const [generation, version] of [
    [1, id("sv", 1)],
    [2, id("sv", 3)]
  ] as const) {
    yield* add("state_indexes", {
      state_version_id: version,
      capsule_id: first.capsule,
      generation,
      outcome: "indexed"
    })
    for (const address of ["demo_note.a", "demo_note.b"]) {
      yield* add("resource_versions", {
        workspace_id,
        capsule_id: first.capsule,
        address,
        deposed: "",
        type: "demo_note",
        provider: "example.test/acme/demo",
        attributes: "{}",
        digest: `${generation}`,
        valid_from: generation,
        valid_to: generation === 1 ? 2 : null,
        run_id: first.run,
        changed_at: at(generation)
      })
    }
  }

  for (const number of [1, 2]) {
    const subject = id("usr", number)
    yield* add("users", {
      subject,
      email: `${letter}-member-${number}@example.test`,
      is_operator: 0,
      status: "active",
      ...times
    })
    yield* add("memberships", {
      id: id("mbr", number),
      workspace_id,
      subject,
      role: "viewer",
      status: "active",
      ...times
    })
  }
  const scope = { workspaceId: workspace_id, acting: { subject: world.ada } }
  const automation = yield* (yield* AutomationMembers).create(serviceContext, scope, { displayName: "ci" })
  for (const name of ["first", "second"]) {
    yield* (yield* AutomationTokens).create(serviceContext, scope, automation.subject, {
      name,
      scopes: ["read"],
      expiresAt
    })
    yield* (yield* AccessTokens).create(serviceContext, world.ada, { name, scopes: ["read"] })
  }
  const names: Readonly<Record<string, string>> = {
    workspaceId: workspace_id,
    capsuleId: first.capsule,
    sourceId: first.source,
    runId: first.run,
    stateVersionId: id("sv", 3),
    endpointId: id("nep", 1),
    subject: automation.subject
  }
  return names
})
