import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { CapsuleLedger } from "../capsule/CapsuleLedger.ts"
import { now } from "../../base/Identity.ts"
import { type RestoredRecords, ReviewItem, HeldRecord } from "../../base/RestoredRecords.ts"
import { type ChangesOf, rowShape } from "../../base/database/Table.ts"
import type { CapsuleId } from "../../../schema/records/Ids.ts"
import { OutputShareRow } from "./OutputShareRow.ts"

const HeldShare = rowShape({ ...HeldRecord.fields, producer: OutputShareRow.columns.producer_capsule_id })
const takenShare = rowShape({ producer: OutputShareRow.columns.producer_capsule_id })
const statusOf = Schema.decodeUnknownSync(OutputShareRow.columns.status)

/**
 * OutputShares that a restore brought back; the restore has voided plans that used one. Consumers of a share receive nothing
 * while it is pending, and are compared after each decision.
 */
export const restoredShares = Effect.map(SqlClient.SqlClient, (sql): RestoredRecords<CapsuleLedger> => {
  const unread = Effect.fnUntraced(function* (shares: ReadonlyArray<{ readonly producer: CapsuleId }>) {
    const capsules = yield* CapsuleLedger
    for (const producer of new Set(shares.map((share) => share.producer))) yield* capsules.consumersUnread(producer)
  })

  const set = Effect.fnUntraced(function* (id: string, change: ChangesOf<typeof OutputShareRow>) {
    const moved = yield* takenShare.rows(sql)`UPDATE output_shares SET ${OutputShareRow.changes(sql, change)}
      WHERE id = ${id} AND status = 'unconfirmed' RETURNING producer_capsule_id AS producer`
    yield* unread(moved)
  }, Effect.orDie)

  return {
    kind: "output_share",
    hold: Effect.gen(function* () {
      const held = yield* HeldShare.rows(
        sql
      )`SELECT id, status AS "previousStatus", producer_capsule_id AS producer FROM output_shares
        WHERE status IN ('pending', 'active') ORDER BY id`
      yield* sql`UPDATE output_shares SET status = 'unconfirmed' WHERE status IN ('pending', 'active')`
      yield* unread(held)
      return held
    }).pipe(Effect.orDie),
    pending: Effect.orDie(rowShape(ReviewItem.fields).rows(
      sql
    )`SELECT s.id, 'output_share' AS kind, giver.id AS "workspaceId", giver.handle AS workspace,
        'Outputs of ' || COALESCE(c.name, s.producer_capsule_id) || ' for ' || taker.handle AS description,
        r.previous_status AS "previousStatus", COALESCE(s.approved_at, s.created_at) AS "changedAt"
      FROM restore_review r JOIN output_shares s ON s.id = r.record_id AND s.status = 'unconfirmed'
      JOIN workspaces giver ON giver.id = s.from_workspace_id JOIN workspaces taker ON taker.id = s.to_workspace_id
      LEFT JOIN capsules c ON c.id = s.producer_capsule_id
      WHERE r.decision IS NULL ORDER BY giver.handle, s.id`),
    confirm: (id, status) => set(id, { status: statusOf(status) }),
    remove: (id) => Effect.flatMap(now, (at) => set(id, { status: "revoked", revoked_at: at }))
  }
})
