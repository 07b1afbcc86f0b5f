import type { Run } from "../../../../src/dashboard/api/Types.ts"
import { storefrontId } from "./Capsules.ts"
import { aiko, bruno, me } from "./People.ts"
import { aws, change, planChanges } from "./PlanChanges.ts"
import { ago, commit, commitDescription, digest, without } from "./Seeds.ts"
import { workspaceId } from "./Workspaces.ts"

export const baseRun = (fields: Partial<Run> & Pick<Run, "id" | "type" | "status">): Run => ({
  workspaceId,
  sourceId: "src_0000000000000001",
  sourceSnapshotId: "snap_0000000000000001",
  resolvedCommit: commit(40),
  commitDescription,
  requiresApproval: fields.type === "plan" || fields.type === "destroy_plan",
  createdBy: me,
  trigger: "user",
  attempt: 1,
  tool: { name: "opentofu", version: "1.12.3" },
  isolation: "bubblewrap",
  network: "isolated",
  createdAt: ago(5),
  queuedAt: ago(5),
  ...fields
})

const summary = { add: 2, change: 6, destroy: 1, replace: 1, import: 1, forget: 0 }

const evidence = {
  providerResolutions: [
    {
      provider: aws,
      moduleLocalName: "aws",
      status: "resolved_provider_connection" as const,
      connectionId: "conn_0000000000000001",
      envNames: ["AWS_ACCESS_KEY_ID"]
    }
  ],
  providerLockDigest: digest(33)
}

export const reviewRun = "run_0000000000000001"

export const applyRun = "run_0000000000000002"

export const failedRun = "run_0000000000000003"

export const queuedRun = "run_0000000000000004"

export const approvedRun = "run_0000000000000005"

export const safeRun = "run_0000000000000006"

export const driftRun = "run_0000000000000007"

export const destroyRun = "run_0000000000000008"

export const syncRun = "run_0000000000000009"

export const doneRun = "run_0000000000000010"

