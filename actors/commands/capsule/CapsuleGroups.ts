import { Effect, Result } from "effect"
import { SqlClient } from "effect/sql"
import { failedPrecondition } from "../../../schema/errors/ApiError.ts"
import type { CapsuleId, RunGroupId, WorkspaceId } from "../../../schema/records/Ids.ts"
import type { SkippedCapsule } from "../../../schema/records/RunGroup.ts"
import { CapsuleCommands } from "../../../schema/commands/CapsuleCommands.ts"
import type { CommandContext } from "../../../schema/commands/Command.ts"
import { type Refused, RunGroups } from "../../running/run-group/RunGroups.ts"
import { CapsuleRow } from "../../ledger/capsule/CapsuleRow.ts"
import { dependencyOrder } from "./DependencyOrder.ts"
import { DependencyEdgeRow } from "../../ledger/consumption/DependencyRow.ts"

export interface StartedGroup {
  readonly id: RunGroupId
  readonly skipped: ReadonlyArray<SkippedCapsule>
}

const toSkipped = ({ capsuleId, error: { code, message } }: Refused) => ({ capsuleId, code, message })

/**
 * Updates all stale Capsules in a Workspace, or those in `only`, wave by wave. Capsules that refuse their plan are named in
 * `skipped`.
 */
export const startUpdate = Effect.fn("Capsules.startUpdate")(function* (
  context: CommandContext,
  workspaceId: WorkspaceId,
  only?: ReadonlyArray<CapsuleId>
) {
  const { id, refused } = yield* (yield* RunGroups).startUpdate(context, workspaceId, only)
  return { id, skipped: refused.map(toSkipped) }
})

/**
 * Checks every Capsule in a Workspace that has a state. Capsules that refuse are named in `skipped`; fails with the first refusal
 * if all of them do.
 */
export const startDriftCheck = Effect.fn("Capsules.startDriftCheck")(function* (
  context: CommandContext,
  workspaceId: WorkspaceId
) {
  const sql = yield* SqlClient.SqlClient
  const groups = yield* RunGroups
  const command = yield* CapsuleCommands
  const capsules = yield* Effect.orDie(CapsuleRow.some(
    sql,
    "id"
  )`SELECT id FROM capsules WHERE workspace_id = ${workspaceId}
    AND status IN ('active', 'stale', 'error') AND current_state_version_id IS NOT NULL ORDER BY created_at, id`)
  if (capsules.length === 0) return yield* failedPrecondition("No Capsule has a state to compare.")
  const edges = yield* Effect.orDie(DependencyEdgeRow.rows(
    sql
  )`SELECT producer_capsule_id AS producer, consumer_capsule_id AS consumer
    FROM dependencies WHERE workspace_id = ${workspaceId}`)
  const ids = capsules.map((capsule) => capsule.id)
  const id = yield* groups.startCheck(workspaceId)
  const refused: Array<Refused> = []
  for (const capsuleId of dependencyOrder(ids, edges)) {
    const outcome = yield* Effect.result(command.DriftCheck(capsuleId, { context, groupId: id }))
    // A Capsule that cannot be checked must not stop the others.
    if (Result.isFailure(outcome)) refused.push({ capsuleId: capsuleId, error: outcome.failure })
  }
  const [first] = refused
  if (refused.length === ids.length && first !== undefined) {
    yield* groups.discard(id)
    return yield* first.error
  }
  return { id, skipped: refused.map(toSkipped) }
})
