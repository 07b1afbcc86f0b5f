import { DateTime, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { connectionExpiryNotice } from "../../../schema/records/Connection.ts"
import type { NoticeKind } from "../../../schema/records/NoticeEndpoint.ts"
import type { NoticeData } from "../../../schema/records/Notice.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { type NoticeFacts, writeNotice } from "../../base/notice/Notices.ts"
import { ConnectionRow } from "./ConnectionRow.ts"

type Named = Pick<ConnectionRow, "display_name" | "id" | "provider" | "workspace_id">

const named = ({ display_name, id, provider }: Named) => ({ id, name: display_name, provider })

const about = <K extends NoticeKind>(row: Named, data: NoticeData<K>): NoticeFacts<K> => ({
  workspaceId: row.workspace_id,
  subject: { kind: "connection", id: row.id },
  path: "connections",
  data
})

/**
 * Reports that the tokens of a Connection could not be renewed, unless this was already reported. Runs in the caller's
 * transaction.
 */
export const reportFailing = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  row: Named & Pick<ConnectionRow, "oauth_fault">,
  code: string
) {
  if (row.oauth_fault !== null) return
  yield* writeNotice(
    sql,
    "connection.failing",
    Effect.succeed(about<"connection.failing">(row, { connection: named(row), code }))
  )
})

const Expiring = ConnectionRow.only("id", "workspace_id", "display_name", "provider", "expires_at")

/**
 * Reports each Connection that expires soon, once per expiry time. The cleanup calls this, because nothing changes when an expiry
 * approaches.
 */
export const reportExpiring = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const until = DateTime.formatIso(DateTime.addDuration(yield* DateTime.now, connectionExpiryNotice))
  yield* Effect.gen(function* () {
    const rows = yield* Expiring.rows(sql)`SELECT id, workspace_id, display_name, provider, expires_at FROM connections
      WHERE expires_at <= ${until} AND removed_at IS NULL AND status <> 'revoked' AND oauth IS NULL
        AND (expiry_reported IS NULL OR expiry_reported <> expires_at) ORDER BY expires_at, id LIMIT 100`
    for (const row of rows) {
      const { expires_at } = row
      if (expires_at === null) continue
      yield* sql`UPDATE connections SET ${ConnectionRow.changes(sql, { expiry_reported: expires_at })} WHERE id = ${row.id}`
      yield* writeNotice(
        sql,
        "connection.expiring",
        Effect.succeed(about<"connection.expiring">(row, { connection: named(row), expiresAt: expires_at }))
      )
    }
  }).pipe(transaction(sql))
}).pipe(Effect.orDie, Effect.withSpan("reportExpiring"))
