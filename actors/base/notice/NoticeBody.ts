import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import type { SentNotice } from "../../../schema/records/NoticeEndpoint.ts"
import { type NoticeId, WorkspaceId } from "../../../schema/records/Ids.ts"
import { rowShape } from "../database/Table.ts"
import { type NoticeDeliveryRow, NoticeDataJson, NoticeRow, type NoticeSettingsShape } from "./NoticeRows.ts"

const Named = rowShape({ id: WorkspaceId, handle: Schema.String, display_name: Schema.String })

type Delivered = Pick<NoticeDeliveryRow, "notice_id" | "sequence">

/** Reads the notices of several deliveries. Returns a function that maps each notice to its body in the JSON format. */
export const sentNotices = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  { baseUrl }: Pick<NoticeSettingsShape, "baseUrl">,
  deliveries: ReadonlyArray<Delivered>
) {
  const ids = [...new Set(deliveries.map(({ notice_id }) => notice_id))]
  const rows = yield* NoticeRow.rows(sql)`SELECT * FROM notices WHERE ${sql.in("id", ids)}`
  const notices = new Map<NoticeId, NoticeRow>(rows.map((row) => [row.id, row]))
  const owners = [...new Set(rows.flatMap(({ workspace_id }) => workspace_id ?? []))]
  const named = yield* Named.rows(sql)`SELECT id, handle, display_name FROM workspaces WHERE ${sql.in("id", owners)}`
  const workspaces = new Map(named.map((row) => [row.id, row]))
  return ({ notice_id, sequence }: Delivered): SentNotice => {
    const row = notices.get(notice_id)
    if (row === undefined) throw new Error(`The notice ${notice_id} is gone`)
    const workspace = row.workspace_id === null ? undefined : workspaces.get(row.workspace_id)
    const page = workspace === undefined ? row.path : `w/${workspace.handle}/${row.path}`
    return {
      type: row.kind,
      id: row.id,
      timestamp: row.created_at,
      sequence,
      ...(workspace === undefined
        ? {}
        : { workspace: { id: workspace.id, handle: workspace.handle, name: workspace.display_name } }),
      subject: { kind: row.subject_kind, id: row.subject_id },
      url: `${baseUrl}/${page}`,
      data: NoticeDataJson.read(row.data)
    }
  }
}, Effect.orDie)

/** Returns the notice that a delivery sends. */
export const sentNotice = (
  sql: SqlClient.SqlClient,
  settings: Pick<NoticeSettingsShape, "baseUrl">,
  delivery: Delivered
) => Effect.map(sentNotices(sql, settings, [delivery]), (bodyOf) => bodyOf(delivery))
