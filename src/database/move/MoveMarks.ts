import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { rowShape } from "../../../actors/base/database/Table.ts"
import type { StartFault } from "../StartFault.ts"

export type DatabaseKind = "sqlite" | "postgres"

/** Address of a database for display, without user and password. */
export interface DatabasePlace {
  readonly kind: DatabaseKind
  readonly text: string
}

/**
 * A mark in the table of migrations. Its number is greater than that of every migration, so releases without support for
 * marks refuse the database as too new.
 *
 * - `arriving`: rows are being copied into this database, and another database is the current one
 * - `moved`: the rows have been copied to another database, which is the current one
 */
export interface MoveMark {
  readonly state: "arriving" | "moved"
  /** Id of the move, the same in both databases. */
  readonly id: string
  readonly installation: string
  readonly at: string
  /** The other database involved in the move. */
  readonly other: DatabasePlace
}

/** Numbers of marks start here, near the end of the column's range. */
const firstNumber = 2_147_483_646
const numbers = { arriving: firstNumber, moved: firstNumber + 1 } as const

/** The PostgreSQL column can store 255 characters. */
const longestPlace = 120

const Marks = rowShape({ number: Schema.Int, name: Schema.String })
const Version = rowShape({ newest: Schema.NullOr(Schema.Int) })

/** Returns the number of the newest migration of the database, or `null` before the first migration. */
export const recordedVersion = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* Version.rowsOnce(sql)`SELECT MAX(migration_id) AS newest FROM svc_migrations
    WHERE migration_id < ${firstNumber}`
  return row?.newest ?? null
})

const kindOf = (text: string | undefined): DatabaseKind => (text === "postgres" ? "postgres" : "sqlite")

/** Returns the mark of the database, if it has any. */
export const readMark = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* Marks.rowsOnce(sql)`SELECT migration_id AS number, name FROM svc_migrations
    WHERE migration_id >= ${firstNumber} ORDER BY migration_id DESC LIMIT 1`
  if (row === undefined) return undefined
  const [id = "", installation = "", at = "", kind, ...place] = row.name.split(" ")
  const mark: MoveMark = {
    state: row.number === numbers.moved ? "moved" : "arriving",
    id,
    installation,
    at,
    other: { kind: kindOf(kind), text: place.join(" ") }
  }
  return mark
})

export const writeMark = Effect.fnUntraced(function* ({ at, id, installation, other, state }: MoveMark) {
  const sql = yield* SqlClient.SqlClient
  const name = [id, installation, at, other.kind, other.text.slice(0, longestPlace)].join(" ")
  yield* sql`DELETE FROM svc_migrations WHERE migration_id >= ${firstNumber}`
  yield* sql`INSERT INTO svc_migrations (migration_id, name) VALUES (${numbers[state]}, ${name})`
})

/** Removes the mark, so that this database becomes the current database. */
export const removeMark = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`DELETE FROM svc_migrations WHERE migration_id >= ${firstNumber}`
)

const wayBack: Readonly<Record<DatabaseKind, string>> = {
  postgres:
    "Start the server with SVC_DATABASE_URL set to that database. To return, run `svc move --to sqlite` with that setting.",
  sqlite:
    "Start the server on that data folder without SVC_DATABASE_URL. To return, run `svc move --to postgres` with an empty database."
}

/** The reason why a server cannot start on a database with this mark. */
export const markFault = ({ at, other, state }: MoveMark): StartFault =>
  state === "moved"
    ? {
        message: `This database was moved to ${other.text} at ${at}, and changes since then are only there.`,
        remedy: wayBack[other.kind]
      }
    : {
        message: `A move from ${other.text} into this database began at ${at} and has not finished.`,
        remedy: "Repeat the same `svc move`."
      }
