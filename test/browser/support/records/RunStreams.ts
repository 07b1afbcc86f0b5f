import type { LogEntry, Run, RunEvent } from "../../../../src/dashboard/api/Types.ts"
import { planChanges } from "./PlanChanges.ts"

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
        if (index === 0 || run.status === "succeeded")
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
