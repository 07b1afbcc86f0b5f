import { NodeRuntime } from "@effect/platform-node"
import { Effect } from "effect"
import { loadKeyring } from "../../../../actors/base/vault/MasterKeyStore.ts"
import { KillPoint } from "../../../../actors/base/KillPoint.ts"
import { platform } from "../../../../src/composition/Platform.ts"
import { BackupRefused } from "../../../../src/database/BackupRefused.ts"
import { restoreFrom } from "../../../../src/database/Restore.ts"

const [file = "", folder = "", point = ""] = process.argv.slice(2)

/** Simulates a power failure at the given step of the restore: no handler runs and nothing is flushed. */
const dying = (name: string) =>
  Effect.sync(() => (name === point ? void process.kill(process.pid, "SIGKILL") : undefined))

const keys = loadKeyring({ kind: "file", file: `${folder}/master.key`, create: false }, []).pipe(
  Effect.mapError(({ message }) => new BackupRefused({ message }))
)

NodeRuntime.runMain(
  restoreFrom(file, folder, { keys, acceptUnauthenticated: false }).pipe(
    Effect.provideService(KillPoint, dying),
    Effect.provide(platform)
  )
)
