import { Effect, Schema } from "effect"
import { CapsuleId, RunGroupId, WorkspaceId } from "../../../schema/records/Ids.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { Flag, type RowOf, table } from "../../base/database/Table.ts"
import { SqlClient } from "effect/sql"

/** Groups of Runs that were started together. */
export const RunGroupRow = table(
  "run_groups",
  {
    id: RunGroupId,
    workspace_id: WorkspaceId,
    type: Schema.Literals(["update", "drift_check"]),
    created_at: Timestamp,
    /** For an update, the time when every part had ended. Null while a failed Capsule may be planned again. */
    finished_at: Schema.NullOr(Timestamp),
    /** JSON: the person on whose behalf svc plans later waves. */
    started_by: Schema.NullOr(Schema.String),
    cancelled_at: Schema.NullOr(Timestamp),
    cancelled_by: Schema.NullOr(Schema.String),
    cancel_reason: Schema.NullOr(Schema.String),
    replaced_by: Schema.NullOr(RunGroupId),
    /** The reason why the next wave is on hold, or null if it is not. */
    held_reason: Schema.NullOr(Schema.String),
    held_by_pause: Flag,
    moved: Schema.Int,
    seen: Schema.Int
  },
  ["held_by_pause", "moved", "seen"]
)
export type RunGroupRow = RowOf<typeof RunGroupRow.columns>

/** The Capsules of a group. A stored decision about a Capsule is final. */
export const RunGroupMemberRow = table("run_group_members", {
  group_id: RunGroupId,
  capsule_id: CapsuleId,
  wave: Schema.Int,
  decision: Schema.NullOr(Schema.Literals(["left_out", "refused"])),
  code: Schema.NullOr(Schema.String),
  message: Schema.NullOr(Schema.String)
})
export type RunGroupMemberRow = RowOf<typeof RunGroupMemberRow.columns>

/**
 * Returns the open update in which the Capsule failed, if any, because a person's plan for the Capsule continues the update.
 * Returns `undefined` while the Capsule is waiting for its turn, because the update will plan the Capsule anyway.
 */
export const updateToRetry = Effect.fn("updateToRetry")(function* (capsuleId: CapsuleId) {
  const sql = yield* SqlClient.SqlClient
  const [group] = yield* RunGroupRow.some(sql, "id")`SELECT g.id FROM run_group_members m
    JOIN run_groups g ON g.id = m.group_id AND g.finished_at IS NULL AND g.cancelled_at IS NULL
    WHERE m.capsule_id = ${capsuleId} AND m.decision IS DISTINCT FROM 'left_out'
      AND (m.decision = 'refused' OR EXISTS (SELECT 1 FROM runs p
        WHERE p.run_group_id = g.id AND p.capsule_id = m.capsule_id AND p.type = 'plan'))
      AND NOT EXISTS (SELECT 1 FROM runs a WHERE a.run_group_id = g.id AND a.capsule_id = m.capsule_id
        AND a.type = 'apply' AND a.status IN ('queued', 'running', 'succeeded'))
    ORDER BY g.created_at DESC, g.id DESC LIMIT 1`
  return group?.id
}, Effect.orDie)
