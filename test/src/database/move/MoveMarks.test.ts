import { expect } from "bun:test"
import { Effect, FileSystem, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { writeKeyringFile } from "../../../../actors/base/vault/MasterKeyStore.ts"
import { platform } from "../../../../src/composition/Platform.ts"
import { backupTo } from "../../../../src/database/Backup.ts"
import { migrate, newestKnown } from "../../../../src/database/Migrations.ts"
import {
  type MoveMark,
  readMark,
  recordedVersion,
  removeMark,
  writeMark
} from "../../../../src/database/move/MoveMarks.ts"
import { restoreFrom } from "../../../../src/database/Restore.ts"
import { layerCopying, layerWriter } from "../../../../src/database/SqliteClient.ts"
import { it } from "../../../support/Effect.ts"
import { newKeyring } from "../support/Keyrings.ts"

const moved: MoveMark = {
  state: "moved",
  id: "move_a",
  installation: "inst_a",
  at: "2026-11-30T00:00:00.000Z",
  other: { kind: "postgres", text: "database.example:5432/svc of us" }
}

const temporary = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped({ prefix: "svc-move-" }))

const opened = (folder: string) => Layer.fresh(layerWriter(`${folder}/svc.sqlite`))

it.live("a move mark is read back unchanged, and does not change the recorded database version", () =>
  Effect.gen(function* () {
    yield* migrate
    for (const mark of [moved, { ...moved, state: "arriving" as const }]) {
      yield* writeMark(mark)
      expect(yield* readMark).toEqual(mark)
      expect(yield* recordedVersion).toBe(newestKnown)
    }
    // Releases without marks compare the greatest migration number with the newest migration that they support.
    const sql = yield* SqlClient.SqlClient
    const [row] = yield* sql<{ newest: number }>`SELECT MAX(migration_id) AS newest FROM svc_migrations`
    expect(row?.newest).toBeGreaterThan(newestKnown + 1_000_000)
    yield* removeMark
    expect(yield* readMark).toBeUndefined()
    yield* migrate
  }).pipe(Effect.provide(Layer.unwrap(Effect.map(temporary, opened)).pipe(Layer.provideMerge(platform))))
)

it.live("a backup of a moved database can be restored into another folder, without the move mark", () =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const [folder, other] = [yield* temporary, yield* temporary]
    const keyring = yield* newKeyring
    yield* Effect.provide(Effect.andThen(migrate, writeMark(moved)), opened(folder))
    const refused = yield* Effect.flip(Effect.provide(migrate, opened(folder)))
    expect([refused._tag, refused.message]).toEqual(["DatabaseMoved", expect.stringContaining(moved.other.text)])
    yield* Effect.provide(backupTo(`${folder}/backup`, keyring), layerCopying(`${folder}/svc.sqlite`))
    yield* writeKeyringFile(`${other}/master.key`, keyring)
    yield* restoreFrom(`${folder}/backup`, other, { keys: Effect.succeed(keyring), acceptUnauthenticated: false })
    yield* Effect.provide(migrate, opened(other))
    expect(yield* fs.exists(`${other}/svc.sqlite`)).toBe(true)
  }).pipe(Effect.provide(platform))
)
