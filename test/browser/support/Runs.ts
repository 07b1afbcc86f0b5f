import type { LogEntry, ResourceChange, Run, RunEvent } from "../../../src/dashboard/api/Types.ts"
import { ago, aiko, baseRun, bruno, commit, digest, me, storefrontId, without } from "./Records.ts"

const aws = "registry.opentofu.org/hashicorp/aws"

const change = (
  address: string,
  actions: ReadonlyArray<string>,
  attributes: ResourceChange["changedAttributes"],
  reason?: string
): ResourceChange => {
  const [type = "", name = ""] = address.replace(/^module\.[^.]+\./, "").split(".")
  return {
    address,
    mode: "managed",
    type,
    name,
    provider: aws,
    actions,
    changedAttributes: attributes,
    ...(reason === undefined ? {} : { reason })
  }
}

export const planChanges: ReadonlyArray<ResourceChange> = [
  change(
    "aws_cloudwatch_log_group.legacy",
    ["delete"],
    [
      { name: "name", before: "/acme/storefront/legacy" },
      { name: "retention_in_days", before: 30 }
    ],
    "delete_because_no_resource_config"
  ),
  change(
    "module.data.aws_db_instance.main",
    ["delete", "create"],
    [
      { name: "engine_version", before: "15.8", after: "16.4" },
      { name: "identifier", before: "acme-shop", after: "acme-shop-16" },
      { name: "password", sensitive: true, before: null, after: null },
      { name: "endpoint", before: "acme-shop.c3xk.ap-northeast-1.rds.amazonaws.com", unknown: true }
    ],
    "replace_because_cannot_update"
  ),
  change(
    "aws_iam_policy.deploy",
    ["update"],
    [
      {
        name: "policy",
        before: '{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["s3:GetObject"],"Resource":"*"}]}',
        after:
          '{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["s3:GetObject","s3:PutObject"],"Resource":"*"}]}'
      }
    ]
  ),
  change(
    'module.network.aws_security_group_rule.ingress["office"]',
    ["update"],
    [{ name: "cidr_blocks", before: ["198.51.100.0/24"], after: ["198.51.100.0/24", "203.0.113.0/24"] }]
  ),
  change(
    "aws_lb_target_group.green",
    ["create"],
    [
      { name: "name", after: "shop-green" },
      { name: "port", after: 8080 },
      { name: "arn", unknown: true }
    ]
  ),
  change(
    "aws_lb_listener_rule.green",
    ["create"],
    [
      { name: "priority", after: 20 },
      { name: "id", unknown: true }
    ]
  ),
  change(
    "aws_s3_bucket.assets",
    ["update"],
    [
      { name: "tags.revision", before: "a1b2", after: "c3d4" },
      { name: "tags_all", unknown: true }
    ]
  ),
  change("aws_ecs_service.web", ["update"], [{ name: "tags.revision", before: "a1b2", after: "c3d4" }])
]

