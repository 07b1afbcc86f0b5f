import { expect } from "bun:test"
import { Context, Effect, FileSystem, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { platform } from "../../../../src/composition/Platform.ts"
import { compareTable, copyTable } from "../../../../src/database/move/TableCopy.ts"
import { readShapes } from "../../../../src/database/move/TableShapes.ts"
import { layerWriter } from "../../../../src/database/SqliteClient.ts"
import { it } from "../../../support/Effect.ts"

const createTable = "CREATE TABLE things (kind TEXT, number INTEGER, text TEXT, bytes BLOB, PRIMARY KEY (kind, number))"

const newDatabase = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.makeTempDirectoryScoped({ prefix: "svc-move-" })
  const services = yield* Layer.build(Layer.fresh(layerWriter(`${folder}/one.sqlite`)))
  const sql = Context.get(services, SqlClient.SqlClient)
  yield* sql.unsafe(createTable)
  return sql
})

/** Fills a table with more rows than fit into a page, with large values and with keys that must be compared byte by byte. */
const filled = Effect.gen(function* () {
  const [from, to] = [yield* newDatabase, yield* newDatabase]
  for (let number = 0; number < 1200; number++) {
    const kind = ["Z", "a", "é", "\u{1f600}"][number % 4] ?? ""
    const bytes = number % 100 === 0 ? new Uint8Array(200_000).fill(number) : null
    yield* from`INSERT INTO things ${from.insert({ kind, number, text: number % 3 === 0 ? null : `text ${number}`, bytes })}`
  }
  const [table] = yield* Effect.provideService(readShapes, SqlClient.SqlClient, from)
  if (table === undefined) return yield* Effect.die("no table")
  return { from, to, table }
})

it.live("a table with many pages is copied and compared completely", () =>
  Effect.gen(function* () {
    const { from, table, to } = yield* filled
    expect(yield* copyTable({ from, to }, table)).toBe(1200)
    expect(yield* compareTable({ from, to }, table)).toMatchObject({ table: "things", rows: 1200 })
  }).pipe(Effect.provide(platform))
)

it.live("the comparison detects a changed, lost or added row, or a changed type, and reports the key of the row", () =>
  Effect.gen(function* () {
    const { from, table, to } = yield* filled
    yield* copyTable({ from, to }, table)
    const refusal = (statement: string) =>
      to
        .withTransaction(
          Effect.gen(function* () {
            yield* to.unsafe(statement)
            const error = yield* Effect.flip(compareTable({ from, to }, table))
            return yield* Effect.fail(error.message)
          })
        )
        .pipe(Effect.flip)
    expect(yield* refusal("UPDATE things SET text = 'another' WHERE number = 1001")).toBe(
      'The row of things with kind "a", number "1001" is not the same in the new database.'
    )
    expect(yield* refusal("UPDATE things SET text = '' WHERE number = 0")).toContain('number "0"')
    expect(yield* refusal("UPDATE things SET bytes = X'00' WHERE number = 100")).toContain('number "100"')
    expect(yield* refusal("DELETE FROM things WHERE number = 1199")).toContain('number "1199"')
    expect(yield* refusal("INSERT INTO things (kind, number) VALUES ('\u{1f600}', 5000)")).toContain(
      "that the old one does not have"
    )
    yield* compareTable({ from, to }, table)
  }).pipe(Effect.provide(platform))
)
