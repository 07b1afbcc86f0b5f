import { describe, expect } from "bun:test"
import { NodeServices } from "@effect/platform-node"
import * as PgConnection from "@effect/sql-pg/PgConnection"
import { Context, Deferred, Effect, Exit, Fiber, FileSystem, Layer, type Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { CommitCache } from "../../../../actors/base/database/CommitCache.ts"
import { Commits } from "../../../../actors/base/database/Commits.ts"
import { DatabaseFile } from "../../../../actors/base/database/DatabaseFile.ts"
import { ReadSql } from "../../../../actors/base/database/ReadSql.ts"
import { rowShape } from "../../../../actors/base/database/Table.ts"
import { withoutWriteLock } from "../../../../actors/base/database/WriteLock.ts"
import { DataFolder } from "../../../../src/database/DataFolder.ts"
import { newestKnown } from "../../../../src/database/Migrations.ts"
import { layerClients } from "../../../../src/database/postgres/PostgresClient.ts"
import * as PostgresDatabase from "../../../../src/database/postgres/PostgresDatabase.ts"
import { version } from "../../../../src/Version.ts"
import { it } from "../../../support/Effect.ts"
import { eventually } from "../../../support/Eventually.ts"
import { emptyDatabase, hasPostgres, migratedDatabase } from "../../../support/PostgresTests.ts"

const Comment = rowShape({ text: Schema.NullOr(Schema.String) })
const Count = rowShape({ count: Schema.Int })

const served = (url: Redacted.Redacted) =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const folder = yield* files.makeTempDirectoryScoped({ prefix: "svc-test-" })
    return yield* Layer.build(PostgresDatabase.layer(url).pipe(Layer.provide(DataFolder.layer(folder))))
  }).pipe(Effect.provide(NodeServices.layer))

const clients = (url: Redacted.Redacted) => Layer.build(layerClients(url, { exclusive: false, listens: false }))

