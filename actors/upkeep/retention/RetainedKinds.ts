import { heldByVersion } from "../../ledger/state/StateIndexRow.ts"
import { bytesOf, bytesWithParts } from "./ColumnBytes.ts"
import type { KeepRule, KeepReason, Part, RetainedKind } from "./RetainedKind.ts"
import { capsuleWithEvidence, livingCapsule } from "../../../schema/tables/CapsuleTables.ts"
import { coordinatorUnderWay } from "../../../schema/tables/PlanTables.ts"
import { owesEvidence } from "../../ledger/run/PendingAgentState.ts"
import { notSpeculative, speculative } from "../../../schema/tables/RunTables.ts"
import { pendingPlan } from "../../ledger/run/RunRow.ts"

/** Number of StateVersions per existing Capsule that are kept for rollbacks, regardless of their age. */
const rollbackTargets = 10

const need = (reason: KeepReason, when: string): KeepRule => ({ reason, when })
const exists = (from: string, where: string) => `EXISTS (SELECT 1 FROM ${from} WHERE ${where})`
const isFinal = (of: string) => `${of}status NOT IN ('queued', 'running', 'waiting_approval')`
const isMoving = (of: string) => `(NOT ${isFinal(of)} OR ${pendingPlan(of)})`

/** Keeps the result of a request while its receipt exists, because repeating the request must return the same result. */
const receipt = need("receipt", exists("idempotency_receipts i", "i.result_id = r.id"))

const movingRun = (column: string) => exists("runs o", `o.${column} = r.id AND ${isMoving("o.")}`)

/**
 * SQL condition that is true if no later Run of the Capsule or Source has the same type and outcome, which means that this
 * Run explains the current situation. Runs of destroyed Capsules are excluded; otherwise svc would keep some Runs of every
 * destroyed Capsule forever.
 */
const isNewestRun = `CASE
  WHEN r.capsule_id IS NOT NULL THEN ${notSpeculative("r.")}
    AND EXISTS (SELECT 1 FROM capsules c WHERE c.id = r.capsule_id AND ${capsuleWithEvidence("c.")})
    AND NOT EXISTS (SELECT 1 FROM runs n WHERE n.capsule_id = r.capsule_id AND n.type = r.type AND ${notSpeculative("n.")}
    AND n.status = r.status AND n.finished_at IS NOT NULL AND (n.finished_at, n.id) > (r.finished_at, r.id))
  WHEN r.source_id IS NOT NULL THEN NOT EXISTS (SELECT 1 FROM runs n WHERE n.source_id = r.source_id AND n.capsule_id IS NULL
    AND n.type = r.type AND n.status = r.status AND n.finished_at IS NOT NULL AND (n.finished_at, n.id) > (r.finished_at, r.id))
  ELSE 1 = 0 END`

const open = need("open", `NOT ${isFinal("r.")}`)
const openPlan = need("open_plan", `(${pendingPlan("r.")})`)
const newestRun = need("newest", isNewestRun)
const openGroup = need("run_group", exists("run_groups g", "g.id = r.run_group_id AND g.finished_at IS NULL"))

/** Reasons to keep the file of a plan. */
const planFileNeeds: ReadonlyArray<KeepRule> = [
  open,
  openPlan,
  need("apply", exists("runs a", `a.plan_run_id = r.id AND ${isMoving("a.")}`))
]

/** Reasons to keep the events of a Run. */
const eventNeeds: ReadonlyArray<KeepRule> = [
  open,
  openPlan,
  newestRun,
  need(
    "current_state",
    exists(
      "capsules c JOIN state_versions s ON s.id = c.current_state_version_id JOIN runs a ON a.id = s.created_by_run_id",
      `c.id = r.capsule_id AND ${capsuleWithEvidence("c.")} AND (a.id = r.id OR a.plan_run_id = r.id)`
    )
  ),
  openGroup
]

