import { DatabaseSync } from "node:sqlite"
import { afterAll, expect } from "bun:test"
import { Context, Effect, Schedule } from "effect"
import { MaxOpsBeforeYield } from "effect/Scheduler"
import { SqlClient } from "effect/sql"
import { CommitCache } from "../../../actors/base/database/CommitCache.ts"
import { ReadSnapshot } from "../../../actors/base/database/ReadSnapshot.ts"
import { ReadSql } from "../../../actors/base/database/ReadSql.ts"
import { DataFolder } from "../../../src/database/DataFolder.ts"
import { testDatabase } from "../../support/Database.ts"
import { suite } from "../../support/Effect.ts"

const it = suite(testDatabase)
afterAll(it.dispose)

const table = Effect.fnUntraced(function* (name: string) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE ${sql(name)} (k TEXT PRIMARY KEY, v INTEGER)`
  yield* sql`INSERT INTO ${sql(name)} VALUES ('one', 1)`
  const read = yield* ReadSql
  const value = Effect.map(read<{ v: number }>`SELECT v FROM ${sql(name)} WHERE k = 'one'`, ([row]) => row?.v)
  return { sql, read, value }
})

/** Opens a connection as another process would. */
const another = Effect.acquireRelease(
  Effect.map(DataFolder, (folder) => new DatabaseSync(folder.databaseFile, { timeout: 5000 })),
  (database) => Effect.sync(() => database.close())
)

/** Waits for the current turn of the event loop to end. */
const nextTurn = Effect.promise(() => new Promise<void>((resolve) => setImmediate(resolve)))

it.live("reads within one turn share a snapshot until the snapshot is renewed or the turn ends", () =>
  Effect.gen(function* () {
    const { value } = yield* table("turns")
    const elsewhere = yield* another
    const snapshot = yield* ReadSnapshot
    const seen = yield* Effect.gen(function* () {
      const before = yield* value
      elsewhere.exec("UPDATE turns SET v = 2")
      const same = yield* value
      snapshot.renew()
      return [before, same, yield* value]
    })
    expect(seen).toEqual([1, 1, 2])
    elsewhere.exec("UPDATE turns SET v = 3")
    yield* nextTurn
    expect(yield* value).toBe(3)
  })
)

it.live("the next read in a turn sees a commit that this process made in the same turn", () =>
  Effect.gen(function* () {
    const { sql, value } = yield* table("own")
    expect(yield* value).toBe(1)
    yield* sql`UPDATE own SET v = 2`
    expect(yield* value).toBe(2)
    yield* sql.withTransaction(
      Effect.gen(function* () {
        yield* sql`UPDATE own SET v = 3`
        expect(yield* value).toBe(2)
      })
    )
    expect(yield* value).toBe(3)
  })
)

it.live("shared reads leave no read transaction open, so the write-ahead log can be emptied", () =>
  Effect.gen(function* () {
    const { value } = yield* table("emptied")
    const elsewhere = yield* another
    yield* value
    yield* nextTurn
    expect(elsewhere.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get()).toMatchObject({ busy: 0, log: 0 })
  })
)

it.live("reads between commits of this process do not prevent svc from emptying the write-ahead log", () =>
  Effect.gen(function* () {
    const { sql, value } = yield* table("busy")
    const elsewhere = yield* another
    // Each commit adds at least one frame to the log, and SQLite empties the log once it has 1,000 frames.
    for (let v = 0; v < 3000; v++) {
      yield* sql`UPDATE busy SET v = ${v}`
      expect(yield* value).toBe(v)
    }
    expect(Number(elsewhere.prepare("PRAGMA wal_checkpoint(PASSIVE)").get()?.["log"])).toBeLessThan(1500)
    // Simulates many requests that the server handles in one turn of the event loop.
  }).pipe(Effect.provideService(MaxOpsBeforeYield, Number.MAX_SAFE_INTEGER))
)

it.live("a failed read does not affect later reads", () =>
  Effect.gen(function* () {
    const { read, value } = yield* table("faulty")
    expect(yield* value).toBe(1)
    expect((yield* Effect.exit(read`SELECT nothing FROM nowhere`))._tag).toBe("Failure")
    expect(yield* value).toBe(1)
  })
)

/** Returns a caching finder, and a counter of the finder's reads. */
const counting = Effect.fnUntraced(function* <A, E>(find: Effect.Effect<A, E>) {
  const memory = yield* CommitCache
  let runs = 0
  const remembered = memory.untilCommit(() =>
    Effect.suspend(() => {
      runs++
      return find
    })
  )
  return { remembered, runs: () => runs }
})

it.live("any commit, by this process or another, invalidates the read cache", () =>
  Effect.gen(function* () {
    const { sql, value } = yield* table("remembered")
    yield* sql`CREATE TABLE unrelated (k INTEGER)`
    const elsewhere = yield* another
    const { remembered, runs } = yield* counting(value)
    expect([yield* remembered("one"), yield* remembered("one"), runs()]).toEqual([1, 1, 1])
    yield* nextTurn
    expect([yield* remembered("one"), runs()]).toEqual([1, 1])
    expect([yield* remembered("two"), runs()]).toEqual([1, 2])
    yield* sql`UPDATE remembered SET v = 2`
    expect([yield* remembered("one"), runs()]).toEqual([2, 3])
    yield* nextTurn
    elsewhere.exec("UPDATE remembered SET v = 3")
    expect([yield* remembered("one"), runs()]).toEqual([3, 4])
    yield* nextTurn
    elsewhere.exec("INSERT INTO unrelated VALUES (1)")
    expect([yield* remembered("one"), runs()]).toEqual([3, 5])
  })
)

it.live("a value read before a commit is not cached after that commit, however long the read took", () =>
  Effect.gen(function* () {
    const { value } = yield* table("slow")
    const elsewhere = yield* another
    const { remembered } = yield* counting(
      Effect.gen(function* () {
        const found = yield* value
        yield* nextTurn
        elsewhere.exec("UPDATE slow SET v = v + 1")
        // Another reader detects the commit while this read is in progress.
        yield* value
        return found
      })
    )
    expect(yield* remembered("one")).toBe(1)
    expect(yield* remembered("one")).toBe(2)
  })
)

it.live("the read cache stores neither failures nor missing values", () =>
  Effect.gen(function* () {
    const refused = yield* counting(Effect.fail("no"))
    yield* Effect.repeat(Effect.ignore(refused.remembered("one")), Schedule.recurs(2))
    expect(refused.runs()).toBe(3)
    const absent = yield* counting(Effect.undefined)
    yield* Effect.repeat(absent.remembered("one"), Schedule.recurs(2))
    expect(absent.runs()).toBe(3)
  })
)

it.live("the read cache stores nothing if there is no commit counter", () =>
  Effect.gen(function* () {
    const nowhere = Context.get(Context.empty(), CommitCache)
    const { remembered, runs } = yield* counting(Effect.succeed(1)).pipe(Effect.provideService(CommitCache, nowhere))
    yield* remembered("one")
    yield* remembered("one")
    expect(runs()).toBe(2)
  })
)
