import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { WorkspaceId } from "../../../schema/records/Ids.ts"
import type { RetainedKindName } from "../../../schema/records/Retention.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { type RowOf, rowShape } from "../../base/database/Table.ts"
import { KeepReason, type Part, type RetainedKind } from "./RetainedKind.ts"

/** Number of records that one statement examines. */
const recordsAtOnce = 50

/** The id of a record of any kind. */
export type RecordId = string

/** The position of the last examined record in the list of records, which is sorted by age. */
export interface LookedAt {
  readonly since: string
  readonly id: RecordId
}

const Candidate = rowShape({
  id: Schema.String,
  workspace_id: WorkspaceId,
  since: Timestamp,
  kept: Schema.NullOr(KeepReason)
})
type Candidate = RowOf<typeof Candidate.columns>

const Size = rowShape({
  id: Schema.String,
  workspace_id: WorkspaceId,
  own_bytes: Schema.Int,
  part_bytes: Schema.Int,
  part_rows: Schema.Int
})
export type RecordSize = RowOf<typeof Size.columns>

/** The removable records of one kind in one Workspace. */
export interface RemovableRecords {
  readonly kind: RetainedKindName
  readonly workspaceId: WorkspaceId
  readonly records: number
  readonly bytes: number
}

export interface Candidates {
  /** The records that may be removed. */
  readonly ids: ReadonlyArray<RecordId>
  /** Number of records that are kept, for each reason. */
  readonly kept: ReadonlyMap<KeepReason, number>
  /** The start of the next batch; absent after the last batch. */
  readonly next: LookedAt | undefined
}

/** Returns SQL for the reason why the record `r` is kept. The value is `NULL` if the record may be removed. */
const keptBecause = ({ needs }: RetainedKind) =>
  `CASE ${needs.map(({ reason, when }) => `WHEN ${when} THEN '${reason}'`).join(" ")} END`

const among = (kind: RetainedKind) => kind.among ?? "1 = 1"

/** Examines the records whose retention period began before `before`, oldest first. */
export const recordCandidates = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  kind: RetainedKind,
  before: string,
  after: LookedAt | undefined
) {
  const since = sql.literal(`r.${kind.since}`)
  const rows = yield* Candidate.rows(
    sql
  )`SELECT r.id, ${sql.literal(kind.workspace)} AS workspace_id, ${since} AS since,
      ${sql.literal(keptBecause(kind))} AS kept
    FROM ${sql(kind.table)} r WHERE ${since} < ${before} AND (${since}, r.id) > (${after?.since ?? ""}, ${after?.id ?? ""})
      AND ${sql.literal(among(kind))} ORDER BY ${since}, r.id LIMIT ${recordsAtOnce}`
  const kept = new Map<KeepReason, number>()
  for (const row of rows) if (row.kept !== null) kept.set(row.kept, (kept.get(row.kept) ?? 0) + 1)
  const last = rows.at(-1)
  return {
    ids: rows.filter((row: Candidate) => row.kept === null).map(({ id }) => id),
    kept,
    next: rows.length < recordsAtOnce || last === undefined ? undefined : { since: last.since, id: last.id }
  } satisfies Candidates
})

/** Returns SQL for the sum of an aggregate over all parts of the record `r`. */
const overParts = (parts: ReadonlyArray<Part>, aggregate: (part: Part) => string) =>
  [
    "0",
    ...parts.map((part) => `COALESCE((SELECT ${aggregate(part)} FROM ${part.table} WHERE ${part.of} = r.id), 0)`)
  ].join(" + ")

/** Returns the given records that may still be removed, with their sizes and in the same order. */
export const removableNow = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  kind: RetainedKind,
  before: string,
  ids: ReadonlyArray<RecordId>
) {
  const since = sql.literal(`r.${kind.since}`)
  return yield* Size.rows(sql)`SELECT r.id, ${sql.literal(kind.workspace)} AS workspace_id,
      ${sql.literal(kind.bytes)} AS own_bytes, ${sql.literal(overParts(kind.parts, ({ bytes }) => `SUM(${bytes})`))} AS part_bytes,
      ${sql.literal(overParts(kind.parts, () => "COUNT(*)"))} AS part_rows
    FROM ${sql(kind.table)} r WHERE ${sql.in("r.id", ids)} AND ${since} < ${before}
      AND ${sql.literal(among(kind))} AND (${sql.literal(keptBecause(kind))}) IS NULL ORDER BY ${since}, r.id`
})
