import { describe, expect, test } from "bun:test"
import { foldColumns } from "../../../src/database/FoldedColumns.ts"
import { migrations } from "../../../src/database/Migrations.ts"

// Tests only how columns are folded; `Migrations.test.ts` compares the tables of new and migrated databases.
describe("New databases", () => {
  test("a new database creates every column with its table", () => {
    const folded = foldColumns(migrations)
    expect(Object.keys(folded)).toEqual(Object.keys(migrations))
    expect(
      Object.values(folded)
        .flat()
        .filter((statement) => statement.includes("ADD COLUMN"))
    ).toEqual([])
  })

  test("columns added later follow the original columns and precede the constraints of the table", () => {
    expect(
      foldColumns({
        "0001_first": ["CREATE TABLE a (x TEXT CHECK (x <> '(,'), y TEXT, PRIMARY KEY (x, y)) WITHOUT ROWID"],
        "0002_second": ["ALTER TABLE a ADD COLUMN z INTEGER DEFAULT 1", "CREATE INDEX a_by_z ON a (z)"],
        "0003_third": ["ALTER TABLE a ADD COLUMN v TEXT\n"]
      })
    ).toEqual({
      "0001_first": [
        "CREATE TABLE a (x TEXT CHECK (x <> '(,'), y TEXT, z INTEGER DEFAULT 1, v TEXT, PRIMARY KEY (x, y)) WITHOUT ROWID"
      ],
      "0002_second": ["CREATE INDEX a_by_z ON a (z)"],
      "0003_third": []
    })
  })

  test("columns are added in separate statements if a table is created twice or by another component", () => {
    const steps = {
      "0001_first": ["CREATE TABLE a (x TEXT)", "ALTER TABLE a ADD COLUMN y TEXT", "DROP TABLE a"],
      "0002_second": ["CREATE TABLE a (x TEXT)", "ALTER TABLE b ADD COLUMN y TEXT"]
    }
    expect(foldColumns(steps)).toEqual(steps)
  })
})
