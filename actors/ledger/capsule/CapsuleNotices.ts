import { notSpeculative } from "../../../schema/tables/RunTables.ts"
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import type { CapsuleId, SourceSnapshotId } from "../../../schema/records/Ids.ts"
import type { NoticeData } from "../../../schema/records/Notice.ts"
import type { NoticeKind } from "../../../schema/records/NoticeEndpoint.ts"
import { rowShape } from "../../base/database/Table.ts"
import { type NoticeFacts, writeNotice } from "../../base/notice/Notices.ts"
import { noticeRun } from "../run/RunNotices.ts"
import { RunRow } from "../run/RunRow.ts"
import { CapsuleRow, type GuardedCapsuleRow, StaleReasonsJson } from "./CapsuleRow.ts"

type Columns = Readonly<Record<string, string | number | null>>

const capsule = CapsuleRow.columns

const Before = rowShape({
  id: capsule.id,
  workspace_id: capsule.workspace_id,
  project_id: capsule.project_id,
  name: capsule.name,
  environment: capsule.environment,
  drift_status: capsule.drift_status,
  runtime_safety: capsule.runtime_safety
})

type CapsuleFacts = Pick<
  GuardedCapsuleRow,
  "drift_status" | "environment" | "id" | "name" | "project_id" | "runtime_safety" | "workspace_id"
>

/** Returns the Capsule as it appears in the data of a notice. */
export const noticeCapsule = ({ environment, id, name, project_id }: CapsuleFacts) => ({
  id,
  name,
  environment,
  projectId: project_id
})

/** Creates a notice about a Capsule. `path` is the page that the notice links to, by default the Capsule's page. */
export const aboutCapsule = <K extends NoticeKind>(
  row: CapsuleFacts,
  data: NoticeData<K>,
  path = `capsules/${row.id}`
): NoticeFacts<K> => ({
  workspaceId: row.workspace_id,
  subject: { kind: "capsule", id: row.id },
  path,
  capsule: noticeCapsule(row),
  data
})

const CurrentRun = RunRow.only("id", "type", "trigger_kind", "created_by")

/** Selects the Run that is changing the Capsule: the Run being executed, or else the newest apply. */
const currentRun = (sql: SqlClient.SqlClient, id: CapsuleId) =>
  Effect.map(
    CurrentRun.rows(sql)`SELECT id, type, trigger_kind, created_by FROM runs WHERE capsule_id = ${id}
      AND ${sql.literal(notSpeculative())} AND (status = 'running' OR type IN ('apply', 'destroy_apply'))
      ORDER BY status = 'running' DESC, created_at DESC, id DESC LIMIT 1`,
    ([row]) => (row === undefined ? {} : { run: noticeRun(row) })
  ).pipe(Effect.orDie)

/**
 * Writes the notices about a change to a Capsule's row, in the transaction that makes the change. `before` returns the row
 * as it was before the change.
 */
export const reportChange = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  before: Effect.Effect<CapsuleFacts | undefined>,
  changes: Columns
) {
  if (changes["runtime_safety"] === "unknown") {
    yield* writeNotice(
      sql,
      "run.unknown",
      Effect.flatMap(before, (row) =>
        row === undefined || row.runtime_safety === "unknown"
          ? Effect.undefined
          : Effect.map(currentRun(sql, row.id), (run) =>
              aboutCapsule<"run.unknown">(row, { capsule: noticeCapsule(row), ...run })
            )
      )
    )
  }
  if (changes["drift_status"] === "none") {
    yield* writeNotice(
      sql,
      "drift.gone",
      Effect.flatMap(before, (row) =>
        row?.drift_status !== "drifted"
          ? Effect.undefined
          : Effect.map(currentRun(sql, row.id), (run) =>
              aboutCapsule<"drift.gone">(row, { capsule: noticeCapsule(row), ...run })
            )
      )
    )
  }
})

/** Reads the row of a Capsule before a change, given only the Capsule's id. */
export const rowBefore = (sql: SqlClient.SqlClient, id: CapsuleId | null) =>
  Effect.map(
    Before.rows(sql)`SELECT id, workspace_id, project_id, name, environment, drift_status, runtime_safety
      FROM capsules WHERE id = ${id}`,
    ([row]) => row
  ).pipe(Effect.orDie)

const Snapshot = rowShape({ source_id: capsule.source_id, resolved_commit: Schema.String })

/** Returns the snapshot of the commit that makes a Capsule stale. */
const newerSnapshot = (reasons: string): SourceSnapshotId | undefined =>
  StaleReasonsJson.read(reasons).flatMap(({ kind, sourceSnapshotId }) =>
    kind === "commit" && sourceSnapshotId !== undefined ? [sourceSnapshotId] : []
  )[0]

/** Reports a newer commit of the ref that the Capsule follows, once per commit. */
export const reportUpdate = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  row: GuardedCapsuleRow,
  reasons: string
) {
  const snapshotId = newerSnapshot(reasons)
  if (snapshotId === undefined || snapshotId === newerSnapshot(row.stale_reasons)) return
  yield* writeNotice(
    sql,
    "update.available",
    Effect.map(
      Effect.orDie(
        Snapshot.rows(sql)`SELECT source_id, resolved_commit FROM source_snapshots WHERE id = ${snapshotId}`
      ),
      ([found]) =>
        found === undefined
          ? undefined
          : aboutCapsule<"update.available">(row, {
              capsule: noticeCapsule(row),
              sourceId: found.source_id,
              sourceSnapshotId: snapshotId,
              commit: found.resolved_commit
            })
    )
  )
})
