import { expect, test } from "bun:test"
import { migrations } from "../../../src/database/Migrations.ts"

/** From this migration on, the new and the previous release can use a database at the same time during an upgrade. */
const additiveFrom = 77

const words = (statement: string) => statement.replaceAll(/\s+/g, " ").trim()

/** Returns the tables that these statements create. */
const createdBy = (statements: ReadonlyArray<string>) =>
  new Set(statements.flatMap((statement) => /^CREATE TABLE (?:IF NOT EXISTS )?(\w+)/.exec(words(statement))?.[1] ?? []))

/**
 * Returns the reason why a server of the previous release could not continue after this statement, or `undefined` if it could.
 */
const breakageOf = (
  statement: string,
  created: ReadonlySet<string>,
  statements: ReadonlyArray<string> = []
): string | undefined => {
  const text = words(statement)
  const [, replaced] = /^DROP INDEX (\w+)$/.exec(text) ?? []
  // An index without uniqueness decides only how fast the previous release reads, if one with the same name follows.
  if (replaced !== undefined && statements.some((each) => words(each).startsWith(`CREATE INDEX ${replaced} `))) {
    return undefined
  }
  const isNew = (pattern: RegExp) => created.has(pattern.exec(text)?.[1] ?? "")
  if (/^(?:CREATE TABLE|CREATE INDEX|INSERT INTO|UPDATE) /.test(text)) return undefined
  if (text.startsWith("CREATE UNIQUE INDEX ")) {
    return isNew(/ ON (\w+)/) ? undefined : "it may refuse rows that the previous release writes"
  }
  if (text.startsWith("CREATE TRIGGER "))
    return isNew(/ ON (\w+)/) ? undefined : "it runs for writes of the previous release"
  const [, column] = /^ALTER TABLE \w+ ADD COLUMN (.+)$/.exec(text) ?? []
  if (column === undefined) return "it removes, renames or changes what the previous release uses"
  if (/\bUNIQUE\b|\bCHECK\b/.test(column)) return "it may refuse rows that the previous release writes"
  return /\bNOT NULL\b/.test(column) && !/\bDEFAULT\b/.test(column)
    ? "the previous release does not write the column"
    : undefined
}

test("migrations are only additive, so the previous release is not affected", () => {
  const breaking = Object.entries(migrations).flatMap(([name, statements]) => {
    if (Number.parseInt(name, 10) < additiveFrom) return []
    const created = createdBy(statements)
    return statements.flatMap((statement) => {
      const reason = breakageOf(statement, created, statements)
      return reason === undefined ? [] : [`${name}: ${words(statement).slice(0, 80)}: ${reason}`]
    })
  })
  expect(breaking).toEqual([])
})

test("the check detects every kind of statement that would break a server of the previous release", () => {
  const created = createdBy(["CREATE TABLE added (id TEXT)"])
  const refused = [
    "DROP TABLE runs",
    "ALTER TABLE runs DROP COLUMN type",
    "ALTER TABLE runs RENAME COLUMN type TO kind",
    "ALTER TABLE runs RENAME TO jobs",
    "ALTER TABLE runs ADD COLUMN more TEXT NOT NULL",
    "ALTER TABLE runs ADD COLUMN more TEXT CHECK (more <> '')",
    "CREATE UNIQUE INDEX runs_by_type ON runs (type)",
    "CREATE TRIGGER runs_guard BEFORE UPDATE ON runs BEGIN SELECT 1; END",
    "DROP TRIGGER capsule_wait",
    "DROP INDEX runs_by_type",
    "DELETE FROM runs"
  ]
  const accepted = [
    "CREATE TABLE added (id TEXT)",
    "CREATE INDEX runs_by_type ON runs (type)",
    "CREATE UNIQUE INDEX added_by_id ON added (id)",
    "CREATE TRIGGER added_guard BEFORE UPDATE ON added BEGIN SELECT 1; END",
    "ALTER TABLE runs ADD COLUMN more TEXT",
    "ALTER TABLE runs ADD COLUMN count INTEGER NOT NULL DEFAULT 0",
    "UPDATE runs SET more = type",
    "INSERT INTO added (id) SELECT id FROM runs"
  ]
  expect(refused.filter((statement) => breakageOf(statement, created) === undefined)).toEqual([])
  expect(accepted.filter((statement) => breakageOf(statement, created) !== undefined)).toEqual([])
  const dropped = "DROP INDEX runs_by_type"
  expect(breakageOf(dropped, created, [dropped, "CREATE INDEX runs_by_type ON runs (id)"])).toBeUndefined()
  expect(breakageOf(dropped, created, [dropped, "CREATE UNIQUE INDEX runs_by_type ON runs (id)"])).toBeDefined()
})
