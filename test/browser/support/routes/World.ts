import type { OptionalFamily } from "../../../../schema/api/ExtensionFamily.ts"
import { agents, pools } from "../records/Agents.ts"
import type {
  Agent,
  WorkspacePool,
  AuditEvent,
  AutoUpdateDecision,
  Capsule,
  CapsuleHealth,
  Graph,
  InstallConfig,
  OrphanedState,
  AttentionItem,
  Run,
  RunApprovals,
  ChangeApproval,
  PullRequest,
  RunComment,
  Source,
  StateResource,
  Workspace
} from "../../../../src/dashboard/api/Types.ts"
import { activity } from "../records/Activity.ts"
import { unruled } from "../records/Approvals.ts"
import { backups, capsules, outputs } from "../records/Capsules.ts"
import { connections } from "../records/Connections.ts"
import { graph } from "../records/Graph.ts"
import { installConfig, report } from "../records/InstallConfigs.ts"
import { health, needs } from "../records/AttentionItems.ts"
import { baseRun, failedRun, runs } from "../records/Runs.ts"
import { changeApprovals } from "../records/ChangeApprovals.ts"
import { pullRequests } from "../records/PullRequests.ts"
import { comments } from "../records/Comments.ts"
import { newId } from "../records/Seeds.ts"
import type { CostEstimate } from "../../../../schema/records/CostEstimate.ts"
import { dependencies, outputShares } from "../records/Sharing.ts"
import { resources } from "../records/StateResources.ts"
import { optionsDocument, sources } from "../records/Sources.ts"
import { workspaceId } from "../records/Workspaces.ts"
import { keptState } from "./OrphanedStateRoutes.ts"

/** The state of a development server, which tests change directly. */
export interface World {
  /** The cost estimate of every plan. */
  cost: Omit<CostEstimate, "runId">
  signedIn: boolean
  secondFactor: boolean
  capsules: Array<Capsule>
  runs: Array<Run>
  changeApprovals: Array<ChangeApproval>
  pullRequests: ReadonlyArray<PullRequest>
  comments: Array<RunComment>
  sources: Array<Source>
  /** Sources that were removed because their first read failed, so no list contains them. */
  removedSources: Array<Source>
  resources: ReadonlyArray<StateResource>
  pools: ReadonlyArray<WorkspacePool>
  agents: ReadonlyArray<Agent>
  outputs: Array<(typeof outputs)[number]>
  connections: Array<(typeof connections)[number]>
  presentation: unknown
  readyMade: ReadonlyArray<InstallConfig>
  dependencies: Array<(typeof dependencies)[number]>
  shares: Array<(typeof outputShares)[number]>
  backups: Array<(typeof backups)[number]>
  optionsDocument: string
  report: typeof report
  automationPause: Workspace["automationPause"]
  decisions: ReadonlyArray<AutoUpdateDecision>
  leftOvers: Array<OrphanedState>
  approvals: (run: Run) => RunApprovals
  needs: ReadonlyArray<AttentionItem>
  health: CapsuleHealth
  graph: Graph
  activity: ReadonlyArray<AuditEvent>
  empty: boolean
  familiesOff: ReadonlyArray<OptionalFamily>
}

export const newWorld = (): World => ({
  cost: { status: "not_available", items: [], reasons: ["The operator of this server has given no price table."] },
  signedIn: true,
  secondFactor: false,
  capsules: [...capsules],
  runs: [...runs],
  changeApprovals: [...changeApprovals],
  pullRequests,
  comments: [...comments],
  sources: [...sources],
  removedSources: [],
  pools,
  agents,
  resources,
  outputs: [...outputs],
  connections: [...connections],
  presentation: installConfig.presentation,
  readyMade: [],
  dependencies: [...dependencies],
  shares: [...outputShares],
  backups: [...backups],
  optionsDocument,
  report,
  automationPause: undefined,
  decisions: [],
  leftOvers: [keptState({ workspaceId, capsuleId: "cap_0000000000000003", runId: failedRun })],
  approvals: unruled,
  needs,
  health,
  graph,
  activity,
  empty: false,
  familiesOff: []
})

export const replaceRun = (world: World, id: string, change: Partial<Run>): Run | undefined => {
  const index = world.runs.findIndex((run) => run.id === id)
  const run = world.runs[index]
  if (run === undefined) return undefined
  const next = { ...run, ...change }
  world.runs[index] = next
  return next
}

export const addRun = (world: World, fields: Partial<Run> & Pick<Run, "type" | "status">): Run => {
  const run = baseRun({
    ...fields,
    id: newId("run"),
    createdAt: new Date().toISOString(),
    queuedAt: new Date().toISOString()
  })
  world.runs.unshift(run)
  return run
}
