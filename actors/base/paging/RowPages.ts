import { Effect, type Schema } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import type { ApiError } from "../../../schema/errors/ApiError.ts"
import type { Columns, RowOf, TablePart } from "../database/Table.ts"
import type { Cursors } from "./Cursors.ts"

/** A request for a page: its size, and the opaque cursor of the previous page. */
export interface PageRequest {
  readonly limit: number
  readonly cursor?: string | undefined
  /** The subject who reads the list. Cursors of other subjects are rejected. */
  readonly subject?: string | undefined
}

/** A page of a list. `nextCursor` is absent on the last page. */
export interface Page<A> {
  readonly items: ReadonlyArray<A>
  readonly nextCursor?: string | undefined
}

/** A list of rows from one table, ordered by `created_at` and then `id` (specification, ruling 1). */
export interface RowList {
  /** The list's name in cursors. */
  readonly route: string
  readonly newestFirst: boolean
  readonly conditions: ReadonlyArray<Statement.Fragment>
  /** All filter values, in a fixed order. Binds cursors to this list. */
  readonly filter: ReadonlyArray<string | undefined>
}

type ListedColumns = Columns & {
  readonly id: Schema.Codec<string>
  readonly created_at: Schema.Codec<string>
}

const selected = new WeakMap<Columns, string>()

/** Lists the columns by name, because `*` would also read columns that the model does not contain. */
const selectedColumns = (columns: Columns): string => {
  const known = selected.get(columns)
  if (known !== undefined) return known
  const names = Object.keys(columns).join(", ")
  selected.set(columns, names)
  return names
}

/** Reads a page by keyset pagination, so that rows added between two pages cause no gaps or repetitions. */
export const pageOfRows = Effect.fnUntraced(function* <C extends ListedColumns>(
  model: TablePart<string, C>,
  sql: SqlClient.SqlClient,
  cursors: Cursors["Service"],
  list: RowList,
  page: PageRequest
): Effect.fn.Return<Page<RowOf<C>>, ApiError> {
  const binding = { route: list.route, subject: page.subject ?? "", filter: list.filter }
  const [at, id] = page.cursor === undefined ? [] : yield* cursors.decode(binding, page.cursor, 2)
  const anchor =
    at === undefined || id === undefined
      ? []
      : [list.newestFirst ? sql`(created_at, id) < (${at}, ${id})` : sql`(created_at, id) > (${at}, ${id})`]
  const order = list.newestFirst ? sql`created_at DESC, id DESC` : sql`created_at, id`
  const rows = yield* Effect.orDie(
    model.rows(sql)`SELECT ${sql.literal(selectedColumns(model.columns))} FROM ${sql(model.name)}
      WHERE ${sql.and([...list.conditions, ...anchor])} ORDER BY ${order} LIMIT ${page.limit + 1}`
  )
  const items = rows.slice(0, page.limit)
  const last = items[items.length - 1]
  if (rows.length <= page.limit || last === undefined) return { items }
  return { items, nextCursor: yield* cursors.encode(binding, [last.created_at, last.id]) }
})
