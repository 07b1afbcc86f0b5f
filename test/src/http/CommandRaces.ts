import type { Schema } from "effect"
import { world } from "./support/World.ts"

/**
 * A change that is committed between a command's first reads and its transaction.
 * - `given`: prepares the test data before the request - `undo`: restores the test data - `refusal`: part of an error
 *   message that only a command that saw the change can return
 */
interface Race {
  readonly given: ReadonlyArray<string>
  readonly change: string
  readonly undo: ReadonlyArray<string>
  readonly refusal: string
  readonly body?: ((guard: string) => Schema.Json) | undefined
}

const at = "2026-01-01T00:00:00.000Z"
const projectId = `prj_${"x".repeat(24)}`
const teamId = world.teamId
const [ada, bob, viewer] = [world.ada, world.bob, world.viewer]

const to =
  (table: string, id: string) =>
  (columns: string): string =>
    `UPDATE ${table} SET ${columns} WHERE id = '${id}'`
const capsule = to("capsules", world.capsuleId)
const run = to("runs", world.runId)
const group = to("run_groups", world.runGroupId)
const source = to("sources", world.sourceId)
const connection = to("connections", world.connectionId)
const share = to("output_shares", world.shareId)
const workspace = to("workspaces", world.workspaceA)
const member = (subject: string, columns: string, of: string = world.workspaceA) =>
  `UPDATE memberships SET ${columns} WHERE workspace_id = '${of}' AND subject = '${subject}'`
const insert = (table: string, row: Readonly<Record<string, string | number>>) =>
  `INSERT INTO ${table} (${Object.keys(row).join(", ")}) VALUES (${Object.values(row)
    .map((value) => (typeof value === "number" ? value : `'${value}'`))
    .join(", ")})`
const remove = (table: string, id: string) => `DELETE FROM ${table} WHERE id = '${id}'`

const times = { created_at: at, updated_at: at }
const joined = (subject: string, role = "member") =>
  insert("memberships", {
    id: `mbr_${"j".repeat(24)}`,
    workspace_id: world.workspaceA,
    subject,
    role,
    status: "active",
    ...times
  })
const project = insert("projects", {
  id: projectId,
  workspace_id: world.workspaceA,
  name: "Extra",
  slug: "extra",
  is_default: 0,
  ...times
})
const team = (id: string, name: string) => insert("teams", { id, workspace_id: world.workspaceA, name, ...times })
const rule = (more: Readonly<Record<string, string>> = {}) =>
  insert("approval_rules", {
    id: world.ruleId,
    workspace_id: world.workspaceA,
    approvers: 1,
    role: "admin",
    plan_author_counts: 0,
    commit_author_counts: 1,
    automation_counts: 0,
    ...more,
    ...times
  })

const endpoint = insert("notice_endpoints", {
  id: world.endpointId,
  workspace_id: world.workspaceA,
  name: "Operations",
  format: "json",
  host: "https://hooks.example.test",
  address: "sealed",
  secret: "sealed",
  secret_version: 1,
  kinds: '["run.failed"]',
  filter: "{}",
  state: "active",
  ...times
})

type Body = Race["body"]
const race = (
  [given, change, undo]: readonly [given: ReadonlyArray<string>, change: string, undo: ReadonlyArray<string>],
  refusal: string,
  body?: Body
): Race => ({ given, change, undo, refusal, body })

const ended = [[], capsule("status = 'destroyed'"), [capsule("status = 'active'")]] as const
const archived = [[], workspace(`archived_at = '${at}'`), [workspace("archived_at = NULL")]] as const
const removedSource = [[], source(`removed_at = '${at}'`), [source("removed_at = NULL")]] as const
const removedConnection = [[], connection(`removed_at = '${at}'`), [connection("removed_at = NULL")]] as const
const suspended = [[], member(viewer, "status = 'suspended'"), [member(viewer, "status = 'active'")]] as const
const withTeam = (change: string, undo: ReadonlyArray<string> = []) =>
  [[team(teamId, "ops")], change, [...undo, remove("teams", teamId)]] as const
const withoutRule = [[rule()], remove("approval_rules", world.ruleId), []] as const
const withoutEndpoint = [[endpoint], remove("notice_endpoints", world.endpointId), []] as const
const reviewable = run("status = 'waiting_approval', plan_digest = 'sha256:1'")
const speculative = run(
  "purpose = 'speculative', status = 'succeeded', requires_approval = 0, capsule_line = NULL, plan_digest = 'sha256:1', change_digest = 'change'"
)
const ordinary = run("purpose = NULL, change_digest = NULL")
const running = run("status = 'running', plan_digest = NULL, run_group_id = NULL")