/** Reasons to keep a Run: a record refers to it, or it is the last of its kind. */
const runNeeds: ReadonlyArray<KeepRule> = [
  open,
  openPlan,
  newestRun,
  need("state", exists("state_versions s", "s.created_by_run_id = r.id")),
  need("left_over_state", exists("left_over_states l", "l.run_id = r.id")),
  need("pin", exists("capsules c", "c.id = r.capsule_id AND c.pinned_run_id = r.id")),
  openGroup,
  need("apply", exists("runs a", "a.plan_run_id = r.id")),
  need(
    "backup",
    `r.type = 'backup' AND ${exists("backups b", "b.workspace_id = r.workspace_id AND b.created_by_run_id = r.id")}`
  ),
  need("snapshot", exists("source_snapshots s", "s.created_by_run_id = r.id")),
  need("report", exists("compatibility_reports c", "c.created_by_run_id = r.id")),
  need("decision", exists("auto_update_decisions d", "d.run_id = r.id")),
  need("install_plan", exists("install_plans p", "p.id = r.coordinator_id")),
  need("revision_plan", exists("revision_plans p", "p.id = r.coordinator_id")),
  need("interface", exists("interface_intents i", "i.run_id = r.id AND i.status IN ('pending', 'failed')")),
  // The Run has left-overs that must still be settled or released.
  need("open", exists("run_results o", "o.run_id = r.id")),
  need("open", exists("run_checkpoints o", "o.run_id = r.id")),
  need("open", exists("agent_runs o", "o.run_id = r.id AND o.ended_at IS NULL")),
  // An agent can submit a state only while its Run exists. Revoked agents are ignored, because they never return.
  need(
    "open",
    exists(
      "agent_runs o JOIN agents a ON a.id = o.agent_id",
      `o.run_id = r.id AND a.revoked_at IS NULL AND ${owesEvidence("o.")}`
    )
  ),
  need("connection", exists("connection_holds h", "h.run_id = r.id")),
  need("log", exists("run_log_chunks l", "l.run_id = r.id")),
  receipt
]

/**
 * Reasons to keep a speculative plan: the same as for a Run, except that the plan's log and revision plan are removed with
 * it and therefore do not keep it.
 */
const speculativeNeeds = runNeeds.filter(({ reason }) => reason !== "log" && reason !== "revision_plan")

/** Reasons to keep a StateVersion. */
const stateNeeds: ReadonlyArray<KeepRule> = [
  need(
    "current_state",
    exists("capsules c", `c.id = r.capsule_id AND c.current_state_version_id = r.id AND ${capsuleWithEvidence("c.")}`)
  ),
  need(
    "rollback_target",
    `${exists("capsules c", `c.id = r.capsule_id AND ${livingCapsule("c.")}`)} AND NOT ${exists(
      "state_versions n",
      `n.capsule_id = r.capsule_id AND n.generation > r.generation ORDER BY n.generation LIMIT 1 OFFSET ${rollbackTargets - 1}`
    )}`
  ),
  need("open", movingRun("base_state_version_id")),
  need("living_capsule", exists("consumed_inputs i", "i.state_version_id = r.id")),
  need(
    "left_over_state",
    exists("left_over_states l", "l.capsule_id = r.capsule_id AND l.state_version_id = r.id AND l.state IS NOT NULL")
  ),
  need(
    "interface",
    exists(
      "interface_intents i",
      "i.capsule_id = r.capsule_id AND i.state_version_id = r.id AND i.status IN ('pending', 'failed')"
    )
  ),
  // Restoring an existing backup would use this version's snapshot, because the version was current when the backup was created.
  // A destroyed Capsule is never restored.
  need(
    "backup",
    `${exists("capsules c", `c.id = r.capsule_id AND ${capsuleWithEvidence("c.")}`)} AND ${exists(
      "backups b",
      `b.workspace_id = r.workspace_id AND (b.capsule_id IS NULL OR b.capsule_id = r.capsule_id) AND b.created_at >= r.created_at
        AND NOT EXISTS (SELECT 1 FROM state_versions n WHERE n.capsule_id = r.capsule_id AND n.generation > r.generation
          AND n.created_at <= b.created_at)`
    )}`
  ),
  receipt
]

/** Returns SQL conditions for records that need a snapshot. `id` is the snapshot's id, and `source` the id of its Source. */
const usesOfSnapshot = (id: string, source: string): ReadonlyArray<KeepRule> => [
  need(
    "living_capsule",
    exists(
      "capsules c JOIN install_configs i ON i.id = c.install_config_id",
      `c.source_id = ${source} AND ${livingCapsule("c.")} AND (c.adopted_snapshot_id = ${id} OR c.deferred_snapshot_id = ${id}
        OR i.source_snapshot_id = ${id} OR INSTR(c.stale_reasons, ${id}) > 0)`
    )
  ),
  need("lane", exists("source_lanes l", `l.source_id = ${source} AND l.source_snapshot_id = ${id}`)),
  need(
    "rollback_target",
    exists(
      "state_versions v JOIN capsules c ON c.id = v.capsule_id",
      `v.source_snapshot_id = ${id} AND (${livingCapsule("c.")} OR c.current_state_version_id = v.id)`
    )
  ),
  need("open", exists("runs o", `o.source_snapshot_id = ${id} AND ${isMoving("o.")}`)),
  need("install_plan", exists("install_plans p", `p.source_snapshot_id = ${id} AND p.${coordinatorUnderWay}`)),
  need("revision_plan", exists("revision_plans p", `p.source_snapshot_id = ${id} AND p.${coordinatorUnderWay}`))
]

