import { Array as Arr, Effect } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"

/** Maximum number of values that one statement binds. SQLite accepts 32,766, and PostgreSQL 65,535. */
const mostValues = 30_000

const widthOf = (row: unknown) => (typeof row === "object" && row !== null ? Math.max(1, Object.keys(row).length) : 1)

/**
 * Runs a statement for all rows, in as few batches as the limit on bound values permits. A separate statement for each row
 * would hold the write lock for one round trip per row. Does nothing if there are no rows.
 *
 * @example yield* inParts(rows, (some) => sql`INSERT INTO ${sql(table)} ${Row.several(sql, some)}`)
 */
export const inParts = <A, B>(
  rows: ReadonlyArray<A>,
  statement: (some: Arr.NonEmptyReadonlyArray<A>) => Statement.Statement<B>
): Effect.Effect<void, SqlError> => {
  if (!Arr.isReadonlyArrayNonEmpty(rows)) return Effect.void
  const atOnce = Math.max(1, Math.floor(mostValues / widthOf(rows[0])))
  return Effect.forEach(
    Arr.chunksOf(rows, atOnce),
    (some) => {
      const prepared = statement(some)
      // The statement is not cached, because a statement for several rows is long and its text rarely repeats.
      return some.length === 1 ? prepared : prepared.unprepared
    },
    { discard: true }
  )
}

/**
 * Returns a `VALUES` list of these rows, for comparing several columns or for `UPDATE ... FROM`. The columns are named
 * `column1`, `column2` and so on. Values are text; numbers need a `CAST`.
 */
export const valuesOf = (
  sql: SqlClient.SqlClient,
  rows: Arr.NonEmptyReadonlyArray<ReadonlyArray<string | number | null>>
): Statement.Fragment => sql`VALUES ${sql.csv(rows.map((row) => sql`(${sql.csv(row.map((value) => sql`${value}`))})`))}`
