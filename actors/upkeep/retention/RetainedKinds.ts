import { heldByVersion } from "../../ledger/state/StateIndexRow.ts"
import { bytesOf, bytesWithParts } from "./ColumnBytes.ts"
import {
  backupNeeds,
  coordinatorNeeds,
  decisionNeeds,
  eventNeeds,
  groupNeeds,
  planFileNeeds,
  reportNeeds,
  runNeeds,
  snapshotNeeds,
  stateNeeds
} from "./Needs.ts"
import type { Part, RetainedKind } from "./RetainedKind.ts"

const ownWorkspace = "r.workspace_id"

const events: Part = { table: "run_events", of: "run_id", key: ["run_id", "seq"], bytes: bytesOf("data") }
const planFiles: Part = {
  table: "run_plans",
  of: "run_id",
  key: ["run_id"],
  bytes: `${bytesWithParts("run_plans.plan_file")} + ${bytesOf("lock_text", "sealed_secrets", "consumed_outputs")}`
}

/** Everything that refers to a Run and is meaningless without it. */
const partsOfRun: ReadonlyArray<Part> = [
  planFiles,
  events,
  { table: "run_follow_due", of: "run_id", key: ["run_id"], bytes: "0" },
  { table: "run_approvals", of: "run_id", key: ["run_id", "approver"], bytes: bytesOf("comment") },
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

/** Every kind, in the order of removal: a record that refers to another one is removed first. */
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
    // The index is removed first: after that, the version is treated as not yet read.
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
    // Snapshots with equal content share one archive, which is removed with the last of them.
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
