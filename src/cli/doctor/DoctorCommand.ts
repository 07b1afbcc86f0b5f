import { Effect, Layer, Option, Path } from "effect"
import { Command } from "effect/cli"
import { sandbox, toolchain } from "../../composition/Machine.ts"
import { databaseName } from "../../database/DataFolder.ts"
import { type DataFolderInspection, layerInspection, inspectDataFolder } from "../../database/DataFolderInspection.ts"
import { embeddedOnly } from "../../settings/EmbeddedOnly.ts"
import { namingDamage } from "../../database/DatabaseCheck.ts"
import { withReadOnlyDatabase } from "../../database/ReadOnlyDatabase.ts"
import { lookAtInstance } from "../../database/InstanceLock.ts"
import type { Settings } from "../../settings/Settings.ts"
import { jsonFlag, print, refused } from "../Output.ts"
import { configFlag, everySettingFlag, settingsOf } from "../SettingFlags.ts"
import { serverFinding, vaultFinding } from "./DataFindings.ts"
import { failedLook, type Finding, formatFindings, isHealthy } from "./DoctorReport.ts"
import { type FolderFinding, folderFindings, isRefused } from "./FolderChecks.ts"
import { missingDatabaseFinding } from "./InstallationFindings.ts"
import { machineChecks, machineFindings } from "./MachineChecks.ts"
import { storedChecks, storedFindings } from "./StoredChecks.ts"

const orFailed = <E, R>(check: Finding["check"], finding: Effect.Effect<Finding, E, R>) =>
  Effect.catchCause(finding, (cause) => Effect.succeed(failedLook(check, cause)))

/** Finds the tool and the sandbox as a server would, but downloads and stores nothing. */
const inspected = (settings: Settings, folder: string) =>
  Layer.merge(toolchain({ ...settings, toolDownload: "off" }), sandbox(settings, "nothing")).pipe(
    Layer.provide(layerInspection(folder))
  )

const databaseFindings = Effect.fn("databaseFindings")(function* (settings: Settings, folder: string) {
  const path = yield* Path.Path
  const instance = lookAtInstance(folder)
  const isServed = Effect.orElseSucceed(
    Effect.map(instance, ({ held }) => held),
    () => false
  )
  const server = yield* orFailed("server", Effect.map(instance, serverFinding))
  const served = yield* isServed
  const missing = yield* Effect.catchCause(missingDatabaseFinding(folder, settings.installation, served), (cause) =>
    Effect.succeed(failedLook("database", cause))
  )
  if (missing !== undefined) return [server, missing, yield* orFailed("vault", vaultFinding(settings, folder, []))]
  const file = path.join(folder, databaseName)
  const inside = storedFindings(storedChecks, { settings, folder, caller: "doctor", isServed: served })
  const findings = yield* withReadOnlyDatabase(file, isServed, inside).pipe(
    Effect.catchTag("DatabaseUnreadable", ({ message }) => {
      const finding: Finding = { check: "database", status: "warning", message }
      return Effect.succeed([finding])
    }),
    Effect.mapError(namingDamage(file)),
    Effect.catchCause((cause) => Effect.succeed([failedLook("database", cause)]))
  )
  return [server, ...findings]
})

const reported = ({ check, message, remedy, status }: FolderFinding): Finding => ({ check, status, message, remedy })

const dataFindings = Effect.fn("dataFindings")(function* (settings: Settings, look: DataFolderInspection) {
  const outside = yield* folderFindings(look)
  if (settings.databaseUrl !== undefined) {
    return [...outside.map(reported), { check: "database", status: "ok", message: embeddedOnly } satisfies Finding]
  }
  // Do not check the contents of files that this user cannot open.
  const inside = outside.some(isRefused) ? [] : yield* databaseFindings(settings, look.path)
  return [...outside.map(reported), ...inside]
})

/** Checks this machine and the data folder as a server with these settings would, but changes neither. */
export const doctorCommand = Command.make(
  "doctor",
  { settings: everySettingFlag, config: configFlag, json: jsonFlag },
  Effect.fn("doctor")(function* ({ config, json, settings: flags }) {
    const settings = yield* settingsOf(flags, config)
    const look = yield* Effect.result(inspectDataFolder(settings.dataDir))
    const path = Option.match(Option.getSuccess(look), { onNone: () => settings.dataDir, onSome: (seen) => seen.path })
    const machine = yield* machineFindings(machineChecks, settings, "doctor").pipe(
      Effect.provide(inspected(settings, path))
    )
    const data = yield* Effect.fromResult(look).pipe(
      Effect.flatMap((seen) => dataFindings(settings, seen)),
      Effect.catchCause((cause) => Effect.succeed([failedLook("folder", cause)]))
    )
    const all = [...machine, ...data]
    const healthy = isHealthy(all)
    yield* print(json, { healthy, findings: all }, formatFindings(all))
    if (!healthy) return yield* refused("This machine or its data needs attention.")
  })
).pipe(
  Command.withDescription(
    "Check tool, sandbox, settings, data folder, database, master key and clock, without changes, even while a server runs; exits with 1 if a check fails"
  )
)
