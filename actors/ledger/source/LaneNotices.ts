import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { SourceId, WorkspaceId } from "../../../schema/records/Ids.ts"
import type { NoticeData } from "../../../schema/records/Notice.ts"
import { rowShape } from "../../base/database/Table.ts"
import { type NoticeFacts, writeNotice } from "../../base/notice/Notices.ts"
import { lanesInUse } from "../../../schema/tables/SourceTables.ts"

const Named = rowShape({ id: SourceId, workspace_id: WorkspaceId, name: Schema.String })

interface Lane {
  readonly ref: string
  readonly path: string
}

/** Returns the Source of a lane that is in use. Lanes that no Capsule follows are not reported. */
const sourceOf = (sql: SqlClient.SqlClient, sourceId: SourceId, { path, ref }: Lane) =>
  Effect.map(
    Named.rows(sql)`SELECT s.id, s.workspace_id, s.name FROM sources s WHERE s.id = ${sourceId}
      AND s.status <> 'disabled' AND EXISTS (SELECT 1 FROM ${sql.literal(lanesInUse)} u
        WHERE u.source_id = s.id AND u.ref = ${ref} AND u.path = ${path})`,
    ([row]) => row
  ).pipe(Effect.orDie)

const about = <K extends "source.broken" | "source.healed">(
  { id, workspace_id }: { readonly id: SourceId; readonly workspace_id: WorkspaceId },
  data: NoticeData<K>
): NoticeFacts<K> => ({
  workspaceId: workspace_id,
  subject: { kind: "source", id },
  path: `sources/${id}`,
  data
})

/** Reports that a ref can no longer be read, in the caller's transaction. */
export const reportBroken = (sql: SqlClient.SqlClient, sourceId: SourceId, lane: Lane, code: string) =>
  writeNotice(
    sql,
    "source.broken",
    Effect.map(sourceOf(sql, sourceId, lane), (source) =>
      source === undefined
        ? undefined
        : about<"source.broken">(source, {
            source: { id: source.id, name: source.name },
            ref: lane.ref,
            path: lane.path,
            code
          })
    )
  )

/** Reports that a ref can be read again, in the caller's transaction. */
export const reportHealed = (sql: SqlClient.SqlClient, sourceId: SourceId, lane: Lane, commit: string) =>
  writeNotice(
    sql,
    "source.healed",
    Effect.map(sourceOf(sql, sourceId, lane), (source) =>
      source === undefined
        ? undefined
        : about<"source.healed">(source, {
            source: { id: source.id, name: source.name },
            ref: lane.ref,
            path: lane.path,
            commit
          })
    )
  )
