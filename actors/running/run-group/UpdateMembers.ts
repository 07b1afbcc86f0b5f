import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { CapsuleId, WorkspaceId } from "../../../schema/records/Ids.ts"
import { CapsuleRow } from "../../ledger/capsule/CapsuleRow.ts"
import { DependencyEdgeRow } from "../../ledger/consumption/DependencyRow.ts"
import { membersOf, wavesOf } from "./WaveDecision.ts"

/** The stale Capsules of a Workspace (or of `only` these, if given) and their consumers, in creation order. */
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
