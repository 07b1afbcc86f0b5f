import { readFileSync } from "node:fs"
import * as PgConnection from "@effect/sql-pg/PgConnection"
import { Effect, Redacted } from "effect"
import { postgresServer } from "../../scripts/PostgresServer.ts"
import { serverBinaryWith } from "./ServerBinary.ts"

const replaced = (path: string, from: string, to: string) => {
  const text = readFileSync(path, "utf8")
  if (!text.includes(from)) throw new Error(`${path} has no ${from} any more`)
  return text.replace(from, to)
}

/**
 * Lets a single server with a database in PostgreSQL execute modules itself, so that it reaches the same points as a server with
 * the embedded database. All its statements are those of the product.
 */
const plugin: Bun.BunPlugin = {
  name: "modules-on-the-server",
  setup: (build) => {
    build.onLoad({ filter: /\/src\/composition\/Storage\.ts$/ }, ({ path }) => ({
      contents: replaced(path, "Layer.succeed(AgentsOnly, true)", "Layer.succeed(AgentsOnly, false)"),
      loader: "ts"
    }))
    build.onLoad({ filter: /\/src\/database\/postgres\/PostgresDatabase\.ts$/ }, ({ path }) => ({
      contents: replaced(path, "Layer.succeed(SharedDatabase, true)", "Layer.succeed(SharedDatabase, false)"),
      loader: "ts"
    }))
  }
}

/** Builds the server of this suite for a database in PostgreSQL. */
export const postgresServerBinary = serverBinaryWith([plugin])

/** Databases in PostgreSQL, for the servers of this suite. */
export interface CrashDatabases {
  /** The database of the world's template folder. */
  readonly template: Redacted.Redacted
  /** Creates a copy of it. No server may use the template. */
  readonly copy: Effect.Effect<Redacted.Redacted, unknown>
}

const templateName = "crash_template"

/** Starts a PostgreSQL server in memory, with an empty database. */
export const crashDatabases = Effect.gen(function* () {
  const server = yield* postgresServer
  const urlOf = (name: string) => Redacted.make(server.url.replace("/postgres?", `/${name}?`))
  const create = (name: string, options: string) =>
    Effect.scoped(
      Effect.flatMap(PgConnection.make({ url: urlOf("postgres") }), (session) =>
        session.query(`CREATE DATABASE ${name} ${options}`, [], false)
      )
    )
  yield* create(templateName, "")
  let copies = 0
  const databases: CrashDatabases = {
    template: urlOf(templateName),
    copy: Effect.suspend(() => {
      copies += 1
      const name = `crash_${copies}`
      return Effect.as(create(name, `TEMPLATE ${templateName}`), urlOf(name))
    })
  }
  return databases
})
