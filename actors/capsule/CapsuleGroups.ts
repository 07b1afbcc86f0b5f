import { Effect, Result } from "effect"
import { SqlClient } from "effect/sql"
import { type ApiError, failedPrecondition } from "../../schema/errors/ApiError.ts"
import { CapsuleId, RunGroupId } from "../../schema/records/Ids.ts"
import type { Run } from "../../schema/records/Run.ts"
import { CapsuleActor } from "../../schema/protocol/CapsuleActor.ts"
import type { CommandContext } from "../../schema/protocol/Command.ts"
import { answered } from "../ActorClient.ts"
import { newId, now } from "../Identity.ts"
import { toRunGroup } from "../run/RunsLive.ts"

interface Edge {
  readonly producer_capsule_id: string
  readonly consumer_capsule_id: string
}

/** Producers before their consumers; what does not depend on each other keeps its order. */
export const dependencyOrder = (ids: ReadonlyArray<string>, edges: ReadonlyArray<Edge>): ReadonlyArray<string> => {
  const ordered: Array<string> = []
  const placed = new Set<string>()
  const place = (id: string) => {
    if (placed.has(id)) return
    placed.add(id)
    for (const edge of edges) if (edge.consumer_capsule_id === id) place(edge.producer_capsule_id)
    if (ids.includes(id)) ordered.push(id)
  }
  ids.forEach(place)
  return ordered
}

/**
 * Creates one Run for every Capsule of a Workspace that the group is about. Capsules that refuse are named in `skipped`;
 * fails with the first refusal when all do.
 */
export const startGroup = Effect.fn("Capsules.startGroup")(function* (
  context: CommandContext,
  workspaceId: string,
  type: "update" | "drift_check"
) {
  const sql = yield* SqlClient.SqlClient
  const client = yield* CapsuleActor.client
  const capsules = yield* Effect.orDie(
    type === "update"
      ? sql<{
          id: string
        }>`SELECT id FROM capsules WHERE workspace_id = ${workspaceId} AND status = 'stale' ORDER BY created_at, id`
      : sql<{ id: string }>`SELECT id FROM capsules WHERE workspace_id = ${workspaceId}
          AND status IN ('active', 'stale', 'error') AND current_state_version_id IS NOT NULL ORDER BY created_at, id`
  )
  if (capsules.length === 0) {
    return yield* failedPrecondition(type === "update" ? "No Capsule is stale." : "No Capsule has a state to compare.")
  }
  const edges = yield* Effect.orDie(sql<Edge>`SELECT producer_capsule_id, consumer_capsule_id FROM dependencies
    WHERE workspace_id = ${workspaceId}`)
  const id = yield* newId(RunGroupId, "rgrp")
  const row = { id, workspace_id: workspaceId, type, created_at: yield* now }
  yield* Effect.orDie(sql`INSERT INTO run_groups ${sql.insert(row)}`)
  const outcomes = yield* Effect.forEach(
    dependencyOrder(
      capsules.map((capsule) => capsule.id),
      edges
    ),
    (capsuleId) => {
      const actor = client(capsuleId)
      const started: Effect.Effect<Run, ApiError> =
        type === "update"
          ? Effect.map(answered(actor.Plan({ context, groupId: id })), ({ value }) => value)
          : answered(actor.DriftCheck({ context, groupId: id }))
      return Effect.map(Effect.result(started), (outcome) => ({ capsuleId: CapsuleId.make(capsuleId), outcome }))
    }
  )
  const runs = outcomes.flatMap(({ outcome }) => (Result.isSuccess(outcome) ? [outcome.success] : []))
  // One Capsule that cannot be planned must not keep the others from it.
  const skipped = outcomes.flatMap(({ capsuleId, outcome }) =>
    Result.isFailure(outcome) ? [{ capsuleId, error: outcome.failure }] : []
  )
  if (runs.length === 0 && skipped[0] !== undefined) {
    yield* Effect.orDie(sql`DELETE FROM run_groups WHERE id = ${id}`)
    return yield* skipped[0].error
  }
  return {
    ...toRunGroup(row, runs),
    skipped: skipped.map(({ capsuleId, error: { code, message } }) => ({ capsuleId, code, message }))
  }
})
