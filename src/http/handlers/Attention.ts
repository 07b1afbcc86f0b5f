import type { CapsuleWithOrphanedState } from "../../../actors/commands/attention/AttentionRows.ts"
import type { StuckWork } from "../../../actors/base/DueWork.ts"
import type { FailingLane } from "../../../actors/ledger/source/SourceLanes.ts"
import type { AttentionSummary } from "../../../schema/api/DashboardApi.ts"
import type { Capsule } from "../../../schema/records/Capsule.ts"
import type { Connection } from "../../../schema/records/Connection.ts"
import type { AutomationPause } from "../../../schema/records/Workspace.ts"
import type { LatestRun, ListedRun } from "../../../schema/records/Run.ts"

type Item = typeof AttentionSummary.Type

const ofExpiring = (connection: Connection): Item => ({
  kind: connection.status === "expired" ? "connection_expired" : "connection_expiring",
  connectionId: connection.id,
  connectionName: connection.displayName,
  since: connection.expiresAt ?? connection.updatedAt
})

const ofOrphanedState = ({ at, id, name, run_id }: CapsuleWithOrphanedState): Item => ({
  kind: "uncertain_ground",
  capsuleId: id,
  capsuleName: name,
  runId: run_id,
  since: at
})

const ofCapsule = (capsule: Capsule): ReadonlyArray<Item> => {
  const about = { capsuleId: capsule.id, capsuleName: capsule.name, since: capsule.updatedAt }
  const items: Array<Item> = []
  if (capsule.runtimeSafety === "unknown") items.push({ kind: "unknown_safety", ...about })
  if (capsule.status === "error") items.push({ kind: "failed", ...about })
  const wait = capsule.waitsForCredential
  if (wait !== undefined) {
    const { connectionId, next, reason, runId, since, turn } = wait
    items.push({
      kind: "waiting_credential",
      ...about,
      since,
      runId,
      turn,
      next,
      reason,
      ...(connectionId === undefined ? {} : { connectionId })
    })
  }
  if (capsule.driftStatus === "drifted") {
    items.push({ kind: "drifted", ...about, since: capsule.driftCheckedAt ?? capsule.updatedAt })
  }
  if (capsule.status === "stale") items.push({ kind: "stale", ...about, staleReasons: capsule.staleReasons })
  return items
}

const ofUnconfirmed = (connection: Connection): Item => ({
  kind: "origins_unconfirmed",
  connectionId: connection.id,
  connectionName: connection.displayName,
  since: connection.updatedAt
})

const ofFailing = (connection: Connection): ReadonlyArray<Item> => {
  const fault = connection.oauth?.fault
  if (fault === undefined) return []
  return [
    {
      kind: fault.code === "revocation_failed" ? "connection_unrevoked" : "connection_unrenewed",
      connectionId: connection.id,
      connectionName: connection.displayName,
      reason: fault.message,
      since: fault.at
    }
  ]
}

const ofLane = ({ ref, since, sourceId, sourceName }: FailingLane): Item => ({
  kind: "lane_failed",
  sourceId,
  sourceName,
  ref,
  since
})

/** The Workspace's records to check. A list that is omitted counts as empty. */
export interface Attention {
  readonly needingAttention?: ReadonlyArray<Capsule>
  /** Plans waiting for approval. */
  readonly waiting?: ReadonlyArray<ListedRun>
  /** Names of the plans' Capsules. */
  readonly names?: ReadonlyMap<string, string>
  /** Connections with unconfirmed origins. */
  readonly unconfirmed?: ReadonlyArray<Connection>
  readonly expiring?: ReadonlyArray<Connection>
  /** Connections whose renewal or revocation failed at the issuer. */
  readonly failing?: ReadonlyArray<Connection>
  readonly lanes?: ReadonlyArray<FailingLane>
  /** Work that has failed repeatedly. */
  readonly stuck?: ReadonlyArray<StuckWork>
  readonly pause?: AutomationPause | undefined
  /** Approved plans that have not been applied. */
  readonly approvedPlans?: ReadonlyArray<LatestRun>
  /** Capsules with an orphaned state that nobody has adopted or discarded yet. */
  readonly leftOvers?: ReadonlyArray<CapsuleWithOrphanedState>
  /** Unfinished updates of the Workspace's Capsules. */
  readonly updates?: ReadonlyArray<{ readonly id: string; readonly createdAt: string }>
}

/**
 * Lists everything that needs a person's attention. Plans waiting for approval come first, then problems that prevent svc from
 * reading Sources or getting tokens for Runs, then broken, outdated and expiring records.
 */
export const attentionOf = ({
  approvedPlans = [],
  expiring = [],
  failing = [],
  needingAttention = [],
  lanes = [],
  leftOvers = [],
  names = new Map(),
  pause,
  stuck = [],
  unconfirmed = [],
  updates: openUpdates = [],
  waiting = []
}: Attention): ReadonlyArray<Item> => {
  const approvals = waiting.map((run): Item => {
    const name = names.get(run.capsuleId ?? "")
    return {
      kind: "waiting_approval",
      runId: run.id,
      runType: run.type,
      since: run.finishedAt ?? run.createdAt,
      ...(run.capsuleId === undefined ? {} : { capsuleId: run.capsuleId }),
      ...(name === undefined ? {} : { capsuleName: name })
    }
  })
  const approved = approvedPlans.map((run): Item => {
    const name = names.get(run.capsuleId)
    return {
      kind: "approved",
      runId: run.runId,
      runType: run.type,
      capsuleId: run.capsuleId,
      since: run.approvedAt ?? run.createdAt,
      ...(name === undefined ? {} : { capsuleName: name })
    }
  })
  const updates = openUpdates.map(
    ({ createdAt, id }): Item => ({ kind: "update_open", runGroupId: id, since: createdAt })
  )
  // Capsules with an approved plan. These Capsules do not need a new plan, because the existing plan has to be applied or
  // withdrawn first.
  const isPlanned = new Set(approved.map(({ capsuleId }) => capsuleId))
  const order: ReadonlyArray<Item["kind"]> = ["unknown_safety", "failed", "waiting_credential", "drifted", "stale"]
  const troubles = needingAttention
    .flatMap(ofCapsule)
    .filter(({ capsuleId, kind }) => kind !== "stale" || !isPlanned.has(capsuleId))
  return [
    ...approvals,
    ...approved,
    ...updates,
    ...(pause === undefined ? [] : [{ kind: "automation_paused" as const, since: pause.at }]),
    ...unconfirmed.map(ofUnconfirmed),
    ...failing.flatMap(ofFailing),
    ...lanes.map(ofLane),
    ...stuck.map(
      ({ kind, record_id, since }): Item => ({ kind: "work_stuck", work: kind, recordId: record_id, since })
    ),
    ...leftOvers.map(ofOrphanedState),
    ...order.flatMap((kind) => troubles.filter((item) => item.kind === kind)),
    ...expiring.map(ofExpiring)
  ]
}
