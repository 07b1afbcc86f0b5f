import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import type { SentNotice } from "../../../schema/records/NoticeEndpoint.ts"
import { WorkspaceId } from "../../../schema/records/Ids.ts"
import { rowShape } from "../database/Table.ts"
import { type NoticeDeliveryRow, NoticeDataJson, NoticeRow, type NoticeSettingsShape } from "./NoticeRows.ts"

const Named = rowShape({ id: WorkspaceId, handle: Schema.String, display_name: Schema.String })

/** The notice of a delivery as sent in the JSON format. */
export const sentNotice = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  { baseUrl }: Pick<NoticeSettingsShape, "baseUrl">,
  { notice_id, sequence }: Pick<NoticeDeliveryRow, "notice_id" | "sequence">
) {
  const [row] = yield* NoticeRow.rows(sql)`SELECT * FROM notices WHERE id = ${notice_id}`
  if (row === undefined) return yield* Effect.die(new Error(`The notice ${notice_id} is gone`))
  const [workspace] = yield* Named.rows(sql)`SELECT id, handle, display_name FROM workspaces
    WHERE id = ${row.workspace_id}`
  const page = workspace === undefined ? row.path : `w/${workspace.handle}/${row.path}`
  const notice: SentNotice = {
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
  return notice
}, Effect.orDie)
