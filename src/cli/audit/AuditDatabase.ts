import { Effect, FileSystem, Path } from "effect"
import { readAuditKey } from "../../../actors/base/audit/AuditLink.ts"
import type { SqlClient } from "effect/sql"
import { loadKeyring } from "../../../actors/base/vault/MasterKeyStore.ts"
import { databaseName, masterKeyName } from "../../database/DataFolder.ts"
import { lookAtInstance } from "../../database/InstanceLock.ts"
import { readInstallation } from "../../database/Installation.ts"
import { recordedVersion } from "../../database/move/MoveMarks.ts"
import { withReadOnlyDatabase } from "../../database/ReadOnlyDatabase.ts"
import { masterKeySource, type Settings } from "../../settings/Settings.ts"
import { CommandFailed, misuse, requireEmbedded } from "../Output.ts"

/** The first schema version that chains audit events. */
const firstWithChains = 42

const explained = <A, E extends { readonly message: string }, R>(effect: Effect.Effect<A, E, R>, before = "") =>
  Effect.mapError(effect, ({ message }) => new CommandFailed({ message: `${before}${message}` }))

/**
 * Opens the database in the data folder read-only and runs `use` with it, even while a server is running. Creates and
 * changes nothing.
 */
export const withAuditDatabase = <A, E, R>(settings: Settings, use: Effect.Effect<A, E, R | SqlClient.SqlClient>) =>
  Effect.gen(function* () {
    yield* requireEmbedded(settings)
    const fileSystem = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const database = path.join(settings.dataDir, databaseName)
    if (!(yield* fileSystem.exists(database))) {
      return yield* new CommandFailed({
        ...misuse,
        message: `${settings.dataDir} contains no database. Set the data folder with --data-dir.`
      })
    }
    const isServed = Effect.orElseSucceed(
      Effect.map(lookAtInstance(settings.dataDir), ({ held }) => held),
      () => false
    )
    const checked = Effect.gen(function* () {
      const version = (yield* recordedVersion) ?? 0
      if (version >= firstWithChains) return yield* use
      return yield* new CommandFailed({
        message: `The tables have version ${version}, of an earlier release: its audit events are in no chain. The next start of this release links them.`
      })
    })
    return yield* withReadOnlyDatabase(database, isServed, checked)
  })

/** Derives the key of the chains from the master keys in these settings. */
export const auditKeyOf = Effect.fn("auditKeyOf")(function* (settings: Settings) {
  const path = yield* Path.Path
  const source = masterKeySource(settings, path.join(settings.dataDir, masterKeyName))
  const keyring = yield* explained(
    loadKeyring(source.kind === "file" ? { ...source, create: false } : source, []),
    "The chains are checked with a key that the master key opens. "
  )
  return yield* Effect.mapError(
    readAuditKey(keyring),
    () =>
      new CommandFailed({
        message: `The master key of these settings (${keyring.active.id}) does not open the key of the chains. Run this with the settings of the server.`
      })
  )
})

export const installationIdOf = Effect.map(readInstallation, (installation) => installation?.id)
