import { DatabaseSync } from "node:sqlite"
import { expect } from "bun:test"
import { Effect } from "effect"
import { SqliteConnection } from "../../../src/database/SqliteConnection.ts"
import { it } from "../../support/Effect.ts"

/** Counts how often each statement is compiled. */
class CountingDatabase extends DatabaseSync {
  readonly compiled = new Map<string, number>()
  override prepare(sql: string) {
    this.compiled.set(sql, (this.compiled.get(sql) ?? 0) + 1)
    return super.prepare(sql)
  }
}

it.effect("the statement cache evicts the least recently used statements, but never a statement in use", () =>
  Effect.gen(function* () {
    const database = yield* Effect.acquireRelease(
      Effect.sync(() => new CountingDatabase(":memory:")),
      (open) => Effect.sync(() => open.close())
    )
    const connection = new SqliteConnection(database)
    const rows = (sql: string) => connection.execute(sql, [], undefined)
    for (let other = 0; other < 1000; other++) {
      expect(yield* rows("SELECT 'hot' AS text")).toEqual([{ text: "hot" }])
      expect(yield* rows(`SELECT ${other} AS number`)).toEqual([{ number: other }])
    }
    expect(database.compiled.get("SELECT 'hot' AS text")).toBe(1)
    yield* rows("SELECT 999 AS number")
    expect(database.compiled.get("SELECT 999 AS number")).toBe(1)
    yield* rows("SELECT 0 AS number")
    expect(database.compiled.get("SELECT 0 AS number")).toBe(2)
  })
)
