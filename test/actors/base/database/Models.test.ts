import { expect, test } from "bun:test"
import { Database } from "bun:sqlite"
import { Schema, type SchemaAST } from "effect"
import { migrations } from "../../../../src/database/Migrations.ts"
import { models, sourceFiles } from "./support/Models.ts"

interface TableColumn {
  readonly table: string
  readonly name: string
  readonly type: string
  readonly notnull: number
  readonly dflt_value: string | null
  readonly pk: number
}

const database = new Database(":memory:")
for (const statement of Object.values(migrations).flat()) database.run(statement)
const columns = database
  .query<TableColumn, []>(`SELECT t.name AS "table", c.name, c.type, c."notnull", c.dflt_value, c.pk
    FROM sqlite_schema t, pragma_table_xinfo(t.name) c WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%'`)
  .all()

const storageOf = (ast: SchemaAST.AST): ReadonlyArray<string> => {
  switch (ast._tag) {
    case "String":
      return ["TEXT"]
    case "Number":
      return ["INTEGER"]
    case "Literal":
      return [typeof ast.literal === "string" ? "TEXT" : "INTEGER"]
    case "Null":
      return ["NULL"]
    case "Declaration":
      return Schema.is(Schema.make(ast))(new Uint8Array()) ? ["BLOB"] : [ast._tag]
    case "Union":
      return [...new Set(ast.types.flatMap(storageOf))]
    default:
      return [ast._tag]
  }
}

test("every table has exactly one model", () => {
  const modelled = models.map(({ model }) => model.name).sort()
  const tables = [...new Set(columns.map(({ table }) => table))]
  expect(modelled).toEqual(tables.sort())
  // Every model must be exported, because this test cannot compare other models with their tables.
  const declared = sourceFiles.flatMap(({ text }) =>
    [...text.matchAll(/= table\(\s*"(\w+)"/g)].map((found) => found[1])
  )
  expect(declared.sort()).toEqual(modelled)
})

for (const { constant, model } of models) {
  test(`the columns of ${constant} match the table ${model.name}`, () => {
    const said = Object.entries(model.columns).map(([name, column]) => {
      const storage = storageOf(Schema.toEncoded(column).ast)
      return [name, storage.filter((kind) => kind !== "NULL").join(" "), storage.includes("NULL") ? "NULL" : "NOT NULL"]
    })
    const stored = columns
      .filter(({ table }) => table === model.name)
      .map(({ name, notnull, pk, type }) => [name, type, notnull === 1 || pk > 0 ? "NOT NULL" : "NULL"])
    expect(said.sort()).toEqual(stored.sort())
  })

  test(`inserts into ${constant} may omit columns that the database fills in`, () => {
    const filled = columns.filter(
      ({ dflt_value, name, notnull, pk, table, type }) =>
        table === model.name &&
        ((dflt_value !== null && notnull === 1) || (name === "turn" && pk === 1 && type === "INTEGER"))
    )
    expect([...model.defaults].sort()).toEqual(filled.map(({ name }) => name).sort())
  })
}
