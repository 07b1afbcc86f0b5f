import { Effect, Layer } from "effect"
import { Vault } from "../../actors/base/vault/Vault.ts"
import { VaultSettings } from "../../actors/base/vault/VaultSettings.ts"
import { cryptography } from "../../src/composition/PlainPlatform.ts"
import { DataFolder } from "../../src/database/DataFolder.ts"
import { testDatabase } from "./Database.ts"

const settings = Layer.effect(
  VaultSettings,
  Effect.map(DataFolder, (folder) => ({
    masterKey: { kind: "file" as const, file: folder.masterKeyFile, create: true }
  }))
)

/** The test database with a vault whose master key is in the temporary data folder, and the crypto services. */
export const testVault = Vault.layer.pipe(
  Layer.provideMerge(settings),
  Layer.provideMerge(testDatabase),
  Layer.provideMerge(cryptography)
)
