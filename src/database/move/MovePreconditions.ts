import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { rowShape } from "../../../actors/base/database/Table.ts"
import { newestKnown } from "../Migrations.ts"
import { recordedVersion } from "./MoveMarks.ts"
import { MoveRefused } from "./MoveRefused.ts"
import type { MovedDatabases } from "./TableCopy.ts"
import { differingTables, readShapes, type TableShape } from "./TableShapes.ts"
import { type UnstorableValue, unstorableValues } from "./UnstorableValues.ts"

/** Raised if PostgreSQL cannot store some values of the database. Nothing was moved. */
export class ValuesUnstorable extends Schema.TaggedError<ValuesUnstorable>()("ValuesUnstorable", {
  message: Schema.String,
  values: Schema.Array(
    Schema.Struct({
      table: Schema.String,
      column: Schema.String,
      key: Schema.Record(Schema.String, Schema.NullOr(Schema.String)),
      problem: Schema.String
    })
  )
}) {}

const on = <A, E, R>(sql: SqlClient.SqlClient, effect: Effect.Effect<A, E, R>) =>
  Effect.provideService(effect, SqlClient.SqlClient, sql)

/** Returns the tables of the two databases. Fails unless both databases have exactly the tables of this release. */
export const sameTables = Effect.fn("sameTables")(function* ({ from, to }: MovedDatabases) {
  const version = yield* on(from, recordedVersion)
  if (version !== newestKnown) {
    return yield* new MoveRefused({
      message: `The database has the tables of version ${version ?? 0}, and this release has version ${newestKnown}. Start a server of this release on the database once, and repeat the move.`
    })
  }
  const tables = yield* on(from, readShapes)
  const differing = differingTables(tables, yield* on(to, readShapes))
  if ((yield* on(to, recordedVersion)) !== version || differing.length > 0) {
    return yield* new MoveRefused({
      message: `The new database has other tables (${differing.join(", ") || "of another version"}). Create an empty database.`
    })
  }
  return tables
})

const Count = rowShape({ count: Schema.Int })
const Started = rowShape({ incarnation: Schema.Int })

/** Tables into which a migration inserts a row. */
const seeded: ReadonlySet<string> = new Set(["installation", "authority_changes"])

/** Fails if the database contains rows, or if a server has used it. */
export const requireEmpty = Effect.fn("requireEmpty")(function* (
  sql: SqlClient.SqlClient,
  tables: ReadonlyArray<TableShape>
) {
  const used = new MoveRefused({ message: "The new database belongs to an installation. Create an empty database." })
  const [server] = yield* Started.rowsOnce(sql)`SELECT incarnation FROM installation`
  if (server !== undefined && server.incarnation > 0) return yield* used
  for (const { name } of tables.filter((table) => !seeded.has(table.name))) {
    const [row] = yield* Count.rowsOnce(sql)`SELECT COUNT(*) AS count FROM ${sql(name)}`
    if (row !== undefined && row.count > 0) return yield* used
  }
})

/** Fails if an SQLite database contains values that PostgreSQL cannot store, and lists all of them. */
export const checkValues = Effect.fn("checkValues")(function* (
  sql: SqlClient.SqlClient,
  tables: ReadonlyArray<TableShape>
) {
  const found: Array<UnstorableValue> = []
  for (const table of tables) {
    const values = yield* unstorableValues(sql, table)
    found.push(...values)
  }
  if (found.length === 0) return
  return yield* new ValuesUnstorable({
    message: `PostgreSQL cannot hold ${found.length === 1 ? "a value" : `${found.length} values`} of the database. Change or remove what is listed, and repeat the move. Nothing was moved.`,
    values: found
  })
})
