import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { Principal } from "../../../../actors/base/credential/Principal.ts"
import {
  CapsuleId,
  CompatibilityReportId,
  ConnectionId,
  DependencyId,
  InstallConfigId,
  InstallPlanId,
  ApprovalRuleId,
  InvitationId,
  NoticeDeliveryId,
  NoticeEndpointId,
  TeamId,
  OrphanedStateId,
  BackupId,
  OutputShareId,
  ProjectId,
  PullRequestId,
  RevisionPlanId,
  ChangeApprovalId,
  RunCommentId,
  RunGroupId,
  RunId,
  SourceId,
  SourceSnapshotId,
  StateVersionId,
  Subject,
  WorkspaceId
} from "../../../../schema/records/Ids.ts"

const id = (prefix: string, letter: string) => `${prefix}_${letter.repeat(24)}`

/** One record of each kind in Workspace A, owned by Ada. Bob owns Workspace B. */
export const world = {
  workspaceA: WorkspaceId.make(id("ws", "a")),
  workspaceB: WorkspaceId.make(id("ws", "b")),
  workspaceUnknown: WorkspaceId.make(id("ws", "z")),
  ada: Subject.make(id("usr", "a")),
  bob: Subject.make(id("usr", "b")),
  viewer: Subject.make(id("usr", "v")),
  suspended: Subject.make(id("usr", "s")),
  projectId: ProjectId.make(id("prj", "a")),
  sourceId: SourceId.make(id("src", "a")),
  sourceSnapshotId: SourceSnapshotId.make(id("snap", "a")),
  reportId: CompatibilityReportId.make(id("rep", "a")),
  capsuleId: CapsuleId.make(id("cap", "a")),
  capsuleConfigId: InstallConfigId.make(id("icfg", "a")),
  installPlanId: InstallPlanId.make(id("ipl", "a")),
  pullRequestId: PullRequestId.make(id("pr", "a")),
  revisionPlanId: RevisionPlanId.make(id("rpl", "a")),
  runId: RunId.make(id("run", "a")),
  changeApprovalId: ChangeApprovalId.make(id("cha", "a")),
  commentId: RunCommentId.make(id("cmt", "a")),
  runGroupId: RunGroupId.make(id("rgrp", "a")),
  stateVersionId: StateVersionId.make(id("sv", "a")),
  connectionId: ConnectionId.make(id("conn", "a")),
  shareId: OutputShareId.make(id("oshare", "a")),
  dependencyId: DependencyId.make(id("dep", "a")),
  leftOverStateId: OrphanedStateId.make(id("lo", "a")),
  backupId: BackupId.make(id("bkp", "a")),
  invitationId: InvitationId.make(id("inv", "a")),
  teamId: TeamId.make(id("team", "a")),
  ruleId: ApprovalRuleId.make(id("apr", "a")),
  endpointId: NoticeEndpointId.make(id("nep", "a")),
  deliveryId: NoticeDeliveryId.make(id("ndl", "a"))
}

/** A configuration without inputs or requirements. */
export const emptyConfig = JSON.stringify({
  compiled: {
    origin: "generic",
    assistance: "absent",
    pins: { sourceSnapshotId: world.sourceSnapshotId, compatibilityReportId: world.reportId, modulePath: "." },
    inputs: [],
    requires: [],
    features: [],
    interfaceBlueprints: [],
    bindingRequests: [],
    outputAllowlist: [],
    diagnostics: []
  },
  variables: [],
  outputs: [],
  rootProviderRequirements: []
})

const session = (subject: string): Principal => ({
  credential: "session",
  credentialId: `ses_${subject}`,
  subject,
  scopes: "all",
  // The session counts as recently confirmed at every time on the test's clock.
  confirmedAt: Number.MAX_SAFE_INTEGER
})

const token = (subject: string, scopes: ReadonlyArray<string>, bound?: string): Principal => ({
  credential: "token",
  credentialId: `pat_${subject}`,
  subject,
  scopes,
  ...(bound === undefined ? {} : { boundWorkspaceId: WorkspaceId.make(bound) })
})

/** The secrets of the test authenticator. */
const known = new Map<string, Principal>([
  ["ada-session", session(world.ada)],
  ["bob-session", session(world.bob)],
  ["viewer-session", session(world.viewer)],
  ["suspended-session", session(world.suspended)],
  ["ada-token", token(world.ada, ["read", "write"])],
  ["ada-read-token", token(world.ada, ["read"])],
  ["ada-token-for-a", token(world.ada, ["read", "write"], world.workspaceA)],
  ["ada-token-for-b", token(world.ada, ["read", "write"], world.workspaceB)],
  ["suspended-token-for-a", token(world.suspended, ["read", "write"], world.workspaceA)]
])

export const principals: ReadonlyMap<string, Principal> = known

