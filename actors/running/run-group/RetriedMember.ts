import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { CapsuleId } from "../../../schema/records/Ids.ts"
import { RunGroupRow } from "./RunGroupRow.ts"

/**
 * The open update that a person's plan belongs to: one in which the Capsule failed, and which continues with this plan. There is
 * none while the Capsule is still waiting for its turn, since it will be planned then.
 */
export const updateToRetry = Effect.fn("updateToRetry")(function* (capsuleId: CapsuleId) {
  const sql = yield* SqlClient.SqlClient
  const [group] = yield* RunGroupRow.some(sql, "id")`SELECT g.id FROM run_group_members m
    JOIN run_groups g ON g.id = m.group_id AND g.finished_at IS NULL AND g.cancelled_at IS NULL
    WHERE m.capsule_id = ${capsuleId} AND m.decision IS NOT 'left_out'
      AND (m.decision = 'refused' OR EXISTS (SELECT 1 FROM runs p
        WHERE p.run_group_id = g.id AND p.capsule_id = m.capsule_id AND p.type = 'plan'))
      AND NOT EXISTS (SELECT 1 FROM runs a WHERE a.run_group_id = g.id AND a.capsule_id = m.capsule_id
        AND a.type = 'apply' AND a.status IN ('queued', 'running', 'succeeded'))
    ORDER BY g.created_at DESC, g.id DESC LIMIT 1`
  return group?.id
}, Effect.orDie)
