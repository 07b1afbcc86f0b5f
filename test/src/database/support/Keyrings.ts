import { Effect } from "effect"
import { makeKeyring } from "../../../../actors/base/vault/MasterKey.ts"
import { generateMasterKey } from "../../../../actors/base/vault/MasterKeyStore.ts"
import { BackupRefused } from "../../../../src/database/BackupRefused.ts"

/** Creates a separate keyring. */
export const newKeyring = Effect.orDie(Effect.flatMap(generateMasterKey, (key) => makeKeyring([key])))

/** A keyring for unauthenticated backups, which never use its keys. */
export const noKeys = Effect.fail(new BackupRefused({ message: "No master key is given." }))