/** Reasons to keep a compatibility report: records that need its snapshot may need its findings. */
const reportNeeds: ReadonlyArray<KeepRule> = [...usesOfSnapshot("r.source_snapshot_id", "r.source_id"), receipt]

/** Reasons to keep a source snapshot. */
const snapshotNeeds: ReadonlyArray<KeepRule> = [
  ...usesOfSnapshot("r.id", "r.source_id"),
  need("report", exists("compatibility_reports c", "c.source_snapshot_id = r.id")),
  need("decision", exists("auto_update_decisions d", "d.source_snapshot_id = r.id")),
  receipt
]

/** Reasons to keep an install plan or a revision plan. */
const coordinatorNeeds: ReadonlyArray<KeepRule> = [
  need("open", `r.${coordinatorUnderWay}`),
  need("open_plan", exists("runs o", `o.id = r.plan_run_id AND ${isMoving("o.")}`)),
  receipt
]

/**
 * Reasons to keep an auto-update decision. If the last decision were removed, svc would decide about the same commit again.
 */
const decisionNeeds: ReadonlyArray<KeepRule> = [
  need("lane", exists("source_lanes l", "l.source_snapshot_id = r.source_snapshot_id")),
  need("open_plan", exists("runs o", `o.id = r.run_id AND ${isMoving("o.")}`))
]

/** The reason to keep a backup: it is the last backup of its Capsule or Workspace. */
const backupNeeds: ReadonlyArray<KeepRule> = [
  need(
    "newest",
    `NOT ${exists(
      "backups n",
      `n.workspace_id = r.workspace_id AND COALESCE(n.capsule_id, '') = COALESCE(r.capsule_id, '')
        AND (n.created_at, n.id) > (r.created_at, r.id)`
    )}`
  ),
  need(
    "open",
    exists(
      "runs o",
      "o.workspace_id = r.workspace_id AND o.status IN ('queued', 'running', 'waiting_approval') AND INSTR(o.spec, r.id) > 0"
    )
  ),
  receipt
]

/** The reason to keep a group of Runs: its Runs still exist. */
const groupNeeds: ReadonlyArray<KeepRule> = [
  need("run", exists("runs o", "o.run_group_id = r.id")),
  need("run_group", exists("run_groups g", "g.replaced_by = r.id AND g.finished_at IS NULL")),
  receipt
]

const ownWorkspace = "r.workspace_id"

const events: Part = { table: "run_events", of: "run_id", key: ["run_id", "seq"], bytes: bytesOf("data") }
const planFiles: Part = {
  table: "run_plans",
  of: "run_id",
  key: ["run_id"],
  bytes: `${bytesWithParts("run_plans.plan_file")} + ${bytesOf("lock_text", "sealed_secrets", "consumed_outputs")}`
}

/** Rows that belong to a Run and are meaningless without it. */
const partsOfRun: ReadonlyArray<Part> = [
  planFiles,
  events,
  { table: "run_follow_due", of: "run_id", key: ["run_id"], bytes: "0" },
  { table: "run_approvals", of: "run_id", key: ["run_id", "approver"], bytes: bytesOf("comment") },
  { table: "run_approval_requests", of: "run_id", key: ["run_id"], bytes: bytesOf("subject") },
  {
    table: "change_bases",
    of: "run_id",
    key: ["run_id"],
    bytes: bytesOf("consumed_outputs", "deliveries", "commit_authors")
  },
  { table: "change_approvals", of: "run_id", key: ["id"], bytes: bytesOf("comment", "rules") },
  { table: "run_comments", of: "run_id", key: ["id"], bytes: bytesOf("text", "mentions") },
  { table: "plan_authors", of: "run_id", key: ["run_id", "subject"], bytes: bytesOf("subject", "part") },
  { table: "run_preparations", of: "run_id", key: ["run_id", "fence"], bytes: bytesOf("data") },
  { table: "run_deliveries", of: "run_id", key: ["run_id"], bytes: bytesOf("sealed_values") },
  { table: "agent_evidence", of: "run_id", key: ["id"], bytes: bytesOf("journal") },
  { table: "agent_carried_files", of: "run_id", key: ["run_id", "fence", "kind"], bytes: "LENGTH(bytes)" },
  { table: "agent_runs", of: "run_id", key: ["run_id", "fence"], bytes: bytesOf("result") },
  { table: "oidc_plan_pins", of: "plan_run_id", key: ["plan_run_id"], bytes: bytesOf("endpoint_origin") },
  { table: "setup_tickets", of: "run_id", key: ["secret_hash"], bytes: bytesOf("product") },
  { table: "interface_intents", of: "run_id", key: ["id"], bytes: bytesOf("message") }
]

