import { Context, Effect, Layer, Metric, Ref, Schema, Stream } from "effect"
import { SqlClient, SqlError } from "effect/sql"
import { ReadSql } from "../../actors/base/database/ReadSql.ts"
import { rowShape } from "../../actors/base/database/Table.ts"
import { damage, namingDamage } from "./DatabaseCheck.ts"
import { DataFolder } from "./DataFolder.ts"
import { layerReader } from "./SqliteClient.ts"
import { faultText, type StartFault } from "./StartFault.ts"

const damagedPages = Metric.gauge("svc_database_damaged_pages", {
  description: "Damaged pages that the last background check of the database found."
})

/**
 * Reports the damage that the running server found in the pages of its database. Reports nothing if a host application
 * provides the database.
 */
export const PageWatch = Context.Reference<{ readonly fault: Effect.Effect<StartFault | undefined> }>(
  "svc/src/database/PageWatch",
  { defaultValue: () => ({ fault: Effect.undefined }) }
)

/** Maximum number of bytes that a pass reads per second. */
const bytesPerSecond = 5_000_000
// Interval between passes. At the maximum rate, a pass over 200 GiB takes 12 hours, so each page is read at least once a day.
const passEvery = "12 hours"
const firstPassAfter = "5 minutes"
const mostNamed = 5

const TreeName = rowShape({ name: Schema.String })
const PageSize = rowShape({ page_size: Schema.Int })
const PageCount = rowShape({ page_count: Schema.Int })

/** Pages of a tree, decoded by SQLite's own `dbstat`. */
const decodePages = Schema.decodeUnknownEffect(
  Schema.Array(Schema.Struct({ pageno: Schema.Int, pagetype: Schema.String }))
)

/**
 * Reads every page of every table and index through a separate connection, whose cache is empty, and returns the damaged
 * pages. Reads one tree at a time, because a long read would prevent the server from checkpointing its log.
 */
const findDamagedPages = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const found: Array<string> = []
  const size = (yield* PageSize.rowsOnce(sql)`PRAGMA page_size`)[0]?.page_size ?? 4096
  const trees = yield* TreeName.rowsOnce(sql)`SELECT name FROM sqlite_schema WHERE rootpage > 0
    UNION ALL SELECT 'sqlite_schema' ORDER BY name`
  const pages = Effect.map(PageCount.rowsOnce(sql)`PRAGMA page_count`, (rows) => rows[0]?.page_count ?? 0)
  for (const { name } of trees) {
    const tree = sql.literal(`'${name.replaceAll("'", "''")}'`)
    yield* sql`SELECT pageno, pagetype FROM dbstat WHERE name = ${tree}`.stream.pipe(
      Stream.runForEachArray((chunk) =>
        Effect.gen(function* () {
          const last = yield* pages
          for (const { pageno, pagetype } of yield* Effect.orDie(decodePages(chunk))) {
            if (pagetype === "corrupted" || pageno > last) found.push(`page ${pageno} of ${name}`)
          }
          yield* Effect.sleep(Math.ceil((chunk.length * size * 1000) / bytesPerSecond))
        })
      )
    )
  }
  return found
})

/** Makes one pass over a database file and returns its damaged pages. */
export const lookAtPages = Effect.fn("lookAtPages")((file: string) =>
  findDamagedPages.pipe(
    Effect.provide(Layer.effect(SqlClient.SqlClient, ReadSql).pipe(Layer.provide(layerReader(file))), { local: true }),
    Effect.mapError(namingDamage(file)),
    Effect.catchTag("DatabaseDamaged", ({ message }) => Effect.succeed([message]))
  )
)

/** Checks the database's pages in the background, twice a day. */
export const pageWatch = Layer.effect(
  PageWatch,
  Effect.gen(function* () {
    const { databaseFile } = yield* DataFolder
    const fault = yield* Ref.make<StartFault | undefined>(undefined)
    yield* Metric.update(damagedPages, 0)
    const pass = Effect.gen(function* () {
      const found = yield* lookAtPages(databaseFile)
      const more = found.length > mostNamed ? ` and ${found.length - mostNamed} more` : ""
      const next =
        found.length === 0 ? undefined : damage(databaseFile, `${found.slice(0, mostNamed).join("; ")}${more}`)
      yield* Metric.update(damagedPages, found.length)
      if (next !== undefined) yield* Effect.logError(faultText(next))
      yield* Ref.set(fault, next)
    }).pipe(
      Effect.catchIf(SqlError.isSqlError, (error) =>
        Effect.logWarning(`The pages of the database could not be checked: ${error.message}`)
      )
    )
    yield* Effect.sleep(firstPassAfter).pipe(
      Effect.andThen(Effect.forever(Effect.andThen(pass, Effect.sleep(passEvery)))),
      Effect.forkScoped
    )
    return { fault: Ref.get(fault) }
  })
)