describe.skipIf(!hasPostgres)("PostgreSQL database", () => {
  it.live(
    "three processes can migrate an empty database at once, which creates the tables and the installation once",
    () =>
      Effect.gen(function* () {
        const url = yield* emptyDatabase()
        yield* Effect.all(
          [1, 2, 3].map(() => PostgresDatabase.migratePostgres(url)),
          { concurrency: 3 }
        )
        const sql = Context.get(yield* clients(url), SqlClient.SqlClient)
        expect(yield* Count.rows(sql)`SELECT COUNT(*) AS count FROM installation`).toEqual([{ count: 1 }])
        yield* PostgresDatabase.migratePostgres(url)
      })
  )

  it.live(
    "several servers can share a database, but not with a server of a release that supports only one server",
    () =>
      Effect.gen(function* () {
        const url = yield* migratedDatabase
        yield* Effect.scoped(Effect.andThen(served(url), served(url)))
        const refused = yield* Effect.scoped(
          Effect.gen(function* () {
            const earlier = yield* PgConnection.make({ url })
            yield* earlier.query("SELECT pg_advisory_lock(7598805541312070002)", [], false)
            return yield* Effect.exit(Effect.scoped(served(url)))
          })
        )
        expect(String(refused)).toContain("A server of an earlier release or svc move uses this database alone.")
        yield* served(url)
      })
  )

  it.live(
    "svc refuses a database that does not sort text by bytes, and prints the statement that creates a suitable database",
    () =>
      Effect.gen(function* () {
        const url = yield* emptyDatabase("TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en' LOCALE 'C'")
        const exit = yield* Effect.exit(PostgresDatabase.migratePostgres(url))
        expect(String(exit)).toContain("CREATE DATABASE svc TEMPLATE template0")
      })
  )

  it.live("PostgreSQL returns integers, sums, booleans and bytes as SQLite does, and svc refuses to store U+0000", () =>
    Effect.gen(function* () {
      const url = yield* migratedDatabase
      const sql = Context.get(yield* clients(url), SqlClient.SqlClient)
      yield* sql`CREATE TABLE kinds (id BIGINT, text TEXT, bytes BYTEA)`
      yield* sql`INSERT INTO kinds ${sql.insert({ id: Number.MAX_SAFE_INTEGER, text: "é", bytes: new Uint8Array([0, 1]) })}`
      expect(
        yield* sql`SELECT id, text, bytes, SUM(id) OVER () AS sum, id > 1 AS large, COUNT(*) OVER () AS count FROM kinds`
      ).toEqual([
        {
          id: Number.MAX_SAFE_INTEGER,
          text: "é",
          bytes: new Uint8Array([0, 1]),
          sum: Number.MAX_SAFE_INTEGER,
          large: 1,
          count: 1
        }
      ])
      const nul = yield* Effect.exit(sql`INSERT INTO kinds ${sql.insert({ id: 1, text: "a\u0000b" })}`)
      expect(String(nul)).toContain("U+0000")
      // A search for such a text finds nothing, as in SQLite.
      expect(yield* sql`SELECT id FROM kinds WHERE text = ${"é\u0000"} OR text LIKE ${"%\u0000%"}`).toEqual([])
      // PostgreSQL stores an escaped U+0000 in JSON without losing the rest of the document.
      const document = JSON.stringify({ a: "x\u0000", b: { c: "found" } })
      expect(yield* sql`SELECT json_extract(${document}, '$.b.c') AS c`).toEqual([{ c: "found" }])
    })
  )

  it.live("a write is announced after its commit, but a read or a failed transaction is not", () =>
    Effect.gen(function* () {
      const services = yield* clients(yield* migratedDatabase)
      const sql = Context.get(services, SqlClient.SqlClient)
      const read = Context.get(services, ReadSql)
      const seen: Array<number> = []
      const counted = Effect.map(Count.rows(read)`SELECT incarnation AS count FROM installation`, ([row]) => row?.count)
      let commits = 0
      Context.get(services, Commits).listen(() => commits++)
      yield* sql.withTransaction(sql`SELECT 1`)
      yield* Effect.exit(
        sql.withTransaction(Effect.andThen(sql`UPDATE installation SET incarnation = 7`, Effect.fail("no")))
      )
      expect(commits).toBe(0)
      yield* sql.withTransaction(
        Effect.gen(function* () {
          yield* sql`UPDATE installation SET incarnation = 8`
          // A failed nested transaction does not affect the outer transaction.
          yield* Effect.exit(
            sql.withTransaction(Effect.andThen(sql`UPDATE installation SET incarnation = 9`, Effect.fail("no")))
          )
          expect(commits).toBe(0)
          seen.push((yield* counted) ?? -1)
        })
      )
      expect(commits).toBe(1)
      expect([...seen, yield* counted]).toEqual([0, 8])
      yield* sql`UPDATE installation SET incarnation = 10`
      expect(commits).toBe(2)
      expect(yield* counted).toBe(10)
    })
  )

  it.live("a server goes on with its transactions when a later release adds a column to a table", () =>
    Effect.gen(function* () {
      const url = yield* migratedDatabase
      const services = yield* Layer.build(layerClients(url, { exclusive: false, listens: true }))
      const sql = Context.get(services, SqlClient.SqlClient)
      const transactions = [sql, Context.get(services, ReadSql)].map((client) =>
        client.withTransaction(Effect.andThen(client`SELECT 1 AS one`, client`SELECT * FROM installation`))
      )
      for (const transaction of transactions) yield* transaction
      const later = Context.get(yield* clients(url), SqlClient.SqlClient)
      const waiting = later`SELECT 1 AS one FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock' AND wait_event = 'advisory'`
      // This transaction waits for the lock while the tables change.
      const behind = yield* later.withTransaction(
        Effect.gen(function* () {
          const fiber = yield* Effect.forkScoped(transactions[0] ?? Effect.die("There is no transaction"))
          yield* eventually(waiting, ({ length }) => length > 0)
          yield* later`ALTER TABLE installation ADD COLUMN of_later_release TEXT`
          yield* later`INSERT INTO svc_migrations (migration_id, name) VALUES (9000, 'later')`
          return fiber
        })
      )
      expect(yield* Fiber.join(behind)).toMatchObject([{ of_later_release: null }])
      for (const transaction of transactions) {
        expect(yield* transaction).toMatchObject([{ of_later_release: null }])
      }
    })
  )

  it.live(
    "a server that only reads goes on with its read transactions when a later release adds a column to a table",
    () =>
      Effect.gen(function* () {
        const url = yield* migratedDatabase
        const services = yield* Layer.build(layerClients(url, { exclusive: false, listens: true }))
        const read = Context.get(services, ReadSql)
        const transaction = read.withTransaction(
          Effect.andThen(read`SELECT 1 AS one`, read`SELECT * FROM installation`)
        )
        for (let times = 0; times < 3; times++) yield* transaction
        const later = Context.get(yield* clients(url), SqlClient.SqlClient)
        yield* later.withTransaction(
          Effect.andThen(
            later`ALTER TABLE installation ADD COLUMN of_later_release TEXT`,
            later`INSERT INTO svc_migrations (migration_id, name) VALUES (9000, 'later')`
          )
        )
        // The announcements arrive in the order of their commits.
        const heard = yield* Deferred.make<void>()
        Context.get(services, Commits).listen(() => Deferred.doneUnsafe(heard, Effect.void))
        const another = Context.get(
          yield* Layer.build(layerClients(url, { exclusive: false, listens: true })),
          SqlClient.SqlClient
        )
        yield* another`UPDATE installation SET incarnation = 3`
        yield* Deferred.await(heard)
        expect(yield* transaction).toMatchObject([{ of_later_release: null }])
      })
  )

  it.live("a server writes nothing while svc move uses the database alone, not even without the write lock", () =>
    Effect.gen(function* () {
      const url = yield* migratedDatabase
      const moving = Context.get(
        yield* Layer.build(layerClients(url, { exclusive: true, listens: false })),
        SqlClient.SqlClient
      )
      yield* moving.withTransaction(moving`SELECT 1 AS one`)
      const thawed = Context.get(
        yield* Layer.build(layerClients(url, { exclusive: false, listens: true })),
        SqlClient.SqlClient
      )
      const write = thawed`UPDATE installation SET incarnation = 9`
      for (const attempt of [write, withoutWriteLock(write), withoutWriteLock(thawed.withTransaction(write))]) {
        expect(String(yield* Effect.exit(attempt))).toContain("svc move uses this database alone")
      }
      expect(yield* Count.rows(moving)`SELECT incarnation AS count FROM installation`).toEqual([{ count: 0 }])
    })
  )

  it.live("a server of the earlier release that starts during an upgrade does not put its functions back", () =>
    Effect.gen(function* () {
      const url = yield* migratedDatabase
      const sql = Context.get(yield* clients(url), SqlClient.SqlClient)
      yield* sql.unsafe(`INSERT INTO svc_migrations (migration_id, name) VALUES (${newestKnown + 1}, 'later')`)
      yield* sql.unsafe("COMMENT ON FUNCTION svc_json(text) IS 'of a later release'")
      yield* Effect.exit(PostgresDatabase.migratePostgres(url))
      const [function_] = yield* Comment.rows(
        sql
      )`SELECT obj_description(to_regprocedure('svc_json(text)'), 'pg_proc') AS text`
      expect(function_?.text).toBe("of a later release")
    })
  )

  it.live("a cached value is dropped when another server commits", () =>
    Effect.gen(function* () {
      const url = yield* migratedDatabase
      const one = yield* clients(url)
      const other = Context.get(yield* clients(url), SqlClient.SqlClient)
      let reads = 0
      const find = Context.get(one, CommitCache).untilCommit(() =>
        Effect.suspend(() => {
          reads++
          return Count.rows(Context.get(one, ReadSql))`SELECT incarnation AS count FROM installation`
        })
      )
      // Commits to other databases on the same PostgreSQL server clear the cache too, so a value is not always cached.
      const asked = 100
      for (let times = 0; times < asked; times++) expect(yield* find("a")).toEqual([{ count: 0 }])
      expect(reads).toBeLessThan(asked)
      yield* other`UPDATE installation SET incarnation = 5`
      expect(yield* find("a")).toEqual([{ count: 5 }])
    })
  )

  it.live(
    "a server starts on the tables of the next minor release, and refuses tables of a later release with an explanation",
    () =>
      Effect.gen(function* () {
        const url = yield* migratedDatabase
        const [major, minor] = version.split(".").map(Number)
        const next = `${major}.${(minor ?? 0) + 1}.0`
        const later = `${major}.${(minor ?? 0) + 2}.0`
        const migratedBy = (release: string) =>
          Effect.scoped(
            Effect.gen(function* () {
              const sql = Context.get(yield* clients(url), SqlClient.SqlClient)
              yield* sql`UPDATE installation SET release = ${release}`
            })
          )
        const started = Effect.exit(Effect.scoped(served(url)))
        const sql = Context.get(yield* clients(url), SqlClient.SqlClient)
        yield* sql`INSERT INTO svc_migrations (migration_id, name) VALUES (999, 'later')`
        yield* sql`ALTER TABLE installation ADD COLUMN later BIGINT NOT NULL DEFAULT 0`
        yield* migratedBy(next)
        expect(Exit.isSuccess(yield* started)).toBe(true)
        // The newer release's record must remain, because otherwise a third release would be accepted too.
        expect(yield* sql`SELECT release FROM installation`).toEqual([{ release: next }])
        yield* migratedBy(later)
        expect(String(yield* started)).toContain(`supports versions up to ${newestKnown}. Start svc ${later}`)
      })
  )

  it.live(
    "if a server freezes during a transaction, its transaction is lost, and another server can write within seconds",
    () =>
      Effect.gen(function* () {
        const url = yield* migratedDatabase
        const frozen = Context.get(
          yield* Layer.build(layerClients(url, { exclusive: false, listens: true })),
          SqlClient.SqlClient
        )
        const other = Context.get(yield* clients(url), SqlClient.SqlClient)
        const begun = yield* Deferred.make<void>()
        const thaw = yield* Deferred.make<void>()
        const stopped = yield* Effect.forkChild(
          Effect.exit(
            frozen.withTransaction(
              Effect.gen(function* () {
                yield* frozen`UPDATE installation SET incarnation = 6`
                yield* Deferred.succeed(begun, undefined)
                yield* Deferred.await(thaw)
              })
            )
          )
        )
        yield* Deferred.await(begun)
        yield* other`UPDATE installation SET release = 'other'`
        yield* Deferred.succeed(thaw, undefined)
        expect(Exit.isFailure(yield* Fiber.join(stopped))).toBe(true)
        expect(yield* Count.rows(other)`SELECT incarnation AS count FROM installation`).toEqual([{ count: 0 }])
        // The server that was frozen opens a new session.
        yield* frozen`UPDATE installation SET incarnation = 7`
      })
  )

  it.live("a command that needs the database file refuses to run on PostgreSQL, and explains the alternative", () =>
    Effect.gen(function* () {
      const file = Context.get(yield* served(yield* migratedDatabase), DatabaseFile)
      expect(String(yield* Effect.exit(file.backup("/nowhere")))).toContain("pg_dump")
      expect(yield* file.checkpoint).toBe(true)
    })
  )
})
