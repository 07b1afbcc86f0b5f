import { copyFileSync } from "node:fs"
import { expect } from "bun:test"
import { Context, Effect, FileSystem, Layer } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { SqlClient } from "effect/sql"
import { loadKeyring } from "../../../../actors/base/vault/MasterKeyStore.ts"
import { platform } from "../../../../src/composition/Platform.ts"
import { migrate } from "../../../../src/database/Migrations.ts"
import { checkKeys, verifyCopy } from "../../../../src/database/move/MoveVerification.ts"
import { layerWriter } from "../../../../src/database/SqliteClient.ts"
import { fixtureFile } from "../../../upgrade/Fixture.ts"
import { it } from "../../../support/Effect.ts"
import { newKeyring } from "../support/Keyrings.ts"

const opened = (file: string) =>
  Effect.map(Layer.build(Layer.fresh(layerWriter(file))), Context.get(SqlClient.SqlClient))

/** Creates two copies of a database of an earlier release. */
const copies = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const root = yield* fs.makeTempDirectoryScoped({ prefix: "svc-move-" })
  expect(Number(yield* spawner.exitCode(ChildProcess.make("tar", ["-C", root, "-xzf", fixtureFile(72)])))).toBe(0)
  yield* Effect.provide(migrate, layerWriter(`${root}/data/svc.sqlite`))
  copyFileSync(`${root}/data/svc.sqlite`, `${root}/copy.sqlite`)
  const keyring = yield* loadKeyring({ kind: "file", file: `${root}/data/master.key`, create: false }, [])
  return { from: yield* opened(`${root}/data/svc.sqlite`), to: yield* opened(`${root}/copy.sqlite`), keyring }
})

const faults = [
  ["an audit event", "UPDATE audit_events SET action = 'nothing' WHERE position = 2", "audit chain"],
  ["a sealed value", "UPDATE state_versions SET state = state || 'A'", "state_versions.state"]
] as const

it.live("an intact copy has no faults", () =>
  Effect.gen(function* () {
    const { keyring, ...databases } = yield* copies
    expect(yield* verifyCopy(databases, keyring)).toEqual({ chains: 2, faults: [] })
  }).pipe(Effect.provide(platform))
)

for (const [what, statement, named] of faults) {
  it.live(
    `${what} that is damaged only in the copy aborts the move, but damage in both databases is only reported`,
    () =>
      Effect.gen(function* () {
        const { keyring, ...databases } = yield* copies
        yield* databases.to.unsafe(statement)
        expect((yield* Effect.flip(verifyCopy(databases, keyring))).message).toContain(named)
        yield* databases.from.unsafe(statement)
        expect((yield* verifyCopy(databases, keyring)).faults.join()).toContain(named)
      }).pipe(Effect.provide(platform))
  )
}

it.live("svc refuses a database whose secrets need another master key, before copying anything", () =>
  Effect.gen(function* () {
    const { from } = yield* copies
    const error = yield* Effect.flip(Effect.provideService(checkKeys(yield* newKeyring), SqlClient.SqlClient, from))
    expect(error.message).toContain("which these settings do not give")
  }).pipe(Effect.provide(platform))
)
