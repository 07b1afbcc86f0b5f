import { describe, expect } from "bun:test"
import { closeSync, openSync, statSync, writeSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { platform } from "../../../src/composition/Platform.ts"
import { DataFolder } from "../../../src/database/DataFolder.ts"
import { lookAtPages, PageWatch, pageWatch } from "../../../src/database/PageWatch.ts"
import { readiness } from "../../../src/http/Health.ts"
import { it } from "../../support/Effect.ts"
import { temporaryFolder } from "../../support/TemporaryFolder.ts"
import { servedPerson } from "../support/ServedPerson.ts"

const pageSize = 4096

/** Creates a database with tables, indexes and overflow pages. */
const database = Effect.map(temporaryFolder, (folder) => {
  const file = `${folder}/svc.sqlite`
  const made = new DatabaseSync(file)
  made.exec(`PRAGMA journal_mode=WAL; CREATE TABLE small (id TEXT PRIMARY KEY, text TEXT); CREATE INDEX by_text ON small (text);
    CREATE TABLE large (id INTEGER PRIMARY KEY, text TEXT);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4000) INSERT INTO small SELECT 'k' || i, hex(zeroblob(30)) || i FROM n;
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30) INSERT INTO large SELECT i, hex(zeroblob(10000)) FROM n;
    PRAGMA wal_checkpoint(TRUNCATE)`)
  made.close()
  return { folder, file, pages: statSync(file).size / pageSize }
})

const spoil = (file: string, page: number) => {
  const handle = openSync(file, "r+")
  writeSync(
    handle,
    new Uint8Array(pageSize).map((_, index) => (index * 37 + 11) % 251),
    0,
    pageSize,
    (page - 1) * pageSize
  )
  closeSync(handle)
}

describe("Page checks", () => {
  it.live("the page check finds no fault in an intact file, even during a write", () =>
    Effect.gen(function* () {
      const { file } = yield* database
      const writer = new DatabaseSync(file)
      writer.exec("INSERT INTO large SELECT id + 1000, text FROM large")
      expect(yield* lookAtPages(file)).toEqual([])
      writer.close()
    })
  )

  it.live("the page check finds a damaged page even if the server still has that page in its cache", () =>
    Effect.gen(function* () {
      const { file, pages } = yield* database
      const server = new DatabaseSync(file)
      const count = () => server.prepare("SELECT COUNT(*) AS n, MAX(text) AS text FROM small").get()
      const before = count()
      spoil(file, Math.floor(pages / 3))
      const found = yield* lookAtPages(file)
      expect(found.length).toBeGreaterThan(0)
      expect(found[0]).toMatch(/^page \d+ of |damaged/)
      expect(before).toBeDefined()
      server.close()
    })
  )

  it.effect("the page check reads at most 5 MB per second", () =>
    Effect.gen(function* () {
      const { file, pages } = yield* database
      const looking = yield* Effect.forkChild(lookAtPages(file))
      let passed = 0
      while (looking.pollUnsafe() === undefined) {
        yield* TestClock.adjust("10 millis")
        yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
        passed += 10
      }
      expect(yield* Fiber.join(looking)).toEqual([])
      // Every page must belong to a tree.
      expect(passed).toBeGreaterThanOrEqual((pages * pageSize * 1000) / 5_000_000)
    })
  )

  it.live("the page check reports damage as a notice, and the server remains ready", () =>
    Effect.gen(function* () {
      const { services } = yield* servedPerson
      const fault = { message: "The database is damaged.", remedy: "Restore." }
      const look = yield* readiness.pipe(
        Effect.provideService(PageWatch, { fault: Effect.succeed(fault) }),
        Effect.provide(services)
      )
      expect(yield* look).toBe("database_damaged")
    }).pipe(Effect.scoped, Effect.provide(platform))
  )

  it.effect("the page check runs again within a day, and reports its findings", () =>
    Effect.gen(function* () {
      const { file, folder, pages } = yield* database
      const served = Layer.mock(DataFolder)({ path: folder, databaseFile: file, masterKeyFile: `${folder}/master.key` })
      const watch = yield* Layer.build(Layer.provide(pageWatch, served))
      const { fault } = yield* Effect.provide(PageWatch, watch)
      const hours = Effect.fnUntraced(function* (count: number) {
        for (let minute = 0; minute < count * 60; minute++) {
          yield* TestClock.adjust("1 minute")
          yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
        }
      })
      yield* hours(1)
      expect(yield* fault).toBeUndefined()
      spoil(file, Math.floor(pages / 3))
      yield* hours(23)
      expect((yield* fault)?.message).toContain("is damaged (")
    })
  )
})
