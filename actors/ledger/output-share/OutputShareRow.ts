import { Effect, Schema } from "effect"
import { CapsuleId, OutputShareId, WorkspaceId } from "../../../schema/records/Ids.ts"
import { OutputShare, SharedOutput } from "../../../schema/records/OutputShare.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { type ChangesOf, type RowOf, rowShape, table } from "../../base/database/Table.ts"
import { SqlClient } from "effect/sql"
import type { CommandContext } from "../../../schema/commands/Command.ts"
import { Audit } from "../../base/audit/Audit.ts"
import { shareRevoked } from "../consumption/ConsumedOutputs.ts"
import { now } from "../../base/Identity.ts"
import { RunLedger } from "../run/RunLedger.ts"
import { CapsuleLedger } from "../capsule/CapsuleLedger.ts"
import { HeldRecord, type RestoredRecords, ReviewItem } from "../../base/RestoredRecords.ts"

/** Outputs of a Capsule that one Workspace shares with another. */
export const OutputShareRow = table("output_shares", {
  id: OutputShareId,
  from_workspace_id: WorkspaceId,
  to_workspace_id: WorkspaceId,
  producer_capsule_id: CapsuleId,
  outputs: Schema.String,
  status: OutputShare.fields.status,
  created_at: Timestamp,
  approved_at: Schema.NullOr(Timestamp),
  revoked_at: Schema.NullOr(Timestamp)
})
export type OutputShareRow = RowOf<typeof OutputShareRow.columns>

const decodeOutputs = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Array(SharedOutput)))

/**
 * Revokes a Capsule's shares and voids the plans that used them, in the caller's transaction. Writes the change to the audit
 * history of both Workspaces and returns the shares.
 */
export const endShares = Effect.fn("endShares")(function* (context: CommandContext, producerCapsuleId: CapsuleId) {
  const sql = yield* SqlClient.SqlClient
  const audit = yield* Audit
  const ledger = yield* RunLedger
  const ended = yield* OutputShareRow.some(
    sql,
    "id",
    "from_workspace_id",
    "to_workspace_id",
    "outputs"
  )`UPDATE output_shares SET ${OutputShareRow.changes(sql, { status: "revoked", revoked_at: yield* now })}
    WHERE producer_capsule_id = ${producerCapsuleId} AND status <> 'revoked'
    RETURNING id, from_workspace_id, to_workspace_id, outputs`
  for (const share of ended) {
    const supersededRunIds = yield* ledger.supersedeConsumers(share.id, shareRevoked)
    const outputs = (yield* decodeOutputs(share.outputs)).map(({ name }) => name)
    for (const workspaceId of [share.from_workspace_id, share.to_workspace_id]) {
      yield* audit.append({
        workspaceId,
        actor: context.actor,
        action: "output_share.revoke",
        target: { kind: "output_share", id: share.id },
        data: {
          fromWorkspaceId: share.from_workspace_id,
          toWorkspaceId: share.to_workspace_id,
          outputs,
          because: "producer_released",
          // Only the receiving Workspace may see which of its plans used the share.
          ...(workspaceId === share.to_workspace_id ? { supersededRunIds } : {})
        },
        requestId: context.requestId
      })
    }
  }
  return ended.map(({ id }) => id)
}, Effect.orDie)

const HeldShare = rowShape({ ...HeldRecord.fields, producer: OutputShareRow.columns.producer_capsule_id })
const takenShare = rowShape({ producer: OutputShareRow.columns.producer_capsule_id })
const statusOf = Schema.decodeUnknownSync(OutputShareRow.columns.status)

/**
 * Reviews OutputShares after a restore, which has already voided the plans that used them. While its review is pending, a
 * share provides nothing to consumers; the consumers are compared after each decision.
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
