import type { FailingLane } from "../../../actors/source/SourceLanes.ts"
import type { AttentionItem } from "../../../schema/api/DashboardApi.ts"
import type { Capsule } from "../../../schema/records/Capsule.ts"
import type { Connection } from "../../../schema/records/Connection.ts"
import type { AutomationPause } from "../../../schema/records/Workspace.ts"
import type { LatestRun, Run } from "../../../schema/records/Run.ts"

type Item = typeof AttentionItem.Type

const ofExpiring = (connection: Connection): Item => ({
  kind: connection.status === "expired" ? "connection_expired" : "connection_expiring",
  connectionId: connection.id,
  connectionName: connection.displayName,
  since: connection.expiresAt ?? connection.updatedAt
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

/** What was begun and is not over: plans that were approved and not applied, and updates of the Workspace. */
export interface Unfinished {
  readonly approvedPlans: ReadonlyArray<LatestRun>
  readonly updates: ReadonlyArray<{ readonly id: string; readonly createdAt: string }>
}

/**
 * What a person has to look at: plans that wait for approval first, then what keeps Sources from being read and Runs from their tokens, what is broken,
 * what is behind, and what is about to expire. `names` are those
 * of the Capsules that the plans are for.
 */
export const attentionOf = (
  inNeed: ReadonlyArray<Capsule>,
  waiting: ReadonlyArray<Run>,
  names: ReadonlyMap<string, string>,
  unconfirmed: ReadonlyArray<Connection> = [],
  expiring: ReadonlyArray<Connection> = [],
  failing: ReadonlyArray<Connection> = [],
  lanes: ReadonlyArray<FailingLane> = [],
  pause: AutomationPause | undefined = undefined,
  unfinished: Unfinished = { approvedPlans: [], updates: [] }
): ReadonlyArray<Item> => {
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
  const approved = unfinished.approvedPlans.map((run): Item => {
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
  const updates = unfinished.updates.map(
    ({ createdAt, id }): Item => ({ kind: "update_open", runGroupId: id, since: createdAt })
  )
  // Its plan is there already: what is next is to apply or to withdraw that one.
  const isPlanned = new Set(approved.map(({ capsuleId }) => capsuleId))
  const order: ReadonlyArray<Item["kind"]> = ["unknown_safety", "failed", "waiting_credential", "drifted", "stale"]
  const troubles = inNeed
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
    ...order.flatMap((kind) => troubles.filter((item) => item.kind === kind)),
    ...expiring.map(ofExpiring)
  ]
}
