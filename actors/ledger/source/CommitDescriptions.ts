import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { CommitDescription } from "../../../schema/records/Commit.ts"
import type { SourceSnapshotId } from "../../../schema/records/Ids.ts"
import { type RowOf, rowShape } from "../../base/database/Table.ts"
import { CommitDescriptionJson, SnapshotRow } from "./SourceRow.ts"

const DescribedSnapshot = rowShape({ id: SnapshotRow.columns.id, commit_description: CommitDescriptionJson })

/** Returns commit descriptions, keyed by snapshot. Snapshots fetched by an earlier release have no description. */
export const commitDescriptions = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  snapshots: ReadonlyArray<SourceSnapshotId | null | undefined>
) {
  const ids = [...new Set(snapshots)].filter((id) => id !== null && id !== undefined)
  const rows: ReadonlyArray<RowOf<typeof DescribedSnapshot.columns>> =
    ids.length === 0
      ? []
      : yield* DescribedSnapshot.rows(sql)`SELECT id, commit_description FROM source_snapshots
          WHERE ${sql.in("id", ids)} AND commit_description IS NOT NULL`
  return new Map<SourceSnapshotId, CommitDescription>(
    rows.map((row) => [row.id, CommitDescriptionJson.read(row.commit_description)])
  )
}, Effect.orDie)

/** Adds the commit description to each record that was created from a commit. */
export const withCommitDescriptions = <A extends { readonly sourceSnapshotId?: SourceSnapshotId }>(
  sql: SqlClient.SqlClient,
  records: ReadonlyArray<A>
) =>
  Effect.map(
    commitDescriptions(
      sql,
      records.map(({ sourceSnapshotId }) => sourceSnapshotId)
    ),
    (described) =>
      records.map((record) => {
        const commitDescription =
          record.sourceSnapshotId === undefined ? undefined : described.get(record.sourceSnapshotId)
        return commitDescription === undefined ? record : { ...record, commitDescription }
      })
  )