const summary = { add: 2, change: 4, destroy: 1, replace: 1, import: 0, forget: 0 }

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
      }
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
    queue: { position: 1, heldByRunId: applyRun },
    createdAt: ago(2),
    queuedAt: ago(2)
  }),
  baseRun({
    id: approvedRun,
    type: "plan",
    status: "succeeded",
    capsuleId: storefrontId,
    planDigest: digest(12),
    planSummary: { add: 1, change: 1, destroy: 0, replace: 0, import: 0, forget: 0 },
    resourceChanges: planChanges.slice(4, 5),
    approvedBy: me,
    approvedAt: ago(90),
    createdAt: ago(100),
    queuedAt: ago(100),
    startedAt: ago(99),
    finishedAt: ago(90),
    resolvedCommit: commit(39)
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
    resourceChanges: [],
    planSummary: { add: 0, change: 1, destroy: 0, replace: 0, import: 0, forget: 0 },
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

const phasesOf = (run: Run): ReadonlyArray<string> => {
  if (run.type === "source_sync") return ["prepare", "fetch"]
  if (run.type === "apply" || run.type === "destroy_apply")
    return ["prepare", "init", "apply", ...(run.status === "succeeded" ? ["state"] : [])]
  return ["prepare", "fetch", "init", "plan", "show"]
}

export const eventsOf = (run: Run): ReadonlyArray<RunEvent> => {
  const begin = Date.parse(run.startedAt ?? run.queuedAt)
  const events: Array<Omit<RunEvent, "seq">> = [{ at: run.queuedAt, kind: "run.queued", data: {} }]
  if (run.startedAt !== undefined) {
    events.push({ at: run.startedAt, kind: "run.started", data: {} })
    for (const [index, phase] of phasesOf(run).entries())
      events.push({ at: new Date(begin + index * 1700).toISOString(), kind: "run.phase", data: { phase } })
    if (run.type === "apply") {
      for (const [index, item] of planChanges.slice(4, 6).entries()) {
        const at = begin + 6000 + index * 4000
        events.push({
          at: new Date(at).toISOString(),
          kind: "resource.started",
          data: { address: item.address, action: "create" }
        })
        if (index === 0)
          events.push({
            at: new Date(at + 3100).toISOString(),
            kind: "resource.completed",
            data: { address: item.address, action: "create" }
          })
        else if (run.status === "failed")
          events.push({
            at: new Date(at + 5100).toISOString(),
            kind: "resource.failed",
            data: { address: item.address, action: "create" }
          })
      }
    }
  }
  if (run.status === "waiting_approval" || run.approvedAt !== undefined)
    events.push({ at: new Date(begin + 9000).toISOString(), kind: "run.waiting_approval", data: {} })
  if (run.status === "succeeded" || run.status === "failed")
    events.push({ at: run.finishedAt ?? run.createdAt, kind: `run.${run.status}`, data: {} })
  return events.map((event, index) => ({ ...event, seq: index + 1 }))
}

const esc = "\u001b"
const planLog = [
  `${esc}[0m${esc}[1mInitializing the backend...${esc}[0m`,
  `${esc}[0m${esc}[1mInitializing provider plugins...${esc}[0m`,
  "- Reusing previous version of hashicorp/aws from the dependency lock file",
  "- Using previously-installed hashicorp/aws v5.82.2",
  "",
  `${esc}[0m${esc}[1m${esc}[32mOpenTofu has been successfully initialized!${esc}[0m`,
  "",
  `${esc}[0m${esc}[1mmodule.data.aws_db_instance.main: Refreshing state... [id=acme-shop]${esc}[0m`,
  `${esc}[0m${esc}[1maws_s3_bucket.assets: Refreshing state... [id=acme-shop-assets-production]${esc}[0m`,
  "",
  "OpenTofu used the selected providers to generate the following execution plan.",
  `  ${esc}[32m+${esc}[0m create   ${esc}[33m~${esc}[0m update in-place   ${esc}[31m-${esc}[0m destroy   ${esc}[31m-${esc}[0m/${esc}[32m+${esc}[0m replace`,
  "",
  `${esc}[1m  # aws_cloudwatch_log_group.legacy${esc}[0m will be ${esc}[1m${esc}[31mdestroyed${esc}[0m`,
  `${esc}[0m  ${esc}[31m-${esc}[0m resource "aws_cloudwatch_log_group" "legacy" {`,
  `      ${esc}[31m-${esc}[0m name = "/acme/storefront/legacy" -> null`,
  "    }",
  `${esc}[1mPlan:${esc}[0m 3 to add, 4 to change, 2 to destroy.`
]

export const logOf = (run: Run): ReadonlyArray<LogEntry> => {
  const begin = Date.parse(run.startedAt ?? run.queuedAt)
  if (run.startedAt === undefined) return []
  const lines: ReadonlyArray<readonly [LogEntry["stream"], string]> = [
    ["system", `Snapshot ${run.sourceSnapshotId ?? ""} unpacked, sandbox ready.`],
    ...planLog.map((line) => ["stdout", line] as const),
    ...(run.status === "failed"
      ? [
          ["stderr", `${esc}[31m╷${esc}[0m`] as const,
          [
            "stderr",
            `${esc}[31m│${esc}[0m ${esc}[1m${esc}[31mError: ${esc}[0mcreating RDS DB Instance (billing): AccessDenied`
          ] as const
        ]
      : [])
  ]
  return lines.map(([stream, line], index) => ({
    seq: index + 1,
    at: new Date(begin + index * 240).toISOString(),
    phase: "plan",
    stream,
    text: line
  }))
}
