import { expect } from "bun:test"
import { Effect, FileSystem, Layer, type Scope } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { SqlClient } from "effect/sql"
import { TestConsole } from "effect/testing"
import { writeKeyringFile } from "../../actors/base/vault/MasterKeyStore.ts"
import { run } from "../../src/cli/Run.ts"
import { platform } from "../../src/composition/Platform.ts"
import * as Database from "../../src/database/Database.ts"
import { DataFolder } from "../../src/database/DataFolder.ts"
import { newKeyring } from "../src/database/support/Keyrings.ts"
import { it } from "../support/Effect.ts"
import { svcProgram } from "../support/SvcProgram.ts"
import { placeMigratedDatabase } from "../support/MigratedDatabase.ts"

const live = (
  name: string,
  body: () => Effect.Effect<unknown, unknown, Layer.Success<typeof platform> | Scope.Scope>
) => it.live(name, () => Effect.suspend(body).pipe(Effect.provide(Layer.mergeAll(platform, TestConsole.layer))))

const databaseIn = (folder: string) => Layer.fresh(Database.layer.pipe(Layer.provideMerge(DataFolder.layer(folder))))

// Large enough that a stepwise backup which restarts on every write would never finish.
const initialPairs = 2000

/** Writes two rows that belong together, in one transaction. */
const writePair = (number: number) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    sql.withTransaction(
      Effect.forEach(
        ["a", "b"],
        (half) =>
          sql`INSERT INTO users ${sql.insert({
            subject: `usr_${half}${number}`,
            email: `${half}${number}@example.test`,
            display_name: "x".repeat(1500),
            is_operator: 0,
            status: "active",
            created_at: "2026-01-01T00:00:00.000Z",
            updated_at: "2026-01-01T00:00:00.000Z"
          })}`
      )
    )
  )

/** Reads all rows of all tables, except tables in which a restore adds a record. */
const content = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const tables = yield* sql<{ name: string }>`
    SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name`
  const compared = tables.filter(({ name }) => !["installation", "audit_events", "audit_chains"].includes(name))
  return yield* Effect.forEach(compared, ({ name }) =>
    Effect.map(sql`SELECT * FROM ${sql(name)}`, (rows) => ({ name, rows }))
  )
})

const pairs = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ half: string; count: number }>`
    SELECT substr(subject, 5, 1) AS half, COUNT(*) AS count FROM users GROUP BY half ORDER BY half`
  return rows.map(({ count }) => count)
})

live("a backup finishes while the server keeps writing, is complete, and restores the same data", () =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
    const root = yield* files.makeTempDirectoryScoped({ prefix: "svc-backup-" })
    yield* placeMigratedDatabase(`${root}/data`)
    const key = `${root}/data/master.key`
    const original = yield* Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* writeKeyringFile(key, yield* newKeyring)
      yield* sql.withTransaction(Effect.forEach(Array.from({ length: initialPairs }).keys(), writePair))
      const backup = yield* spawner.spawn(
        ChildProcess.make(
          yield* Effect.promise(svcProgram),
          ["backup", `${root}/busy.sqlite`, "--data-dir", `${root}/data`],
          {
            extendEnv: true,
            stderr: "inherit"
          }
        )
      )
      let written = initialPairs
      const writing = Effect.forever(
        Effect.suspend(() => writePair(written)).pipe(
          Effect.tap(() => Effect.sync(() => written++)),
          Effect.andThen(Effect.yieldNow)
        )
      )
      expect(Number(yield* Effect.raceFirst(backup.exitCode, writing))).toBe(0)
      expect(written).toBeGreaterThan(initialPairs)
      yield* run(["backup", `${root}/quiet.sqlite`, "--data-dir", `${root}/data`])
      return { written, content: yield* content }
    }).pipe(Effect.provide(databaseIn(`${root}/data`)))

    yield* run(["restore", `${root}/busy.sqlite`, "--data-dir", `${root}/busy`, "--master-key-file", key])
    const [a = 0, b = 0] = yield* pairs.pipe(Effect.provide(databaseIn(`${root}/busy`)))
    expect(a).toBe(b)
    expect(a).toBeGreaterThanOrEqual(initialPairs)
    expect(a).toBeLessThanOrEqual(original.written)

    yield* run(["restore", `${root}/quiet.sqlite`, "--data-dir", `${root}/quiet`, "--master-key-file", key])
    const restored = yield* content.pipe(Effect.provide(databaseIn(`${root}/quiet`)))
    expect(restored).toEqual(original.content)
  })
)
