import { Effect, Path } from "effect"
import { loadKeyring } from "../../actors/base/vault/MasterKeyStore.ts"
import { masterKeySource, type Settings } from "../settings/Settings.ts"
import { BackupRefused } from "./BackupRefused.ts"
import { masterKeyName } from "./DataFolder.ts"

/** Returns the master keys in these settings. Creates no keys. */
export const masterKeys = Effect.fnUntraced(function* (settings: Settings) {
  const path = yield* Path.Path
  const source = masterKeySource(settings, path.join(settings.dataDir, masterKeyName))
  return yield* loadKeyring(source.kind === "file" ? { ...source, create: false } : source, []).pipe(
    Effect.mapError(
      ({ message }) =>
        new BackupRefused({
          message: `Backups are authenticated with the master key. ${message} Run this with the settings of the server, or put the key there first.`
        })
    )
  )
})