export const runs: ReadonlyArray<Run> = [
  baseRun({
    id: reviewRun,
    type: "plan",
    status: "waiting_approval",
    capsuleId: storefrontId,
    planDigest: digest(11),
    planSummary: summary,
    resourceChanges: planChanges,
    outputChanges: [
      {
        name: "url",
        actions: ["update"],
        before: "https://shop.acme.example/",
        after: "https://green.shop.acme.example/",
        sensitive: false
      },
      { name: "dsn", actions: ["create"], sensitive: true, reason: "holds_secret", origins: ["var.db.password"] }
    ],
    baseStateGeneration: 3,
    executionAuthorityEpoch: 1,
    createdBy: aiko,
    startedAt: ago(4.9),
    expiresAt: new Date(Date.now() + 6.5 * 86_400_000).toISOString(),
    ...evidence
  }),
  baseRun({
    id: applyRun,
    type: "apply",
    status: "running",
    capsuleId: "cap_0000000000000005",
    planRunId: safeRun,
    approvedBy: me,
    startedAt: ago(0.6),
    createdAt: ago(0.7),
    queuedAt: ago(0.7),
    ...evidence
  }),
  baseRun({
    id: failedRun,
    type: "apply",
    status: "failed",
    capsuleId: "cap_0000000000000003",
    planRunId: approvedRun,
    createdBy: bruno,
    createdAt: ago(56),
    queuedAt: ago(56),
    startedAt: ago(55.8),
    finishedAt: ago(53),
    error: { code: "apply_failed", message: "The tool ended with exit code 1 after 6 of 9 changes." },
    diagnostics: [
      {
        severity: "error",
        summary: "creating RDS DB Instance (billing): AccessDenied",
        detail:
          'User: arn:aws:iam::111122223333:user/deploy is not authorized to perform: rds:CreateDBInstance on resource: arn:aws:rds:ap-northeast-1:111122223333:db:billing\n\n  with module.db.aws_db_instance.main,\n  on postgres/main.tf line 14, in resource "aws_db_instance" "main"',
        address: "module.db.aws_db_instance.main",
        path: "postgres/main.tf",
        line: 14
      },
      {
        severity: "warning",
        summary: "Argument is deprecated",
        detail: "Use storage_encrypted instead.",
        path: "postgres/main.tf",
        line: 22
      }
    ],
    possiblyCreated: ["module.db.aws_db_parameter_group.main"],
    stateVersionId: "sv_0000000000000002",
    ...evidence
  }),
  baseRun({
    id: queuedRun,
    type: "plan",
    status: "queued",
    capsuleId: "cap_0000000000000002",
    trigger: "webhook",
    queue: {
      position: 2,
      pool: "runs",
      reason: "capsule_busy",
      heldByRunId: applyRun,
      message: `The Run ${applyRun} of the same Capsule goes first.`
    },
    createdAt: ago(2),
    queuedAt: ago(2)
  }),
  baseRun({
    id: approvedRun,
    type: "plan",
    status: "succeeded",
    capsuleId: storefrontId,
    planDigest: digest(12),
    planSummary: { add: 2, change: 0, destroy: 0, replace: 0, import: 0, forget: 0 },
    resourceChanges: planChanges.slice(4, 6),
    outputChanges: [
      { name: "bucket", actions: ["create"], after: "acme-shop-assets-production", sensitive: false },
      {
        name: "url",
        actions: ["update"],
        before: "https://old.acme.example/",
        after: "https://shop.acme.example/",
        sensitive: false
      },
      { name: "admin_password", actions: ["create"], sensitive: true }
    ],
    approvedBy: me,
    approvedAt: ago(90),
    approvalComment: "Window confirmed with the data team.",
    createdAt: ago(100),
    queuedAt: ago(100),
    startedAt: ago(99),
    finishedAt: ago(90),
    resolvedCommit: commit(39)
  }),
  baseRun({
    id: doneRun,
    type: "apply",
    status: "succeeded",
    capsuleId: storefrontId,
    planRunId: approvedRun,
    approvedBy: me,
    baseStateGeneration: 2,
    stateVersionId: "sv_0000000000000003",
    createdAt: ago(90),
    queuedAt: ago(90),
    startedAt: ago(90),
    finishedAt: ago(87.5),
    ...evidence
  }),
  baseRun({
    id: safeRun,
    type: "plan",
    status: "waiting_approval",
    capsuleId: "cap_0000000000000005",
    planDigest: digest(13),
    planSummary: { add: 2, change: 0, destroy: 0, replace: 0, import: 0, forget: 0 },
    resourceChanges: planChanges.slice(4, 6),
    createdAt: ago(20),
    queuedAt: ago(20),
    startedAt: ago(19.8)
  }),
  baseRun({
    id: driftRun,
    type: "drift_check",
    status: "succeeded",
    capsuleId: "cap_0000000000000004",
    drifted: true,
    driftedResources: 1,
    trigger: "schedule",
    resourceDrift: [
      change(
        "aws_security_group.office",
        ["update"],
        [
          { name: "description", before: "office", after: "office (temporary)" },
          { name: "ingress", before: [], after: ["0.0.0.0/0"] }
        ]
      )
    ],
    createdAt: ago(34),
    queuedAt: ago(34),
    startedAt: ago(33.9),
    finishedAt: ago(33)
  }),
  baseRun({
    id: destroyRun,
    type: "destroy_plan",
    status: "superseded",
    capsuleId: "cap_0000000000000006",
    planDigest: digest(14),
    planSummary: { add: 0, change: 0, destroy: 3, replace: 0, import: 0, forget: 0 },
    resourceChanges: [],
    createdAt: ago(5000),
    queuedAt: ago(5000),
    startedAt: ago(4999),
    finishedAt: ago(4998)
  }),
  baseRun({
    id: syncRun,
    type: "source_sync",
    status: "succeeded",
    trigger: "webhook",
    createdAt: ago(12.2),
    queuedAt: ago(12.2),
    startedAt: ago(12.1),
    finishedAt: ago(12)
  })
].map((run) => (run.trigger === "user" ? run : without(run, "createdBy")))
