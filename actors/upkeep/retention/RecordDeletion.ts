import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import type { WorkspaceId } from "../../../schema/records/Ids.ts"
import { rowShape } from "../../base/database/Table.ts"
import { type RecordId, removableNow, type RecordSize, type RemovableRecords } from "./RecordCandidates.ts"
import type { Part, RetainedKind, SharedPart } from "./RetainedKind.ts"

/** Maximum number of rows removed in one transaction. Removing more rows would delay writers. */
const partsAtOnce = 256
/**
 * Maximum number of bytes to remove in one transaction, unless a single record is larger. SQLite overwrites deleted pages,
 * so removing more bytes would delay writers.
 */
const bytesAtOnce = 2 * 1024 * 1024

const GonePart = rowShape({ id: Schema.String, bytes: Schema.Int })

/** The records that a step removed, and a flag that is true if the step removed all of the given records. */
export interface Deletion {
  readonly removed: ReadonlyArray<RemovableRecords>
  readonly isOver: boolean
}

/**
 * Selects the first records that one transaction can remove along with their parts. If a single record exceeds the limits,
 * it is removed in a separate transaction.
 */
const affordable = (sizes: ReadonlyArray<RecordSize>): ReadonlyArray<RecordSize> => {
  let bytes = 0
  let rows = 0
  return sizes.filter(({ own_bytes, part_bytes, part_rows }, index) => {
    bytes += own_bytes + part_bytes
    rows += part_rows
    return index === 0 || (bytes <= bytesAtOnce && rows <= partsAtOnce)
  })
}

const removeParts = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  { bytes, key, of, table }: Part,
  ids: ReadonlyArray<RecordId>,
  limit: number
) {
  const columns = sql.literal(key.join(", "))
  return yield* GonePart.rows(sql)`DELETE FROM ${sql(table)} WHERE (${columns}) IN (
      SELECT ${columns} FROM ${sql(table)} WHERE ${sql.in(of, ids)} LIMIT ${limit})
    RETURNING ${sql(of)} AS id, ${sql.literal(bytes)} AS bytes`
})

/** Removes shared rows that no other record needs. */
const removeShared = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  records: string,
  { key, table, when }: SharedPart,
  ids: ReadonlyArray<RecordId>,
  limit: number
) {
  const columns = sql.literal(key.join(", "))
  const ofPart = sql.literal(key.map((name) => `p.${name}`).join(", "))
  const has = sql.literal(when)
  const gone = yield* sql`DELETE FROM ${sql(table)} WHERE (${columns}) IN (
      SELECT DISTINCT ${ofPart} FROM ${sql(records)} r JOIN ${sql(table)} p ON ${has} WHERE ${sql.in("r.id", ids)}
        AND NOT EXISTS (SELECT 1 FROM ${sql(records)} r WHERE ${has} AND NOT (${sql.in("r.id", ids)})) LIMIT ${limit})
    RETURNING 1 AS one`
  return gone.length
})

/**
 * Removes some of the records along with their parts, provided that they may still be removed. Runs in the caller's
 * transaction.
 */
export const removeRecords = Effect.fn("RecordRemoval.removeRecords")(function* (
  sql: SqlClient.SqlClient,
  kind: RetainedKind,
  before: string,
  ids: ReadonlyArray<RecordId>
) {
  const all = yield* removableNow(sql, kind, before, ids)
  const some = affordable(all)
  const chosen = some.map(({ id }) => id)
  const workspaceOf = new Map(some.map(({ id, workspace_id }) => [id, workspace_id]))
  const removed: Array<RemovableRecords> = []
  const note = (workspaceId: WorkspaceId | undefined, records: number, bytes: number) => {
    if (workspaceId !== undefined) removed.push({ kind: kind.name, workspaceId, records, bytes })
  }
  if (chosen.length === 0) return { removed, isOver: true } satisfies Deletion
  let left = partsAtOnce
  for (const part of kind.parts) {
    const gone = yield* removeParts(sql, part, chosen, left)
    for (const { bytes, id } of gone) note(workspaceOf.get(id), 0, bytes)
    left -= gone.length
    if (left === 0) break
  }
  for (const part of kind.sharedParts ?? []) {
    if (left === 0) break
    const gone = yield* removeShared(sql, kind.table, part, chosen, left)
    left -= gone
  }
  if (kind.sharedParts !== undefined && left === 0) return { removed, isOver: false } satisfies Deletion
  if (some.some(({ part_rows }) => part_rows > partsAtOnce)) return { removed, isOver: false } satisfies Deletion
  if (kind.staysItself !== true) yield* sql`DELETE FROM ${sql(kind.table)} WHERE ${sql.in("id", chosen)}`
  for (const { own_bytes, workspace_id } of some) note(workspace_id, 1, own_bytes)
  return { removed, isOver: some.length === all.length } satisfies Deletion
})
