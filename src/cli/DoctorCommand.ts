import { Effect, Layer } from "effect"
import { Command } from "effect/cli"
import { Vault } from "../../actors/vault/Vault.ts"
import { sandbox, toolchain } from "../composition/Machine.ts"
import { vaultSettings } from "../composition/Storage.ts"
import * as Database from "../database/Database.ts"
import { DataFolder } from "../database/DataFolder.ts"
import {
  clockFinding,
  databaseFinding,
  diskFinding,
  failedStart,
  migrationsFinding,
  sandboxFinding,
  toolFinding,
  vaultFinding
} from "./DoctorChecks.ts"
import { type Finding, formatFindings, isHealthy } from "./DoctorReport.ts"
import { jsonFlag, print, refused } from "./Output.ts"
import { configFlag, everySettingFlag, settingsOf } from "./SettingFlags.ts"

const orFailed = <E, R>(check: Finding["check"], finding: Effect.Effect<Finding, E, R>) =>
  Effect.catchCause(finding, (cause) => Effect.succeed(failedStart(check, cause)))

/** Looks at this machine and the data folder as a server with these settings would. The server must be stopped. */
export const doctorCommand = Command.make(
  "doctor",
  { settings: everySettingFlag, config: configFlag, json: jsonFlag },
  Effect.fn("doctor")(function* ({ config, json, settings: flags }) {
    const settings = yield* settingsOf(flags, config)
    const findings = yield* Effect.gen(function* () {
      const machine = yield* Effect.all([
        orFailed("tool", toolFinding.pipe(Effect.provide(toolchain(settings)))),
        orFailed("sandbox", sandboxFinding.pipe(Effect.provide(sandbox(settings)))),
        diskFinding
      ])
      const data = yield* Effect.all([databaseFinding, migrationsFinding]).pipe(
        Effect.andThen((found) =>
          orFailed(
            "vault",
            vaultFinding.pipe(Effect.provide(Vault.layer.pipe(Layer.provide(vaultSettings(settings)))))
          ).pipe(Effect.map((vault) => [...found, vault]))
        ),
        Effect.provide(Database.layer),
        Effect.catchCause((cause) => Effect.succeed([failedStart("database", cause)]))
      )
      return [...machine, ...data]
    }).pipe(
      Effect.provide(DataFolder.layer(settings.dataDir)),
      Effect.catchCause((cause) => Effect.succeed([failedStart("disk", cause)]))
    )
    const all = [...findings, yield* clockFinding]
    const healthy = isHealthy(all)
    yield* print(json, { healthy, findings: all }, formatFindings(all))
    if (!healthy) return yield* refused("This machine or its data needs attention.")
  })
).pipe(
  Command.withDescription("Check tool, sandbox, disk, database, migrations, vault and clock; 1 when something is wrong")
)
