import { DatabaseSync } from "node:sqlite"
import { expect, test } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { DatabaseFile } from "../../../../actors/base/database/DatabaseFile.ts"
import { pagesToRelease, releaseEmptyPages } from "../../../../actors/base/database/EmptyPages.ts"
import { layerWriter } from "../../../../src/database/SqliteClient.ts"
import { it } from "../../../support/Effect.ts"
import { temporaryFolder } from "../../../support/TemporaryFolder.ts"

const cases = [
  ["nothing is empty", 100_000, 0, 0],
  ["a tenth stays for what is written next", 100_000, 10_000, 0],
  ["a little more than a tenth", 100_000, 10_003, 3],
  ["much more, in small steps", 100_000, 90_000, 64],
  ["a small file keeps its pages", 2000, 1000, 0],
  ["a small file that was larger", 2000, 1030, 6]
] as const

for (const [what, total, empty, expected] of cases) {
  test(`${what}: ${expected}`, () => expect(pagesToRelease({ total, empty })).toBe(expected))
}

const blob = "x".repeat(4000)

/** Writes and then removes about 20 MB of rows. */
const grownAndEmptied = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE grown (k INTEGER PRIMARY KEY, v TEXT)`
  yield* sql`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
    INSERT INTO grown SELECT i, ${blob} FROM n`
  yield* sql`DELETE FROM grown WHERE k < 4999`
})

const settled = Effect.gen(function* () {
  const file = yield* DatabaseFile
  // Releases empty pages three times, because each call releases only some of them.
  for (let turn = 0; turn < 3; turn++) yield* releaseEmptyPages
  return yield* file.pages
})

it.live(
  "a new database file shrinks to a minimum of empty pages after rows are removed, without losing other rows",
  () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      yield* Effect.gen(function* () {
        yield* grownAndEmptied
        const file = yield* DatabaseFile
        expect((yield* file.pages).total).toBeGreaterThan(4000)
        const { empty, total } = yield* settled
        expect(empty).toBe(1024)
        expect(total).toBeLessThan(1100)
        const sql = yield* SqlClient.SqlClient
        expect(yield* sql`SELECT k, LENGTH(v) AS size FROM grown ORDER BY k`).toEqual([
          { k: 4999, size: 4000 },
          { k: 5000, size: 4000 }
        ])
        expect(yield* file.integrityCheck).toEqual([])
      }).pipe(Effect.provide(layerWriter(`${folder}/new.sqlite`)))
    })
)

it.live("a database file from an earlier release keeps its size until it is rebuilt", () =>
  Effect.gen(function* () {
    const folder = yield* temporaryFolder
    const path = `${folder}/old.sqlite`
    yield* Effect.sync(() => {
      const old = new DatabaseSync(path)
      old.exec("PRAGMA journal_mode=WAL; CREATE TABLE kept (k INTEGER)")
      old.close()
    })
    yield* Effect.gen(function* () {
      yield* grownAndEmptied
      const file = yield* DatabaseFile
      const before = (yield* file.pages).total
      expect((yield* settled).total).toBe(before)
      yield* file.rebuild
      expect((yield* file.pages).total).toBeLessThan(20)
      const sql = yield* SqlClient.SqlClient
      yield* sql`DROP TABLE grown`
      yield* grownAndEmptied
      expect((yield* settled).total).toBeLessThan(1100)
      expect(yield* file.integrityCheck).toEqual([])
    }).pipe(Effect.provide(layerWriter(path)))
  })
)
