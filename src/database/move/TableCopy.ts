import { createHash } from "node:crypto"
import { Array as Arr, Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { rowShape } from "../../../actors/base/database/Table.ts"
import { boundValue, type CanonicalRow, firstRows, keyText, nextRows, rowDigest, rowsAfter } from "./CanonicalRows.ts"
import { MoveRefused, sqlFailure } from "./MoveRefused.ts"
import type { TableShape } from "./TableShapes.ts"

/** SQLite binds at most 32,766 values to a statement. */
const mostValues = 30_000

/** The two databases of a move. */
export interface MovedDatabases {
  readonly from: SqlClient.SqlClient
  readonly to: SqlClient.SqlClient
}

const insertRows = Effect.fnUntraced(function* (
  to: SqlClient.SqlClient,
  table: TableShape,
  rows: ReadonlyArray<CanonicalRow>
) {
  const record = (row: CanonicalRow) =>
    Object.fromEntries(table.columns.map((column, index) => [column.name, boundValue(column, row[index] ?? null)]))
  for (const part of Arr.chunksOf(rows, Math.floor(mostValues / table.columns.length))) {
    yield* to`INSERT INTO ${to(table.name)} ${to.insert(Arr.map(part, record))}`.unprepared.pipe(
      Effect.mapError((error) => {
        const [first, last] = [part[0], part.at(-1)]
        const range =
          first === undefined || last === undefined ? "" : ` (${keyText(table, first)} to ${keyText(table, last)})`
        return new MoveRefused({ message: `Rows of ${table.name}${range} were refused: ${sqlFailure(error)}` })
      })
    )
  }
})

/** Copies all rows of a table, page by page, and returns the number of rows. */
export const copyTable = Effect.fn("copyTable")(function* ({ from, to }: MovedDatabases, table: TableShape) {
  let after: CanonicalRow | undefined
  let limit = firstRows
  let count = 0
  for (;;) {
    const rows = yield* rowsAfter(from, table, after, limit)
    yield* insertRows(to, table, rows)
    count += rows.length
    if (rows.length < limit) return count
    after = rows.at(-1)
    limit = nextRows(rows)
  }
})

/** A table that has the same rows in both databases. */
export interface ComparedTable {
  readonly table: string
  readonly rows: number
  /** Digest of the digests of all rows, in the order of the primary key. */
  readonly sha256: string
}

const Count = rowShape({ count: Schema.Int })

/**
 * Fails unless the table has this number of rows. Counts the rows with a separate query instead of relying on the pages that
 * were read.
 */
const requireCount = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, { name }: TableShape, expected: number) {
  const [row] = yield* Count.rowsOnce(sql)`SELECT COUNT(*) AS count FROM ${sql(name)}`
  if (row?.count === expected) return
  return yield* new MoveRefused({ message: `${name} has ${row?.count ?? 0} rows, of which ${expected} were compared.` })
})

/** Compares a table row by row. Fails at the first row that differs. */
export const compareTable = Effect.fn("compareTable")(function* ({ from, to }: MovedDatabases, table: TableShape) {
  const hash = createHash("sha256")
  let after: CanonicalRow | undefined
  let limit = firstRows
  let count = 0
  for (;;) {
    const rows = yield* rowsAfter(from, table, after, limit)
    const copies = yield* rowsAfter(to, table, after, limit)
    for (const [index, row] of rows.entries()) {
      const copy = copies[index]
      const digest = rowDigest(table, row)
      if (copy === undefined || rowDigest(table, copy) !== digest) {
        return yield* new MoveRefused({
          message: `The row of ${table.name} with ${keyText(table, row)} is not the same in the new database.`
        })
      }
      hash.update(digest)
    }
    const more = copies[rows.length]
    if (more !== undefined) {
      return yield* new MoveRefused({
        message: `The new database has a row of ${table.name} with ${keyText(table, more)} that the old one does not have.`
      })
    }
    count += rows.length
    if (rows.length < limit) {
      yield* requireCount(from, table, count)
      yield* requireCount(to, table, count)
      return { table: table.name, rows: count, sha256: hash.digest("hex") } satisfies ComparedTable
    }
    after = rows.at(-1)
    limit = nextRows(rows)
  }
})
