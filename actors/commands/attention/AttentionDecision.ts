import type { CapsuleId, RunId, SourceSnapshotId } from "../../../schema/records/Ids.ts"
import type {
  CapsuleHealth,
  AttentionItem,
  AttentionGroup,
  AttentionKind
} from "../../../schema/records/AttentionItem.ts"
import { attentionKinds } from "../../../schema/records/AttentionOrder.ts"
import { CredentialWaitJson } from "../../ledger/capsule/CredentialWait.ts"
import { StaleReasonsJson } from "../../ledger/capsule/CapsuleRow.ts"
import { type OpenUpdate, mostCapsules, type PlanRow, type SnapshotCommit, type StandingRow } from "./AttentionRows.ts"

/** An entry whose Run and commit have not been read. They are read only for the entries on the requested page. */
export interface OpenItem extends Omit<AttentionItem, "run" | "commit"> {
  readonly runId?: RunId
  /** The newer commit that has not been planned. */
  readonly newer?: SnapshotCommit
}

type Reason = Omit<OpenItem, "key" | "group" | "also" | "capsules">

export const groupOf: Readonly<Record<AttentionKind, AttentionGroup>> = {
  unknown_safety: "failed",
  failed: "failed",
  uncertain_ground: "failed",
  waiting_approval: "decision",
  approved: "decision",
  waiting_change: "decision",
  waiting_credential: "blocked",
  check_failed: "blocked",
  update_held: "blocked",
  lane_failed: "blocked",
  work_stuck: "blocked",
  origins_unconfirmed: "blocked",
  connection_expired: "blocked",
  connection_unrenewed: "blocked",
  connection_unrevoked: "blocked",
  notices_stopped: "blocked",
  automation_paused: "blocked",
  drifted: "drifted",
  stale: "update",
  update_open: "update",
  connection_expiring: "expiring"
}

const rank = new Map<AttentionKind, number>(attentionKinds.map((kind, index) => [kind, index]))
const rankOf = (kind: AttentionKind): number => rank.get(kind) ?? attentionKinds.length

/**
 * Returns the sort key of an entry. Entries that the person can act on come first, then the most urgent kinds, then the
 * newest entries.
 */
export const placeOf = ({
  key,
  kind,
  since,
  waitsForOthers = false
}: Pick<OpenItem, "key" | "kind" | "since" | "waitsForOthers">) =>
  [`${waitsForOthers ? 1 : 0}${String(rankOf(kind)).padStart(2, "0")}`, since, key] as const

type Place = readonly [rank: string, since: string, key: string]

export const comparePlaces = ([rank, since, key]: Place, [otherRank, otherSince, otherKey]: Place): number => {
  if (rank !== otherRank) return rank < otherRank ? -1 : 1
  if (since !== otherSince) return since > otherSince ? -1 : 1
  return key === otherKey ? 0 : key < otherKey ? -1 : 1
}

const newestByCapsule = (plans: ReadonlyArray<PlanRow>): ReadonlyMap<CapsuleId, PlanRow> => {
  const found = new Map<CapsuleId, PlanRow>()
  for (const plan of plans) {
    const known = plan.capsule_id === null ? undefined : found.get(plan.capsule_id)
    if (plan.capsule_id !== null && (known === undefined || known.at < plan.at)) found.set(plan.capsule_id, plan)
  }
  return found
}

/** Returns the snapshot of the newer commit that makes a Capsule stale. */
export const newerSnapshot = (row: Pick<StandingRow, "status" | "stale_reasons">): SourceSnapshotId | undefined =>
  row.status === "stale"
    ? StaleReasonsJson.read(row.stale_reasons).find(({ kind }) => kind === "commit")?.sourceSnapshotId
    : undefined

export interface Records {
  readonly capsules: ReadonlyArray<StandingRow>
  readonly waiting: ReadonlyArray<PlanRow>
  readonly approved: ReadonlyArray<PlanRow>
  readonly updates: ReadonlyArray<OpenUpdate>
  readonly commits: ReadonlyMap<SourceSnapshotId, SnapshotCommit>
}

const failureOf = (row: StandingRow): Reason | undefined => {
  const run = row.run_id === null ? {} : { runId: row.run_id }
  const neverApplied = row.current_state_version_id === null ? { neverApplied: true } : {}
  if (row.runtime_safety === "unknown") return { kind: "unknown_safety", since: row.updated_at, ...run }
  if (row.run_status === "failed" && row.status !== "disabled") {
    const since = row.run_at ?? row.updated_at
    return row.run_type === "drift_check"
      ? { kind: "check_failed", since, ...run }
      : { kind: "failed", since, ...run, ...neverApplied }
  }
  return row.status === "error" ? { kind: "failed", since: row.updated_at, ...neverApplied } : undefined
}