/** Rows that are meaningless without a speculative plan. */
const partsOfSpeculative: ReadonlyArray<Part> = [
  { table: "run_log_chunks", of: "run_id", key: ["run_id", "first_seq"], bytes: "bytes" },
  { table: "revision_plans", of: "plan_run_id", key: ["id"], bytes: bytesOf("diagnostics") },
  ...partsOfRun
]

/** All kinds, in the order of removal: records that refer to other records are removed first. */
export const retainedKinds: ReadonlyArray<RetainedKind> = [
  {
    name: "plan_files",
    table: "runs",
    staysItself: true,
    since: "finished_at",
    among: "EXISTS (SELECT 1 FROM run_plans p WHERE p.run_id = r.id)",
    workspace: ownWorkspace,
    bytes: "0",
    parts: [planFiles],
    needs: planFileNeeds
  },
  {
    name: "run_events",
    table: "runs",
    staysItself: true,
    since: "finished_at",
    among: "EXISTS (SELECT 1 FROM run_events e WHERE e.run_id = r.id)",
    workspace: ownWorkspace,
    bytes: "0",
    parts: [events],
    needs: eventNeeds
  },
  {
    name: "speculative_plans",
    table: "runs",
    since: "finished_at",
    among: speculative("r."),
    workspace: ownWorkspace,
    bytes: bytesOf("r.spec", "r.evidence", "r.plan_details", "r.error_message"),
    parts: partsOfSpeculative,
    needs: speculativeNeeds
  },
  {
    name: "auto_update_decisions",
    table: "auto_update_decisions",
    since: "updated_at",
    workspace: "(SELECT c.workspace_id FROM capsules c WHERE c.id = r.capsule_id)",
    bytes: bytesOf("r.message"),
    parts: [],
    needs: decisionNeeds
  },
  {
    name: "install_plans",
    table: "install_plans",
    since: "updated_at",
    workspace: ownWorkspace,
    bytes: bytesOf("r.request", "r.private_variables", "r.diagnostics"),
    parts: [],
    needs: coordinatorNeeds
  },
  {
    name: "revision_plans",
    table: "revision_plans",
    since: "updated_at",
    workspace: ownWorkspace,
    bytes: bytesOf("r.diagnostics"),
    parts: [],
    needs: coordinatorNeeds
  },
  {
    name: "backups",
    table: "backups",
    since: "created_at",
    workspace: ownWorkspace,
    bytes: bytesOf("r.archive"),
    parts: [],
    needs: backupNeeds
  },
  {
    name: "state_versions",
    table: "state_versions",
    since: "created_at",
    workspace: ownWorkspace,
    bytes: `${bytesWithParts("r.state")} + ${bytesOf("r.sealed_secrets")}`,
    // Removes the index first, because a StateVersion that has no index is simply treated as not indexed.
    parts: [
      { table: "state_indexes", of: "state_version_id", key: ["state_version_id"], bytes: "0" },
      { table: "outputs", of: "state_version_id", key: ["id"], bytes: bytesOf("value", "sealed_value") }
    ],
    sharedParts: [
      {
        table: "resource_versions",
        key: ["capsule_id", "address", "deposed", "valid_from"],
        when: heldByVersion("p", "r")
      },
      { table: "output_versions", key: ["capsule_id", "name", "valid_from"], when: heldByVersion("p", "r") }
    ],
    needs: stateNeeds
  },
  {
    name: "compatibility_reports",
    table: "compatibility_reports",
    since: "created_at",
    workspace: ownWorkspace,
    bytes: bytesOf("r.report", "r.module_scan"),
    parts: [],
    needs: reportNeeds
  },
  {
    name: "source_snapshots",
    table: "source_snapshots",
    since: "created_at",
    workspace: ownWorkspace,
    // Snapshots with equal content share one archive, which is removed with the last of these snapshots.
    bytes: `${bytesOf("r.manifest_document", "r.repository_manifest")} + CASE WHEN EXISTS (SELECT 1 FROM source_snapshots n
      WHERE n.archive_digest = r.archive_digest AND n.id <> r.id) THEN 0 ELSE r.archive_size_bytes END`,
    parts: [],
    needs: snapshotNeeds
  },
  {
    name: "runs",
    table: "runs",
    since: "finished_at",
    workspace: ownWorkspace,
    bytes: bytesOf("r.spec", "r.evidence", "r.plan_details", "r.error_message"),
    parts: partsOfRun,
    needs: runNeeds
  },
  {
    name: "run_groups",
    table: "run_groups",
    since: "finished_at",
    workspace: ownWorkspace,
    bytes: "0",
    parts: [{ table: "run_group_members", of: "group_id", key: ["group_id", "capsule_id"], bytes: bytesOf("message") }],
    needs: groupNeeds
  }
]
