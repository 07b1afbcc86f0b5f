import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { AutoUpdateDecision, AutoUpdateVerdict } from "../../../schema/records/AutoUpdate.ts"
import { AutoUpdateDecisionId, CapsuleId, RunId, SourceSnapshotId } from "../../../schema/records/Ids.ts"
import { derivedId, now } from "../../base/Identity.ts"
import { present } from "../../ledger/run/RunRow.ts"
import type { GuardedCapsuleRow } from "../../ledger/capsule/CapsuleRow.ts"
import { storedRecord } from "../../base/database/StoredRecord.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { type RowOf, table } from "../../base/database/Table.ts"

/** Auto-update decisions about snapshots. */
export const AutoUpdateDecisionRow = table("auto_update_decisions", {
  id: AutoUpdateDecisionId,
  capsule_id: CapsuleId,
  source_snapshot_id: SourceSnapshotId,
  resolved_commit: Schema.String,
  decision: AutoUpdateVerdict,
  reason: Schema.String,
  message: Schema.String,
  run_id: Schema.NullOr(RunId),
  execution_authority_epoch: Schema.Int,
  state_generation: Schema.Int,
  created_at: Timestamp,
  updated_at: Timestamp
})
export type AutoUpdateDecisionRow = RowOf<typeof AutoUpdateDecisionRow.columns>

const decode = storedRecord(AutoUpdateDecision)

export const toDecision = (row: AutoUpdateDecisionRow): AutoUpdateDecision =>
  decode({
    id: row.id,
    capsuleId: row.capsule_id,
    sourceSnapshotId: row.source_snapshot_id,
    resolvedCommit: row.resolved_commit,
    decision: row.decision,
    reason: row.reason,
    message: row.message,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    ...present({ runId: row.run_id })
  })

/** A decision about a snapshot, and the Run created as a result, if any. */
export interface Decided {
  readonly decision: AutoUpdateVerdict
  readonly reason: string
  readonly message: string
  readonly runId?: RunId | undefined
}

/**
 * Returns true if this snapshot has been planned under the current authority. Auto-update then makes no further decision
 * about the snapshot.
 */
export const isPlannedNow = Effect.fnUntraced(function* (capsule: GuardedCapsuleRow, snapshotId: SourceSnapshotId) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql`SELECT 1 AS one FROM auto_update_decisions
    WHERE capsule_id = ${capsule.id} AND source_snapshot_id = ${snapshotId} AND run_id IS NOT NULL
      AND execution_authority_epoch = ${capsule.execution_authority_epoch}
      AND state_generation = ${capsule.current_state_generation}`
  return rows.length > 0
}, Effect.orDie)

/**
 * The only writer of `auto_update_decisions`. Runs in the caller's transaction. A later decision about the same snapshot replaces
 * the earlier one.
 */
export const decide = Effect.fn("Capsule.decide")(function* (
  capsule: GuardedCapsuleRow,
  snapshot: { readonly id: SourceSnapshotId; readonly resolvedCommit: string },
  { decision, message, reason, runId }: Decided
) {
  const sql = yield* SqlClient.SqlClient
  const at = yield* now
  const decided = {
    decision,
    reason,
    message,
    run_id: runId ?? null,
    execution_authority_epoch: capsule.execution_authority_epoch,
    state_generation: capsule.current_state_generation
  }
  const row = {
    id: derivedId(AutoUpdateDecisionId, "aud", capsule.id, snapshot.id),
    capsule_id: capsule.id,
    source_snapshot_id: snapshot.id,
    resolved_commit: snapshot.resolvedCommit,
    ...decided,
    created_at: at,
    updated_at: at
  }
  const added =
    yield* sql`INSERT INTO auto_update_decisions ${AutoUpdateDecisionRow.values(sql, row)} ON CONFLICT DO NOTHING RETURNING id`
  if (added.length > 0) return
  yield* sql`UPDATE auto_update_decisions SET ${AutoUpdateDecisionRow.changes(sql, { ...decided, updated_at: at })}
    WHERE id = ${row.id} AND (decision <> ${decision} OR reason <> ${reason} OR message <> ${message}
      OR run_id IS DISTINCT FROM ${runId ?? null})`
}, Effect.orDie)
