import { createHash, randomBytes } from "node:crypto"
import { existsSync, mkdirSync } from "node:fs"
import * as PgConnection from "@effect/sql-pg/PgConnection"
import { mock } from "bun:test"

import { Effect, FileSystem, Layer, Redacted } from "effect"
import { SharedDatabase } from "../../actors/base/node/Nodes.ts"
import { DataFolder } from "../../src/database/DataFolder.ts"
import { SessionLimits } from "../../src/database/postgres/PostgresClient.ts"
import * as PostgresDatabase from "../../src/database/postgres/PostgresDatabase.ts"

/**
 * Preloaded by `npm run test:postgres`. Moves the database of every test's data folder to PostgreSQL. Each folder gets a separate
 * database, copied from a migrated template.
 */
const server = process.env["SVC_TEST_POSTGRES"] ?? ""

const urlOf = (database: string) => {
  const url = new URL(server)
  url.pathname = `/${database}`
  return url.toString()
}

const template = process.env["SVC_TEST_POSTGRES_TEMPLATE"] ?? "svc_template"

const onServer = <A, E>(use: (session: PgConnection.PgConnection) => Effect.Effect<A, E>) =>
  Effect.scoped(Effect.flatMap(PgConnection.make({ url: Redacted.make(urlOf("postgres")) }), use))

/** Creates and migrates the template, unless another process has already done so. */
export const makeTemplate = Effect.gen(function* () {
  yield* onServer((session) => session.query(`CREATE DATABASE ${template}`, [], false))
  yield* PostgresDatabase.migratePostgres(Redacted.make(urlOf(template)))
})

// Folders that have a database. The databases of deleted folders are dropped.
const folders = new Map<string, string>()
const reapEvery = 20
let made = 0

const reap = Effect.gen(function* () {
  const gone = [...folders].filter(([folder]) => !existsSync(folder))
  for (const [folder, name] of gone) {
    folders.delete(folder)
    yield* Effect.ignore(
      onServer((session) => session.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`, [], false))
    )
  }
})

const databaseOf = Effect.fnUntraced(function* (folder: string) {
  const name = `svc_${createHash("sha256").update(`${process.pid} ${folder}`).digest("hex").slice(0, 24)}`
  if (folders.has(folder)) return name
  folders.set(folder, name)
  if (++made % reapEvery === 0) yield* reap
  yield* onServer((session) => session.query(`CREATE DATABASE ${name} TEMPLATE ${template}`, [], false))
  yield* Effect.scoped(
    Effect.flatMap(PgConnection.make({ url: Redacted.make(urlOf(name)) }), (session) =>
      session.query(
        "UPDATE installation SET installation_id = 'inst_' || substr(md5(random()::text), 1, 24)",
        [],
        false
      )
    )
  )
  return name
})

/** Creates an empty database that is dropped when the Scope closes, and returns its address. */
export const emptyDatabase = Effect.fnUntraced(function* (options = "") {
  const name = `svc_${randomBytes(12).toString("hex")}`
  yield* Effect.acquireRelease(
    onServer((session) => session.query(`CREATE DATABASE ${name} ${options}`, [], false)),
    () => Effect.ignore(onServer((session) => session.query(`DROP DATABASE ${name} WITH (FORCE)`, [], false)))
  )
  return Redacted.make(urlOf(name))
})

/** Creates a copy of the migrated template, like `emptyDatabase`. */
export const migratedDatabase = Effect.suspend(() => emptyDatabase(`TEMPLATE ${template}`))

export const hasPostgres = server !== ""

/**
 * Opens another session on the database of a folder, as another process would, and returns a function that runs a statement
 * in that session.
 */
export const otherSession = (folder: string) =>
  Effect.map(
    PgConnection.make({ url: Redacted.make(urlOf(folders.get(folder) ?? "")) }),
    (session) => (statement: string) => Effect.asVoid(session.query(statement, [], false))
  )

const layer = Layer.unwrap(
  Effect.gen(function* () {
    const folder = yield* DataFolder
    const name = yield* Effect.orDie(databaseOf(folder.path))
    // True only in a test of servers that share a database, because such servers execute no module.
    const isShared = yield* SharedDatabase
    // The database is not opened exclusively, because some tests open a folder's database twice. A restart therefore detects
    // no other server.
    return Layer.merge(
      // A busy machine may pause a test for longer than the limit for pauses in a transaction.
      PostgresDatabase.layer(Redacted.make(urlOf(name))).pipe(
        Layer.provide(Layer.succeed(SessionLimits, { idleInTransaction: "2min", lock: "2min" }))
      ),
      Layer.succeed(SharedDatabase, isShared)
    )
  })
)

/** Creates the folder for a service. The template already contains the tables. */
const placeMigratedDatabase = (folder: string) =>
  Effect.sync(() => {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
  })

const migratedFolder = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  return yield* files.makeTempDirectoryScoped({ prefix: "svc-data-" })
})

if (server !== "") {
  mock.module("../../src/database/Database.ts", () => ({ layer }))
  mock.module("./MigratedDatabase.ts", () => ({ placeMigratedDatabase, migratedFolder }))
}
