import { Effect, Record } from "effect"
import { Migrator, SqlClient } from "effect/sql"
import { migrations } from "../../../../src/database/Migrations.ts"
import { layerWriter } from "../../../../src/database/SqliteClient.ts"
import { temporaryFolder } from "../../../support/TemporaryFolder.ts"

/** The timestamp of every row that these tests write. */
export const at = "2026-01-01T00:00:00.000Z"

/** The columns of a Run in every earlier release. */
export const run = {
  workspace_id: "ws_a",
  type: "plan",
  status: "succeeded",
  requires_approval: 1,
  trigger_kind: "user",
  attempt: 1,
  spec: "{}",
  evidence: "{}",
  created_at: at,
  queued_at: at
}

/** Runs the migrations that have not been applied yet, unchanged, in one transaction. */
export const migrateBy = (list: typeof migrations) =>
  Migrator.make({})({
    loader: Migrator.fromRecord(
      Record.map(list, (statements) =>
        Effect.flatMap(SqlClient.SqlClient, (sql) =>
          Effect.forEach(statements, (statement) => sql.unsafe(statement).unprepared, { discard: true })
        )
      )
    ),
    table: "svc_migrations"
  })

/**
 * Runs the effect on a database file with one Workspace, in the version before the migration with this number. Creates the
 * file.
 */
export const beforeMigrationIn = <A, E>(
  file: string,
  number: number,
  effect: Effect.Effect<A, E, SqlClient.SqlClient>
) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* migrateBy(
      Object.fromEntries(Object.entries(migrations).filter(([name]) => Number.parseInt(name, 10) < number))
    )
    yield* sql`INSERT INTO workspaces ${sql.insert({ id: run.workspace_id, handle: "a", display_name: "a", type: "organization", created_at: at, updated_at: at })}`
    return yield* effect
  }).pipe(Effect.provide(layerWriter(file)))

/** Defines a test on a database with one Workspace, in the version before the migration with this number. */
export const beforeMigration = <A, E>(number: number, test: Effect.Effect<A, E, SqlClient.SqlClient>) =>
  Effect.flatMap(temporaryFolder, (folder) => beforeMigrationIn(`${folder}/svc.db`, number, test))