const nothing: Body = () => ({})
const guarded = (authorityGuard: string) => ({ expected: { authorityGuard } })
const guardMoved = "has changed since its guard was read"

/** Races, keyed by the group and the name of the route. */
export const races: ReadonlyMap<string, Race> = new Map<string, Race>([
  [
    "accountTokens.create",
    race(
      [[], member(ada, "status = 'suspended'", world.workspaceB), [member(ada, "status = 'active'", world.workspaceB)]],
      "no active member of this Workspace",
      () => ({ name: "n", scopes: ["read"], workspace_id: world.workspaceB })
    )
  ],
  [
    "workspaces.create",
    race(
      [
        [],
        `UPDATE memberships SET status = 'unconfirmed' WHERE subject = '${ada}'`,
        [`UPDATE memberships SET status = 'active' WHERE subject = '${ada}'`]
      ],
      "is not confirmed yet",
      () => ({ handle: "gamma" })
    )
  ],
  ["workspaces.update", race(archived, "archived", () => ({ displayName: "x" }))],
  ["workspaces.setAutomation", race(archived, "archived", () => ({ paused: true }))],
  [
    "workspaces.addMember",
    race([[], joined(bob), [remove("memberships", `mbr_${"j".repeat(24)}`)]], "member", () => ({
      subject: bob,
      role: "member"
    }))
  ],
  [
    "workspaces.updateMember",
    race(
      [
        [member(viewer, "status = 'suspended'")],
        member(viewer, `left_at = '${at}'`),
        [member(viewer, "status = 'active', left_at = NULL")]
      ],
      "The person left this Workspace",
      () => ({ status: "active" })
    )
  ],
  [
    "workspaces.removeMember",
    race(
      [
        [],
        `DELETE FROM memberships WHERE workspace_id = '${world.workspaceA}' AND subject = '${viewer}'`,
        [joined(viewer, "viewer")]
      ],
      "Member"
    )
  ],
  ["workspaces.handOver", race(suspended, "only an active member can become the owner", () => ({ subject: viewer }))],
  [
    "workspaces.createProject",
    race([[], project, [remove("projects", projectId)]], "slug: another Project", () => ({ name: "n", slug: "extra" }))
  ],
  [
    "workspaces.planUpdate",
    race(
      [
        [capsule(`status = 'stale', current_state_version_id = '${world.stateVersionId}'`)],
        capsule("status = 'active'"),
        [capsule("status = 'active', current_state_version_id = NULL")]
      ],
      "No Capsule is stale",
      nothing
    )
  ],
  [
    "members.createToken",
    race(
      [
        [`UPDATE users SET kind = 'automation' WHERE subject = '${viewer}'`],
        member(viewer, "status = 'suspended'"),
        [`UPDATE users SET kind = 'person' WHERE subject = '${viewer}'`, member(viewer, "status = 'active'")]
      ],
      "no active member of this Workspace",
      () => ({ name: "n", scopes: ["read"], expiresAt: "2027-01-01T00:00:00.000Z" })
    )
  ],
  ["invitations.create", race(archived, "archived", () => ({ email: "new@example.test", role: "member" }))],
  ["teams.create", race(suspended, "is not an active member", () => ({ name: "ops", members: [viewer] }))],
  [
    "teams.update",
    race(
      withTeam(team(`team_${"o".repeat(24)}`, "other"), [remove("teams", `team_${"o".repeat(24)}`)]),
      "name: another team",
      () => ({ name: "other" })
    )
  ],
  [
    "teams.remove",
    race(
      withTeam(rule({ team_id: teamId }), [remove("approval_rules", world.ruleId)]),
      "An approval rule uses the team"
    )
  ],
  [
    "approvals.createRule",
    race([[team(teamId, "ops")], remove("teams", teamId), []], "teamId: no team", () => ({ approvers: 1, teamId }))
  ],
  ["approvals.updateRule", race(withoutRule, "Approval rule", () => ({ approvers: 2 }))],
  ["approvals.removeRule", race(withoutRule, "Approval rule")],
  [
    "notices.createEndpoint",
    race([[project], remove("projects", projectId), []], "filter.projectIds", () => ({
      name: "Operations",
      format: "slack",
      address: "https://hooks.example.test/T/B/X",
      kinds: ["run.failed"],
      filter: { projectIds: [projectId] }
    }))
  ],
  ["notices.updateEndpoint", race(withoutEndpoint, "Notice endpoint", () => ({ name: "Other" }))],
  ["notices.removeEndpoint", race(withoutEndpoint, "Notice endpoint")],
  ["notices.rotateSecret", race(withoutEndpoint, "Notice endpoint", () => ({ secretVersion: 1 }))],
  ["notices.testEndpoint", race(withoutEndpoint, "Notice endpoint", nothing)],
  ["notices.replayDelivery", race(withoutEndpoint, "Notice endpoint", nothing)],
  [
    "installPlans.create",
    race([[], capsule("name = 'new'"), [capsule("name = 'app'")]], "has that name already", () => ({
      source: { name: "app", url: "https://git.example.test/app.git" },
      capsule: { name: "new", environment: "production" }
    }))
  ],
  ["revisionPlans.create", race(ended, "The Capsule is destroyed", () => ({ ref: "main" }))],
  ["capsules.update", race(ended, "The Capsule is destroyed", () => ({ name: "x" }))],
  [
    "capsules.remove",
    race(
      [
        [],
        capsule(`current_state_version_id = '${world.stateVersionId}'`),
        [capsule("current_state_version_id = NULL")]
      ],
      "has no snapshot"
    )
  ],
  [
    "capsules.release",
    race(ended, "The Capsule is destroyed already", () => ({ confirm: "app", reason: "moved_elsewhere" }))
  ],
  [
    "capsules.createDependency",
    race(ended, "The Capsule is destroyed", () => ({
      producerCapsuleId: world.capsuleId,
      mode: "variable_injection",
      outputs: []
    }))
  ],
  [
    "capsules.removeDependency",
    race(
      [
        [],
        remove("dependencies", world.dependencyId),
        [
          insert("dependencies", {
            id: world.dependencyId,
            workspace_id: world.workspaceA,
            producer_capsule_id: world.capsuleId,
            consumer_capsule_id: world.capsuleId,
            mode: "published_output",
            outputs: "[]",
            created_at: at
          })
        ]
      ],
      "Dependency"
    )
  ],
  ["capsules.plan", race(ended, "The Capsule is destroyed")],
  ["capsules.configurationPlan", race(ended, guardMoved, guarded)],
  ["capsules.reconcilePlan", race(ended, "The Capsule is destroyed")],
  ["capsules.destroyPlan", race(ended, "The Capsule is destroyed")],
  ["capsules.driftCheck", race(ended, "The Capsule is destroyed")],
  [
    "capsules.reAdopt",
    race(ended, guardMoved, (guard) => ({
      ...guarded(guard),
      baseInstallConfigId: world.capsuleConfigId,
      sourceSnapshotId: world.sourceSnapshotId,
      reason: "again"
    }))
  ],
  ["backups.restorePlan", race(ended, "The Capsule is destroyed", () => ({ capsuleId: world.capsuleId }))],
  ["backupImports.confirm", race(ended, "The Capsule is destroyed", () => ({ confirm: "app" }))],
  ["sources.update", race(removedSource, "Source", () => ({ name: "x" }))],
  ["sources.remove", race(removedSource, "Source")],
  ["sources.renewHookSecret", race(removedSource, "Source", () => ({ hookSecretVersion: 1 }))],
  ["sources.sync", race([[], source("status = 'disabled'"), [source("status = 'active'")]], "is disabled", nothing)],
  [
    "sources.compatibilityCheck",
    race(removedSource, "Source", () => ({ sourceSnapshotId: world.sourceSnapshotId, modulePath: "." }))
  ],
  [
    "runs.approve",
    race([[reviewable], run("status = 'superseded'"), [running]], "superseded", () => ({ planDigest: "sha256:1" }))
  ],
  ["runs.apply", race([[reviewable], run("status = 'superseded'"), [running]], "superseded")],
  ["approvals.ask", race([[reviewable], run("status = 'superseded'"), [running]], "nobody can be asked", nothing)],
  [
    "changeApprovals.approve",
    race([[speculative], run("change_digest = 'other'"), [ordinary, running]], "not those of this Run", () => ({
      planDigest: "sha256:1",
      changeDigest: "change"
    }))
  ],
  ["comments.write", race(suspended, "no active member", () => ({ text: "Look at this.", mentions: [viewer] }))],
  ["runs.cancel", race([[], run("status = 'failed'"), [running]], "failed already", nothing)],
  [
    "runs.approveGroup",
    race(
      [
        [run(`status = 'waiting_approval', plan_digest = 'sha256:1', run_group_id = '${world.runGroupId}'`)],
        run("status = 'superseded'"),
        [running]
      ],
      "superseded",
      nothing
    )
  ],
  [
    "runs.cancelGroup",
    race([[], group(`finished_at = '${at}'`), [group("finished_at = NULL")]], "is over already", nothing)
  ],
  [
    "runs.rollbackPlan",
    race(
      [
        [
          `UPDATE state_versions SET source_snapshot_id = '${world.sourceSnapshotId}' WHERE id = '${world.stateVersionId}'`
        ],
        ended[1],
        [...ended[2], `UPDATE state_versions SET source_snapshot_id = NULL WHERE id = '${world.stateVersionId}'`]
      ],
      "The Capsule is destroyed",
      nothing
    )
  ],
  [
    "connections.create",
    race([[project], remove("projects", projectId), []], "use.projectIds[0]", () => ({
      workspaceId: world.workspaceA,
      provider: "registry.opentofu.org/hashicorp/null",
      displayName: "p",
      values: { TOKEN: "secret" },
      use: { roles: ["owner"], projectIds: [projectId] }
    }))
  ],
  [
    "connections.test",
    race(
      [[], connection("status = 'revoked'"), [connection("status = 'pending'")]],
      "has changed this Connection since"
    )
  ],
  [
    "connections.update",
    race([[project], remove("projects", projectId), []], "use.projectIds[0]", () => ({
      use: { roles: ["owner"], projectIds: [projectId] }
    }))
  ],
  ["connections.remove", race(removedConnection, "Connection")],
  [
    "connections.confirmOrigins",
    race(removedConnection, "Connection", () => ({ origins: ["https://git.example.test"] }))
  ],
  ["connections.revoke", race(removedConnection, "Connection")],
  [
    "connections.createOutputShare",
    race(ended, "the Workspace has no such Capsule", () => ({
      fromWorkspaceId: world.workspaceA,
      toWorkspaceId: world.workspaceB,
      producerCapsuleId: world.capsuleId,
      outputs: [{ name: "a" }]
    }))
  ],
  [
    "connections.approveOutputShare",
    race([[], share("status = 'revoked'"), [share("status = 'pending'")]], "cannot be approved")
  ],
  [
    "connections.revokeOutputShare",
    race([[], share("status = 'revoked'"), [share("status = 'pending'")]], "revoked already")
  ]
])

