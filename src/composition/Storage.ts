import { Effect, Layer, type Redacted } from "effect"
import { AgentsOnly } from "../../actors/running/queue/RunAdmission.ts"
import { Audit } from "../../actors/base/audit/Audit.ts"
import { AuditKeys } from "../../actors/base/audit/AuditLink.ts"
import { Receipts } from "../../actors/base/idempotency/Receipts.ts"
import { Cursors } from "../../actors/base/paging/Cursors.ts"
import { Vault } from "../../actors/base/vault/Vault.ts"
import { VaultSettings } from "../../actors/base/vault/VaultSettings.ts"
import { accountServices } from "../accounts/AccountServices.ts"
import * as Database from "../database/Database.ts"
import { DataFolder } from "../database/DataFolder.ts"
import { ExpectedInstallation } from "../database/FirstStart.ts"
import { offlineMailSettings } from "./Mail.ts"
import { masterKeySource, type Settings } from "../settings/Settings.ts"

export const vaultSettings = (settings: Settings) =>
  Layer.effect(
    VaultSettings,
    Effect.map(DataFolder, (folder) => ({ masterKey: masterKeySource(settings, folder.masterKeyFile) }))
  )

/**
 * The services that a database provides: a client for writing, a client for reading, and operations on the database file.
 */
export type DatabaseServices = Layer.Success<typeof Database.layer>

/** Loads the PostgreSQL client only if the settings contain a PostgreSQL database. */
const postgres = (url: Redacted.Redacted) =>
  Layer.unwrap(
    Effect.map(
      Effect.promise(() => import("../database/postgres/PostgresDatabase.ts")),
      ({ layer }) => Layer.merge(layer(url), Layer.succeed(AgentsOnly, true))
    )
  )

/** Opens the database that the settings select: PostgreSQL, or SQLite in the data folder. */
export const databaseOf = ({
  databaseUrl
}: Settings): Layer.Layer<
  DatabaseServices,
  Layer.Error<typeof Database.layer> | Layer.Error<ReturnType<typeof postgres>>,
  Layer.Services<typeof Database.layer> | Layer.Services<ReturnType<typeof postgres>>
> => (databaseUrl === undefined ? Database.layer : postgres(databaseUrl))

/** The conditions that the data folder must meet according to the settings and the command. */
const expectedInstallation = (settings: Settings) =>
  Layer.effect(
    ExpectedInstallation,
    Effect.map(ExpectedInstallation, ({ isNew }) => ({ isNew, id: settings.installation }))
  )

/**
 * Provides the data folder and the vault on top of a database, along with the services that need nothing else: history,
 * receipts and accounts.
 */
export const storageOver = <A, E, R>(settings: Settings, database: Layer.Layer<DatabaseServices | A, E, R>) =>
  accountServices.pipe(
    Layer.provideMerge(Audit.layer.pipe(Layer.provideMerge(AuditKeys.layer))),
    Layer.provideMerge(Layer.mergeAll(Receipts.layer, Cursors.layer)),
    Layer.provideMerge(Vault.layer),
    Layer.provideMerge(vaultSettings(settings)),
    Layer.provideMerge(database.pipe(Layer.provide(expectedInstallation(settings)))),
    Layer.provideMerge(DataFolder.layer(settings.dataDir))
  )

/** Like `storageOver`, with the database in these settings. */
export const storage = (settings: Settings) =>
  storageOver(settings, databaseOf(settings)).pipe(Layer.provide(offlineMailSettings(settings)))
