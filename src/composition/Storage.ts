import { Effect, Layer } from "effect"
import { Audit } from "../../actors/audit/Audit.ts"
import { Receipts } from "../../actors/idempotency/Receipts.ts"
import { Cursors } from "../../actors/paging/Cursors.ts"
import { Vault } from "../../actors/vault/Vault.ts"
import { VaultSettings } from "../../actors/vault/VaultSettings.ts"
import { accountServices } from "../accounts/AccountServices.ts"
import * as Database from "../database/Database.ts"
import { DataFolder } from "../database/DataFolder.ts"
import { masterKeySource, type Settings } from "../settings/Settings.ts"

export const vaultSettings = (settings: Settings) =>
  Layer.effect(
    VaultSettings,
    Effect.map(DataFolder, (folder) => ({ masterKey: masterKeySource(settings, folder.masterKeyFile) }))
  )

/** The data folder with its database and vault, and everything that only needs those: history, receipts, accounts. */
export const storage = (settings: Settings) =>
  accountServices.pipe(
    Layer.provideMerge(Audit.layer),
    Layer.provideMerge(Layer.mergeAll(Receipts.layer, Cursors.layer)),
    Layer.provideMerge(Vault.layer),
    Layer.provideMerge(vaultSettings(settings)),
    Layer.provideMerge(Database.layer),
    Layer.provideMerge(DataFolder.layer(settings.dataDir))
  )
