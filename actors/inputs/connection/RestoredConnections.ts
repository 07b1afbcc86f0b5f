import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { CapsuleLedger } from "../../ledger/capsule/CapsuleLedger.ts"
import { now } from "../../base/Identity.ts"
import { type RestoredRecords, ReviewItem, HeldRecord } from "../../base/RestoredRecords.ts"
import { type ChangesOf, rowShape } from "../../base/database/Table.ts"
import { ConnectionId } from "../../../schema/records/Ids.ts"
import { ConnectionRow } from "./ConnectionRow.ts"

const decodeId = Schema.decodeSync(ConnectionId)
const statusOf = Schema.decodeUnknownSync(ConnectionRow.columns.status)

/** Reviews Connections after a restore, because a restore also brings back their sealed values. */
export const restoredConnections = Effect.map(SqlClient.SqlClient, (sql): RestoredRecords<CapsuleLedger> => {
  const set = Effect.fnUntraced(function* (id: string, change: ChangesOf<typeof ConnectionRow>) {
    yield* sql`UPDATE connections SET ${ConnectionRow.changes(sql, { ...change, updated_at: yield* now })}
      WHERE id = ${id} AND status = 'unconfirmed'`
  }, Effect.orDie)

  return {
    kind: "connection",
    hold: Effect.gen(function* () {
      const held = yield* rowShape(HeldRecord.fields).rows(sql)`SELECT id, status AS "previousStatus" FROM connections
        WHERE status NOT IN ('revoked', 'unconfirmed') ORDER BY id`
      yield* sql`UPDATE connections SET status = 'unconfirmed' WHERE status <> 'revoked'`
      return held
    }).pipe(Effect.orDie),
    pending: Effect.orDie(rowShape(ReviewItem.fields).rows(
      sql
    )`SELECT c.id, 'connection' AS kind, w.id AS "workspaceId", w.handle AS workspace,
        c.display_name || ' (' || c.provider || ')' AS description, r.previous_status AS "previousStatus",
        c.updated_at AS "changedAt"
      FROM restore_review r JOIN connections c ON c.id = r.record_id AND c.status = 'unconfirmed'
      LEFT JOIN workspaces w ON w.id = c.workspace_id
      WHERE r.decision IS NULL ORDER BY w.handle, c.display_name, c.id`),
    confirm: (id, status) =>
      Effect.andThen(
        set(id, { status: statusOf(status) }),
        Effect.flatMap(CapsuleLedger, (capsules) => capsules.credentialRenewed(decodeId(id)))
      ),
    remove: (id) => set(id, { status: "revoked", sealed_values: null, sealed_tokens: null, oauth_fault: null })
  }
})