/** Revokes a secret while the effect runs. */
export const withoutPrincipal = <A, E, R>(secret: string, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.suspend(() => {
    const principal = known.get(secret)
    known.delete(secret)
    return Effect.ensuring(
      effect,
      Effect.sync(() => (principal === undefined ? undefined : known.set(secret, principal)))
    )
  })

const at = "2026-01-01T00:00:00.000Z"

/** Writes the test data into the database. */
export const seed = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const times = { created_at: at, updated_at: at }
  for (const [subject, email] of [
    [world.ada, "ada@example.test"],
    [world.bob, "bob@example.test"],
    [world.viewer, "viewer@example.test"],
    [world.suspended, "suspended@example.test"]
  ] as const) {
    yield* sql`INSERT INTO users ${sql.insert({ subject, email, display_name: null, is_operator: 0, status: "active", ...times })}`
  }
  for (const [workspace, handle] of [
    [world.workspaceA, "alpha"],
    [world.workspaceB, "beta"]
  ] as const) {
    yield* sql`INSERT INTO workspaces ${sql.insert({ id: workspace, handle, display_name: handle, type: "organization", personal_owner: null, archived_at: null, ...times })}`
  }
  for (const [index, workspace_id, subject, role, status] of [
    [1, world.workspaceA, world.ada, "owner", "active"],
    [2, world.workspaceB, world.bob, "owner", "active"],
    [3, world.workspaceA, world.viewer, "viewer", "active"],
    [4, world.workspaceA, world.suspended, "owner", "suspended"],
    [5, world.workspaceB, world.ada, "owner", "active"]
  ] as const) {
    yield* sql`INSERT INTO memberships ${sql.insert({ id: id("mbr", String(index)), workspace_id, subject, role, status, ...times })}`
  }
  const workspace_id = world.workspaceA
  yield* sql`INSERT INTO projects ${sql.insert({ id: world.projectId, workspace_id, name: "Default", slug: "default", is_default: 1, ...times })}`
  yield* sql`INSERT INTO sources ${sql.insert({ id: world.sourceId, workspace_id, name: "app", url: "https://git.example.test/app.git", default_ref: "HEAD", default_path: ".", auto_sync: 0, status: "active", hook_secret: "sealed", ...times })}`
  yield* sql`INSERT INTO source_snapshots ${sql.insert({ id: world.sourceSnapshotId, workspace_id, source_id: world.sourceId, url: "https://git.example.test/app.git", ref: "refs/heads/main", resolved_commit: "0".repeat(40), path: ".", archive_digest: `sha256:${"0".repeat(64)}`, archive_size_bytes: 1, file_count: 1, omitted: "[]", repository_manifest: "{}", warnings: "[]", created_by_run_id: world.runId, created_at: at })}`
  yield* sql`INSERT INTO compatibility_reports ${sql.insert({ id: world.reportId, workspace_id, source_id: world.sourceId, source_snapshot_id: world.sourceSnapshotId, module_path: ".", status: "ready", report: "{}", module_scan: "{}", contract_digest: "d", created_by_run_id: world.runId, created_at: at })}`
  yield* sql`INSERT INTO install_configs ${sql.insert({ id: world.capsuleConfigId, workspace_id, origin: "generic", module_path: ".", contract_digest: "d", digest: "d", config: emptyConfig, created_at: at })}`
  yield* sql`INSERT INTO capsules ${sql.insert({ id: world.capsuleId, workspace_id, project_id: world.projectId, name: "app", slug: "app", environment: "production", source_id: world.sourceId, module_path: ".", install_config_id: world.capsuleConfigId, status: "active", runtime_safety: "safe", current_state_generation: 0, execution_authority_epoch: 1, tracked_ref: "HEAD", tracked_path: ".", auto_update_enabled: 0, auto_update_apply: 0, drift_status: "unknown", ...times })}`
  yield* sql`INSERT INTO state_versions ${sql.insert({ id: world.stateVersionId, workspace_id, capsule_id: world.capsuleId, generation: 1, serial: 1, lineage: "l", digest: "d", resource_count: 0, size_bytes: 1, state: "sealed", partial: 0, install_config_id: world.capsuleConfigId, created_by_run_id: world.runId, created_at: at })}`
  yield* sql`INSERT INTO dependencies ${sql.insert({ id: world.dependencyId, workspace_id, producer_capsule_id: world.capsuleId, consumer_capsule_id: world.capsuleId, mode: "published_output", outputs: "[]", created_at: at })}`
  yield* sql`INSERT INTO backups ${sql.insert({ id: world.backupId, workspace_id, capsule_id: world.capsuleId, digest: "d", size_bytes: 1, archive: "sealed", created_by_run_id: world.runId, created_at: at })}`
  yield* sql`INSERT INTO connections ${sql.insert({ id: world.connectionId, workspace_id, scope: "workspace", provider: "p", kind: "provider", recipe_id: "generic-env", auth_mode: "env", display_name: "p", status: "pending", env_names: "[]", file_names: "[]", provider_config: emptyConfig, module_input_defaults: "{}", ...times })}`
  yield* sql`INSERT INTO output_shares ${sql.insert({ id: world.shareId, from_workspace_id: workspace_id, to_workspace_id: workspace_id, producer_capsule_id: world.capsuleId, outputs: "[]", status: "pending", created_at: at })}`
  yield* sql`INSERT INTO install_plans ${sql.insert({ id: world.installPlanId, workspace_id, phase: "reviewable", request: "{}", actor: "{}", diagnostics: "[]", ...times })}`
  yield* sql`INSERT INTO revision_plans ${sql.insert({ id: world.revisionPlanId, workspace_id, capsule_id: world.capsuleId, ref: "main", phase: "reviewable", actor: "{}", execution_authority_epoch: 1, diagnostics: "[]", ...times })}`
  yield* sql`INSERT INTO pull_requests ${sql.insert({ id: world.pullRequestId, workspace_id, source_id: world.sourceId, number: 1, ref: "refs/pull/1/head", state: "open", head_commit: "0".repeat(40), fork: "unknown", last_seen_at: at, created_at: at })}`
  yield* sql`INSERT INTO pull_request_capsules ${sql.insert({ pull_request_id: world.pullRequestId, capsule_id: world.capsuleId, head_commit: "0".repeat(40), touched: 1 })}`
  yield* sql`INSERT INTO runs ${sql.insert({ id: world.runId, workspace_id, type: "plan", status: "running", capsule_id: world.capsuleId, requires_approval: 1, trigger_kind: "user", attempt: 1, spec: "{}", evidence: "{}", created_at: at, queued_at: at })}`
  yield* sql`INSERT INTO run_groups ${sql.insert({ id: world.runGroupId, workspace_id, type: "update", created_at: at })}`
})