const setsOnce = "one statement compares and sets"
const oneStep = "takes the next step of its own row, in one transaction"

/**
 * Routes whose command makes no decision based on reads before the transaction. Each entry has the reason, or the test that
 * covers the route.
 */
export const decidedElsewhere: ReadonlyMap<string, string> = new Map([
  ["accountTokens.revoke", setsOnce],
  ["workspaces.retryMaterialization", setsOnce],
  ["workspaces.createBackup", "decides on the queue alone"],
  ["capsules.look", "the sync decides: sources.sync"],
  ["workspaces.driftCheck", "each check decides: capsules.driftCheck"],
  ["members.revokeToken", setsOnce],
  ["invitations.revoke", setsOnce],
  ["invitations.inspect", "changes nothing"],
  ["invitations.accept", "test/actors/access/member/InvitationAcceptance.test.ts"],
  ["invitations.decline", setsOnce],
  ["changeApprovals.withdraw", "one transaction reads the approval and withdraws it"],
  ["comments.remove", "one transaction reads the comment and removes its text"],
  ["installPlans.reconcile", oneStep],
  ["stateUploads.create", "grants nothing; the install that takes the state compares it again"],
  ["revisionPlans.reconcile", oneStep],
  ["capsules.replaceProviderBindings", "retired"],
  ["capsules.updateConfig", "retired"],
  ["capsules.backup", "decides on the queue alone"],
  ["leftOverStates.adopt", "test/actors/commands/capsule/OrphanedStateRaces.test.ts"],
  ["leftOverStates.discard", "test/actors/commands/capsule/OrphanedStateRaces.test.ts"],
  ["backupImports.upload", "grants nothing; the install that takes the state compares it again"],
  ["exports.create", "test/actors/commands/capsule-export/CapsuleExports.test.ts"],
  ["actionConfirmations.begin", "grants nothing; the record is read again when the person looks and when it is used"],
  ["actionConfirmations.poll", "changes only when the next poll may follow"],
  ["sources.create", "there is no record yet; its Connection is read in its transaction"],
  ["sources.stableSemver", "changes nothing"],
  ["sources.revisions", "changes nothing"],
  ["pullRequests.plan", "test/actors/commands/pull-request/HeadPlans.test.ts"],
  ["agentPools.release", "test/src/http/agent"],
  ["notices.chooseMails", "replaces the person's own choice, and depends on nothing else"],
  ["connections.startOAuth", "test/src/http/OAuthHelpers.test.ts"],
  ["connections.startGitHubApp", "there is no record yet; the authority is read again when the person returns"]
])
