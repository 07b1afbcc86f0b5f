import type { StateUpload } from "../../../../src/dashboard/api/Types.ts"
import { storefrontId, unconfirmedImport } from "../records/Capsules.ts"
import { approvalRules, teams } from "../records/Approvals.ts"
import { noticeDeliveries, noticeEndpoints } from "../records/Notices.ts"
import { healthOf } from "../records/AttentionItems.ts"
import { automationTokens, departure, invitations, me, members } from "../records/People.ts"
import { waitingUpdate } from "../records/RunGroups.ts"
import { ago, commit, digest, newId } from "../records/Seeds.ts"
import { workspaceId, workspaces } from "../records/Workspaces.ts"
import { type Answer, type Asked, field, missing, ok, textField } from "./Answer.ts"
import { pullRequestList } from "./PullRequestRoutes.ts"
import { runFacetCounts, runList } from "./RunListRoutes.ts"
import { type World, addRun } from "./World.ts"

export const overview = (world: World): Answer => {
  const capsules = world.empty ? [] : world.capsules
  return ok({
    workspace: workspaces[0],
    capsules,
    attention: [],
    recentRuns: world.empty ? [] : world.runs,
    activity: world.empty ? [] : world.activity
  })
}

const needsPage = 6

export const needsRoute = (world: World, query: URLSearchParams): Answer => {
  const needs = world.empty ? [] : world.needs
  const from = Number(query.get("cursor") ?? 0)
  const counts = { failed: 0, decision: 0, blocked: 0, drifted: 0, update: 0, expiring: 0 }
  const forOthers = { ...counts }
  for (const { group, waitsForOthers } of needs) {
    counts[group] += 1
    if (waitsForOthers === true) forOthers[group] += 1
  }
  return ok({
    needs: needs.slice(from, from + needsPage),
    total: needs.length,
    counts,
    forOthers,
    health: world.empty ? healthOf(0) : world.health,
    ...(from + needsPage < needs.length ? { nextCursor: String(from + needsPage) } : {})
  })
}

const backupRoute = (world: World, method: string): Answer => {
  if (method === "GET") return ok({ backups: world.backups })
  const made = {
    id: newId("bkp"),
    workspaceId,
    digest: digest(99),
    sizeBytes: 21_000,
    createdByRunId: "run_0000000000000005",
    createdAt: new Date().toISOString()
  }
  world.backups.unshift(made)
  return ok({ backup: made }, 201)
}

export const installPlan = (phase: string, nextAction: string, planRunId: string) => ({
  id: `ipl_${planRunId}`,
  workspaceId,
  phase,
  nextAction,
  planRunId,
  diagnostics: [],
  createdAt: new Date().toISOString(),
  updatedAt: new Date().toISOString()
})

const importedUpload = "sup_0000000000000002"

const noticeRoute = (rest: string, { method }: Asked): Answer => {
  const [, endpointId = "", part, , replay] = rest.split("/")
  const endpoint = noticeEndpoints.find(({ id }) => id === endpointId) ?? noticeEndpoints[0]
  const secret = "whsec_shown-once"
  if (part === "secret") return ok({ endpoint, secret }, 201)
  if (part === "test" || replay === "replay") return ok({ delivery: noticeDeliveries[0] }, 201)
  if (part === "deliveries") return ok({ deliveries: noticeDeliveries })
  if (endpointId === "") return method === "GET" ? ok({ endpoints: noticeEndpoints }) : ok({ endpoint, secret }, 201)
  return ok({ endpoint })
}

export const workspaceRoute = (world: World, rest: string, asked: Asked): Answer => {
  if (rest === "agent-pools") return ok({ agentPools: world.empty ? [] : world.pools })
  if (rest === "agents") return ok({ agents: world.agents.filter(({ pool }) => pool === asked.query.get("pool")) })
  if (rest === "backups") return backupRoute(world, asked.method)
  if (rest === "automation") {
    const reason = textField(asked.body, "reason")
    world.automationPause =
      field(asked.body, "paused") === true
        ? { at: new Date().toISOString(), by: me, ...(reason === undefined ? {} : { reason }) }
        : undefined
    return ok({ workspace: workspaces[0] })
  }
  if (rest === "source-ref-resolutions/stable-semver")
    return ok({ tag: "v2.4.1", commit: commit(41), version: "2.4.1" })
  if (rest === "capsules") return ok({ capsules: world.empty ? [] : world.capsules })
  if (rest === "runs") return runList(world, asked.query)
  if (rest === "pull-requests") return pullRequestList(world, asked.query)
  if (rest === "run-facets") return runFacetCounts(world, asked.query)
  if (rest === "members") return ok({ members })
  if (rest === "teams") return ok(asked.method === "GET" ? { teams } : { team: teams[0] })
  if (rest.startsWith("notice-endpoints")) return noticeRoute(rest, asked)
  if (rest === "approval-rules")
    return ok(asked.method === "GET" ? { approvalRules } : { approvalRule: approvalRules[0] })
  if (rest.endsWith("/departure")) return ok({ departure })
  if (rest.endsWith("/tokens")) {
    return asked.method === "GET"
      ? ok({ tokens: automationTokens })
      : ok({ token: "svcp_shown-once", tokenRecord: automationTokens[0] }, 201)
  }
  if (rest === "invitations")
    return asked.method === "GET"
      ? ok({ invitations })
      : ok({ invitation: invitations[0], link: "https://svc.example/join#svci_shown-once" }, 201)
  if (rest === "projects") return ok({ projects: [] })
  if (rest === "activity") {
    const wanted = (name: string, value: string | undefined) => (asked.query.get(name) ?? value) === value
    const events = world.activity.filter(
      ({ action, actor, runId, target }) =>
        wanted("action", action) &&
        wanted("actor", actor.subject) &&
        wanted("runId", runId) &&
        wanted("capsuleId", target.id)
    )
    return ok({ events: world.empty ? [] : events })
  }
  if (rest === "graph") return ok(world.empty ? { nodes: [], edges: [] } : world.graph)
  if (rest === "plan-update" || rest === "drift-check")
    return ok({ runGroup: waitingUpdate, runs: [], skipped: [] }, 201)
  if (rest === "state-uploads" || rest === "backup-uploads") {
    const stateUpload: StateUpload = {
      id: rest === "state-uploads" ? "sup_0000000000000001" : importedUpload,
      workspaceId,
      sha256: "5".repeat(64),
      sizeBytes: 2048,
      lineage: "3f0a",
      serial: 7,
      resourceCount: 3,
      toolVersion: "1.9.5",
      createdAt: ago(0),
      expiresAt: ago(-60),
      ...(rest === "state-uploads" ? {} : { importedFrom: unconfirmedImport.import.from })
    }
    return ok({ replayed: false, stateUpload }, 201)
  }
  if (rest === "install-plans" && textField(field(asked.body, "adopt"), "uploadId") === importedUpload) {
    world.capsules = world.capsules.map((each) => (each.id === storefrontId ? { ...each, ...unconfirmedImport } : each))
    const { planRunId: _none, ...plan } = installPlan("reviewable", "none", "import")
    return ok({ replayed: false, installPlan: { ...plan, capsuleId: storefrontId } }, 201)
  }
  if (rest === "install-plans") {
    const run = addRun(world, { type: "plan", status: "queued", capsuleId: storefrontId })
    return ok({ replayed: false, installPlan: installPlan("planning", "reconcile", run.id) }, 201)
  }
  return missing
}
