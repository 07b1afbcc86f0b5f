import type { WaveMemberState } from "../../../schema/records/RunWaves.ts"
import type { CapsuleId, WorkspaceId } from "../../../schema/records/Ids.ts"
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { CapsuleRow } from "../../ledger/capsule/CapsuleRow.ts"
import { DependencyEdgeRow } from "../../ledger/consumption/DependencyRow.ts"

/** An edge: the consumer uses a value of the producer. */
export interface WaveEdge {
  readonly producer: CapsuleId
  readonly consumer: CapsuleId
}

/** The status of a Capsule in a group. `outdated`: its plan was voided and not replaced. */
export type Standing = Exclude<WaveMemberState, "waiting"> | "unplanned" | "outdated"

export interface Member {
  readonly capsuleId: CapsuleId
  readonly standing: Standing
  /** True if the Capsule currently has something to update. */
  readonly isBehind: boolean
}

export type NextStep =
  | { readonly kind: "plan" }
  | { readonly kind: "leave_out" }
  /** The producers that have not been updated yet. */
  | { readonly kind: "wait"; readonly for: ReadonlyArray<CapsuleId> }
  /** The Capsule is in progress or finished. */
  | { readonly kind: "none" }

/** Returns true if this update will not change the Capsule's Outputs any more. */
const isDone = (standing: Standing): boolean => standing === "applied" || standing === "left_out"

const producersOf = (capsuleId: CapsuleId, edges: ReadonlyArray<WaveEdge>): ReadonlyArray<CapsuleId> =>
  edges.flatMap(({ consumer, producer }) => (consumer === capsuleId ? [producer] : []))

/**
 * Decides the next step for each Capsule of an update. A consumer is planned once all its producers have been applied or left
 * out, and only if it is behind by then. A failed Capsule delays only its consumers.
 */
export const nextSteps = (
  members: ReadonlyArray<Member>,
  edges: ReadonlyArray<WaveEdge>
): ReadonlyMap<CapsuleId, NextStep> => {
  const standings = new Map(members.map(({ capsuleId, standing }) => [capsuleId, standing]))
  return new Map(
    members.map(({ capsuleId, isBehind, standing }): [CapsuleId, NextStep] => {
      if (standing !== "unplanned" && standing !== "outdated") return [capsuleId, { kind: "none" }]
      const open = [...new Set(producersOf(capsuleId, edges))].filter((producer) => {
        const theirs = standings.get(producer)
        return theirs !== undefined && !isDone(theirs)
      })
      if (open.length > 0) return [capsuleId, { kind: "wait", for: open }]
      return [capsuleId, { kind: isBehind ? "plan" : "leave_out" }]
    })
  )
}

/**
 * Returns the wave of each Capsule. Waves start at 1, and a Capsule's wave is one more than the latest wave of its
 * producers.
 */
export const wavesOf = (
  capsuleIds: ReadonlyArray<CapsuleId>,
  edges: ReadonlyArray<WaveEdge>
): ReadonlyMap<CapsuleId, number> => {
  const waves = new Map<CapsuleId, number>()
  const own = new Set(capsuleIds)
  const waveOf = (capsuleId: CapsuleId): number => {
    const known = waves.get(capsuleId)
    if (known !== undefined) return known
    const before = producersOf(capsuleId, edges).filter((producer) => own.has(producer))
    const wave = 1 + Math.max(0, ...before.map(waveOf))
    waves.set(capsuleId, wave)
    return wave
  }
  capsuleIds.forEach(waveOf)
  return waves
}

/** Returns the Capsules that are behind, and all their direct and indirect consumers. */
export const membersOf = (
  behind: ReadonlyArray<CapsuleId>,
  updatable: ReadonlySet<CapsuleId>,
  edges: ReadonlyArray<WaveEdge>
): ReadonlySet<CapsuleId> => {
  const members = new Set(behind)
  const open = [...behind]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const { consumer, producer } of edges) {
      if (producer !== next || members.has(consumer) || !updatable.has(consumer)) continue
      members.add(consumer)
      open.push(consumer)
    }
  }
  return members
}

export type WaveState = "waiting" | "running" | "waiting_approval" | "succeeded" | "failed" | "cancelled"

/**
 * Derives the state of a wave from the states of its members. Active members take precedence, followed by members that need
 * a person's decision and then by failed members.
 */
export const stateOf = (states: ReadonlyArray<WaveMemberState>): WaveState => {
  const has = (...wanted: ReadonlyArray<WaveMemberState>) => states.some((state) => wanted.includes(state))
  if (has("planning", "applying")) return "running"
  if (has("waiting_approval", "approved")) return "waiting_approval"
  if (has("failed")) return "failed"
  if (has("cancelled")) return "cancelled"
  return has("waiting") ? "waiting" : "succeeded"
}

/** Returns the stale Capsules of a Workspace (or those in `only`) and their consumers, in creation order. */
export const updateMembers = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  workspaceId: WorkspaceId,
  only: ReadonlyArray<CapsuleId> | undefined
) {
  const chosen = only === undefined ? undefined : new Set(only)
  const updatable = yield* CapsuleRow.some(sql, "id", "status")`SELECT id, status FROM capsules
    WHERE workspace_id = ${workspaceId} AND status IN ('active', 'stale') AND current_state_version_id IS NOT NULL
    ORDER BY created_at, id`
  const edges = yield* DependencyEdgeRow.rows(sql)`SELECT producer_capsule_id AS producer,
    consumer_capsule_id AS consumer FROM dependencies WHERE workspace_id = ${workspaceId}`
  const stale = updatable.flatMap(({ id, status }) => (status === "stale" && chosen?.has(id) !== false ? [id] : []))
  const ids = membersOf(stale, new Set(updatable.map(({ id }) => id)), edges)
  const ordered = updatable.flatMap(({ id }) => (ids.has(id) ? [id] : []))
  return { ordered, waves: wavesOf(ordered, edges) }
}, Effect.orDie)
