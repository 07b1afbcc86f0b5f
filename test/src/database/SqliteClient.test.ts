import { constants, DatabaseSync } from "node:sqlite"
import { afterAll, expect, spyOn } from "bun:test"
import { Deferred, Effect, Fiber, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { ReadSql } from "../../../actors/base/database/ReadSql.ts"
import { DatabaseFile } from "../../../actors/base/database/DatabaseFile.ts"
import { testDatabase } from "../../support/Database.ts"
import { suite } from "../../support/Effect.ts"

const it = suite(testDatabase)
afterAll(it.dispose)

const table = Effect.fnUntraced(function* (name: string) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE ${sql(name)} (k INTEGER PRIMARY KEY, v TEXT UNIQUE)`
  return sql
})

it.live("the SQLite client commits and rolls back transactions, and can roll back only a nested savepoint", () =>
  Effect.gen(function* () {
    const sql = yield* table("moves")
    yield* sql.withTransaction(sql`INSERT INTO moves VALUES (1, 'kept')`)
    yield* Effect.ignore(
      sql.withTransaction(Effect.andThen(sql`INSERT INTO moves VALUES (2, 'dropped')`, Effect.fail("no")))
    )
    yield* sql.withTransaction(
      Effect.gen(function* () {
        yield* sql`INSERT INTO moves VALUES (3, 'outer')`
        yield* Effect.ignore(
          sql.withTransaction(Effect.andThen(sql`INSERT INTO moves VALUES (4, 'inner')`, Effect.fail("no")))
        )
      })
    )
    expect((yield* sql<{ k: number }>`SELECT k FROM moves ORDER BY k`).map((row) => row.k)).toEqual([1, 3])
  })
)

it.live("the SQLite client prepares a join only once", () =>
  Effect.gen(function* () {
    const sql = yield* table("lefts")
    yield* table("rights")
    const prepared = spyOn(DatabaseSync.prototype, "prepare")
    const joined = (k: number) => sql`SELECT l.k, r.v FROM lefts l JOIN rights r ON r.v = l.v WHERE l.k = ${k}`
    yield* joined(1)
    const [database] = prepared.mock.contexts
    prepared.mockRestore()
    if (!(database instanceof DatabaseSync)) return yield* Effect.die("nothing was prepared")
    let consulted = 0
    // SQLite calls the authorizer for every table and column while it prepares a statement, so these calls prove that a
    // statement was prepared. When the authorizer is set, all existing statements expire once.
    database.setAuthorizer(() => {
      consulted += 1
      return constants.SQLITE_OK
    })
    yield* joined(2)
    expect(consulted).toBeGreaterThan(0)
    consulted = 0
    yield* joined(3)
    expect(consulted).toBe(0)
    database.setAuthorizer(null)
  })
)

it.live("the SQLite client reports the constraint that a duplicate violates", () =>
  Effect.gen(function* () {
    const sql = yield* table("doubles")
    yield* sql`INSERT INTO doubles VALUES (1, 'a')`
    const error = yield* Effect.flip(sql`INSERT INTO doubles VALUES (2, 'a')`)
    expect(error.reason).toMatchObject({ _tag: "UniqueViolation", constraint: "doubles.v" })
  })
)

it.live("the SQLite client keeps working after a COMMIT fails because of a deferred foreign key", () =>
  Effect.gen(function* () {
    const sql = yield* table("parents")
    yield* sql`CREATE TABLE children (p INTEGER REFERENCES parents (k) DEFERRABLE INITIALLY DEFERRED)`
    const failed = yield* Effect.exit(sql.withTransaction(sql`INSERT INTO children VALUES (99)`))
    expect(failed._tag).toBe("Failure")
    yield* sql.withTransaction(sql`INSERT INTO parents VALUES (1, 'next')`)
    expect((yield* sql`SELECT * FROM children`).length).toBe(0)
  })
)

it.live("reads do not wait for a writer, and see only committed data", () =>
  Effect.gen(function* () {
    const sql = yield* table("seen")
    const read = yield* ReadSql
    const written = yield* Deferred.make<void>()
    const finish = yield* Deferred.make<void>()
    const writer = yield* Effect.forkChild(
      sql.withTransaction(
        Effect.gen(function* () {
          yield* sql`INSERT INTO seen VALUES (1, 'a')`
          yield* Deferred.succeed(written, undefined)
          yield* Deferred.await(finish)
        })
      )
    )
    yield* Deferred.await(written)
    expect((yield* read`SELECT * FROM seen`).length).toBe(0)
    yield* Deferred.succeed(finish, undefined)
    yield* Fiber.join(writer)
    expect((yield* read`SELECT * FROM seen`).length).toBe(1)
  })
)

it.live("the SQLite client's read connections cannot write", () =>
  Effect.gen(function* () {
    yield* table("guarded")
    const read = yield* ReadSql
    const error = yield* Effect.flip(read`INSERT INTO guarded VALUES (1, 'a')`)
    expect(error._tag).toBe("SqlError")
  })
)

it.live("a read transaction sees one snapshot while writes and other reads continue", () =>
  Effect.gen(function* () {
    const sql = yield* table("moments")
    const read = yield* ReadSql
    yield* read.withTransaction(
      Effect.gen(function* () {
        expect((yield* read`SELECT * FROM moments`).length).toBe(0)
        yield* sql`INSERT INTO moments VALUES (1, 'a')`
        expect((yield* read`SELECT * FROM moments`).length).toBe(0)
      })
    )
    expect((yield* read`SELECT * FROM moments`).length).toBe(1)
    // A failed read returns its connection to the pool, so the test makes more failures than there are connections.
    for (let n = 0; n < 40; n++) {
      yield* Effect.ignore(read.withTransaction(Effect.andThen(read`SELECT * FROM moments`, Effect.fail("no"))))
    }
    expect((yield* read.withTransaction(read`SELECT * FROM moments`)).length).toBe(1)
  })
)

it.live("a stream can return more rows than one chunk, can stop early, and does not block other reads", () =>
  Effect.gen(function* () {
    const sql = yield* table("many")
    yield* sql`WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n WHERE k < 1000) INSERT INTO many SELECT k, 'v' || k FROM n`
    const read = yield* ReadSql
    const all = read<{ k: number }>`SELECT k FROM many ORDER BY k`.stream
    expect((yield* Stream.runCollect(all)).map((row) => row.k)).toEqual(Array.from({ length: 1000 }, (_, n) => n + 1))
    expect((yield* Stream.runCollect(Stream.take(all, 3))).length).toBe(3)
    const inside = yield* Stream.runCollect(
      Stream.take(all, 2).pipe(
        Stream.mapEffect(() => read`SELECT COUNT(*) FROM many`),
        Stream.rechunk(1)
      )
    )
    expect(inside.length).toBe(2)
    // A write succeeds while readers are in the middle of a result.
    yield* sql`DELETE FROM many`
  })
)

it.live("integers beyond 2^53 cause an error, or are returned as bigints on request", () =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const big = sql<{ n: bigint }>`SELECT 9007199254740993 AS n`
    expect((yield* Effect.flip(big))._tag).toBe("SqlError")
    expect((yield* Effect.provideService(big, SqlClient.SafeIntegers, true))[0]?.n).toBe(9007199254740993n)
  })
)

it.live("the SQLite client distinguishes columns with the same name, and accepts every binding type", () =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    expect(yield* sql`SELECT 1 AS a, 2 AS a`.values).toEqual([[1, 2]])
    const rows = yield* sql`SELECT ${true} AS t, ${null} AS n, ${"é"} AS s, ${new Uint8Array([1, 2])} AS b, ${1.5} AS f`
    expect(rows[0]).toMatchObject({ t: 1, n: null, s: "é", b: new Uint8Array([1, 2]), f: 1.5 })
  })
)

it.live("an after-commit callback runs once, and never runs after a rollback", () =>
  Effect.gen(function* () {
    const sql = yield* table("calls")
    const seen: Array<string> = []
    const note = (text: string) => sql.afterCommit(Effect.sync(() => void seen.push(text)))
    yield* sql.withTransaction(Effect.andThen(note("kept"), sql`INSERT INTO calls VALUES (1, 'x')`))
    yield* Effect.ignore(sql.withTransaction(Effect.andThen(note("dropped"), Effect.fail("no"))))
    expect(seen).toEqual(["kept"])
  })
)

it.live("the SQLite client syncs commits to disk and overwrites deleted data", () =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    expect((yield* sql`PRAGMA journal_mode`)[0]).toMatchObject({ journal_mode: "wal" })
    expect((yield* sql`PRAGMA synchronous`)[0]).toMatchObject({ synchronous: 2 })
    expect((yield* sql`PRAGMA foreign_keys`)[0]).toMatchObject({ foreign_keys: 1 })
    expect((yield* sql`PRAGMA secure_delete`)[0]).toMatchObject({ secure_delete: 1 })
    const databaseFile = yield* DatabaseFile
    expect(yield* databaseFile.integrityCheck).toEqual([])
    expect(yield* databaseFile.checkpoint).toBe(true)
  })
)

it.live("a checkpoint empties the log without waiting for readers, and waits for writers", () =>
  Effect.gen(function* () {
    const sql = yield* table("read")
    const databaseFile = yield* DatabaseFile
    const [main] = yield* sql<{ file: string }>`PRAGMA database_list`
    const other = new DatabaseSync(main?.file ?? "", { readOnly: true })
    yield* Effect.addFinalizer(() => Effect.sync(() => other.close()))
    other.exec("BEGIN")
    other.prepare("SELECT * FROM read").all()
    yield* sql`INSERT INTO read VALUES (1, 'a')`
    expect(yield* databaseFile.checkpoint).toBe(false)
    expect((yield* sql`PRAGMA busy_timeout`)[0]).toMatchObject({ timeout: 5000 })
    other.exec("COMMIT")
    expect(yield* databaseFile.checkpoint).toBe(true)
  })
)