/** Returns the reasons why this Capsule needs a person's attention. Omits a reason that another reason already explains. */
const reasonsOf = (
  row: StandingRow,
  facts: {
    readonly waiting: PlanRow | undefined
    readonly approved: PlanRow | undefined
    readonly isUpdating: boolean
    readonly newer: SnapshotCommit | undefined
  }
): ReadonlyArray<Reason> => {
  const reasons: Array<Reason> = []
  const wait = row.credential_wait === null ? undefined : CredentialWaitJson.read(row.credential_wait)
  const failure = failureOf(row)
  // Omits a failure that was caused by the missing credential.
  if (failure !== undefined && (wait === undefined || wait.runId !== failure.runId)) reasons.push(failure)
  if (row.left_over_at !== null) reasons.push({ kind: "uncertain_ground", since: row.left_over_at })
  if (facts.waiting !== undefined) {
    reasons.push({ kind: "waiting_approval", since: facts.waiting.at, runId: facts.waiting.id })
  }
  if (facts.approved !== undefined) {
    reasons.push({ kind: "approved", since: facts.approved.at, runId: facts.approved.id })
  }
  if (wait !== undefined) {
    const { connectionId, reason, runId, since, turn } = wait
    const bound = connectionId === undefined ? {} : { connectionId }
    reasons.push({ kind: "waiting_credential", since, runId, turn, reason, ...bound })
  }
  if (row.drift_status === "drifted") {
    const run = row.drift_run_id === null ? {} : { runId: row.drift_run_id }
    reasons.push({ kind: "drifted", since: row.drift_checked_at ?? row.updated_at, ...run })
  }
  // True if the Capsule already has a plan, or an update will create one.
  const isPlanned = facts.waiting !== undefined || facts.approved !== undefined || facts.isUpdating
  const { newer } = facts
  const staleReasons = row.status === "stale" ? StaleReasonsJson.read(row.stale_reasons) : []
  // If the Capsule was just rolled back from the newer commit, the list does not suggest applying that commit again, but it
  // does list commits that come later.
  const isLeft =
    newer !== undefined &&
    newer.resolved_commit === row.pinned_commit &&
    staleReasons.every(({ kind }) => kind === "commit")
  if (row.status === "stale" && !isPlanned && !isLeft) {
    reasons.push({
      kind: "stale",
      since: newer?.created_at ?? row.updated_at,
      staleReasons,
      ...(newer === undefined ? {} : { newer })
    })
  }
  return reasons.sort((a, b) => rankOf(a.kind) - rankOf(b.kind))
}

const named = ({ environment, id, name }: StandingRow): AttentionItem["capsules"][number] => ({ id, name, environment })

const counted = (
  row: StandingRow,
  worst: AttentionKind | undefined
): Exclude<keyof CapsuleHealth, "capsules" | "complete"> => {
  if (worst !== undefined) return groupOf[worst] === "failed" ? "failed" : "waiting"
  if (row.status === "disabled") return "disabled"
  if (row.status === "pending") return "notApplied"
  return row.drift_status === "none" ? "healthy" : "unchecked"
}

/** Merges entries of Capsules that are waiting for the same commit of a Source, because they are planned together. */
const withSharedCommits = (entries: ReadonlyArray<OpenItem>): ReadonlyArray<OpenItem> => {
  const byCommit = new Map<string, Array<OpenItem>>()
  const others: Array<OpenItem> = []
  for (const entry of entries) {
    if (entry.kind !== "stale" || entry.newer === undefined) others.push(entry)
    else {
      const key = `commit ${entry.newer.source_id} ${entry.newer.resolved_commit}`
      byCommit.set(key, [...(byCommit.get(key) ?? []), entry])
    }
  }
  const shared = [...byCommit].flatMap(([key, together]): ReadonlyArray<OpenItem> => {
    const [first] = together
    if (first === undefined || together.length === 1) return together
    const { staleReasons: _own, ...entry } = first
    const since = together.reduce((latest, each) => (each.since > latest ? each.since : latest), first.since)
    return [{ ...entry, key, since, capsules: together.flatMap(({ capsules }) => capsules) }]
  })
  return [...others, ...shared]
}

/**
 * Returns one entry for each Capsule that needs a person's attention, with the most urgent reason, and one entry for each
 * open update. Also returns the health of all Capsules in the Workspace.
 */
export const capsuleItems = (records: Records) => {
  const isComplete = records.capsules.length <= mostCapsules
  const rows = records.capsules.slice(0, mostCapsules)
  const waiting = newestByCapsule(records.waiting)
  const approved = newestByCapsule(records.approved)
  const updating = new Set(records.updates.flatMap(({ capsules }) => capsules))
  const health = { healthy: 0, unchecked: 0, waiting: 0, failed: 0, notApplied: 0, disabled: 0 }
  const entries = rows.flatMap((row): ReadonlyArray<OpenItem> => {
    const snapshot = newerSnapshot(row)
    const [worst, ...others] = reasonsOf(row, {
      waiting: waiting.get(row.id),
      approved: approved.get(row.id),
      isUpdating: updating.has(row.id),
      newer: snapshot === undefined ? undefined : records.commits.get(snapshot)
    })
    health[counted(row, worst?.kind)] += 1
    if (worst === undefined) return []
    const also = [...new Set(others.map(({ kind }) => kind))].filter((kind) => kind !== worst.kind)
    return [{ ...worst, key: row.id, group: groupOf[worst.kind], also, capsules: [named(row)] }]
  })
  const byId = new Map(rows.map((row) => [row.id, row]))
  const updates = records.updates.map(({ capsules, created_at, held_reason, id }): OpenItem => {
    const kind = held_reason === null ? "update_open" : "update_held"
    return {
      key: id,
      group: groupOf[kind],
      kind,
      also: [],
      since: created_at,
      runGroupId: id,
      capsules: capsules.flatMap((capsuleId) => {
        const row = byId.get(capsuleId)
        return row === undefined ? [] : [named(row)]
      }),
      ...(held_reason === null ? {} : { reason: held_reason })
    }
  })
  // Plans that do not belong to a Capsule of the Workspace.
  const unowned = records.waiting.flatMap(
    ({ at, capsule_id, id }): ReadonlyArray<OpenItem> =>
      capsule_id !== null && byId.has(capsule_id)
        ? []
        : [{ key: id, group: "decision", kind: "waiting_approval", also: [], since: at, runId: id, capsules: [] }]
  )
  return {
    entries: [...withSharedCommits(entries), ...updates, ...unowned],
    health: { capsules: rows.length, ...health, complete: isComplete } satisfies CapsuleHealth
  }
}
