import { Effect, FileSystem, Option, Path } from "effect"
import { Command } from "effect/cli"
import { databaseName } from "../../database/DataFolder.ts"
import { type DataFolderLook, layerLook, lookAtDataFolder } from "../../database/DataFolderLook.ts"
import { namingDamage } from "../../database/DatabaseCheck.ts"
import { withReadOnlyDatabase } from "../../database/ReadOnlyDatabase.ts"
import { lookAtInstance } from "../../database/InstanceLock.ts"
import type { Settings } from "../../settings/Settings.ts"
import { jsonFlag, print, refused } from "../Output.ts"
import { configFlag, everySettingFlag, settingsOf } from "../SettingFlags.ts"
import {
  besideServer,
  databaseFinding,
  migrationsFinding,
  givenKeys,
  neededKeys,
  serverFinding,
  vaultFinding
} from "./DataFindings.ts"
import { backupFindings } from "./BackupFindings.ts"
import { failedLook, type Finding, formatFindings, isHealthy } from "./DoctorReport.ts"
import { installationFinding, missingDatabaseFinding, restoreFinding, sealedFinding } from "./InstallationFindings.ts"
import { isRefused, type StartFinding, startFindings } from "./StartChecks.ts"
import { mailFindings } from "./MailFindings.ts"
import { isolationFindings, queueFinding, settingsFinding, toolFinding, transportFinding } from "./MachineFindings.ts"

const orFailed = <E, R>(check: Finding["check"], finding: Effect.Effect<Finding, E, R>) =>
  Effect.catchCause(finding, (cause) => Effect.succeed(failedLook(check, cause)))

const machineFindings = (settings: Settings, folder: string) =>
  Effect.all([
    orFailed("tool", toolFinding(settings)),
    isolationFindings(settings).pipe(Effect.catchCause((cause) => Effect.succeed([failedLook("sandbox", cause)]))),
    settingsFinding,
    Effect.succeed(transportFinding(settings)),
    Effect.succeed(queueFinding(settings)),
    mailFindings(settings)
  ]).pipe(
    Effect.map(([tool, isolation, set, transport, queue, mail]) => [
      tool,
      ...isolation,
      set,
      transport,
      queue,
      ...mail
    ]),
    Effect.provide(layerLook(folder))
  )

const databaseFindings = Effect.fn("databaseFindings")(function* (settings: Settings, folder: string) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const instance = lookAtInstance(folder)
  const isServed = Effect.orElseSucceed(
    Effect.map(instance, ({ held }) => held),
    () => false
  )
  const server = yield* orFailed("server", Effect.map(instance, serverFinding))
  const served = yield* isServed
  const vault = (needed: ReadonlyArray<string>) =>
    orFailed("vault", vaultFinding(settings, folder, needed)).pipe(Effect.map(served ? besideServer : (same) => same))

  const file = path.join(folder, databaseName)
  const missing = yield* missingDatabaseFinding(folder, served, yield* files.exists(file))
  if (missing !== undefined) return [server, missing, yield* vault([])]
  const keyring = yield* givenKeys(settings, folder)
  const inside = Effect.gen(function* () {
    const findings = [
      yield* databaseFinding(served),
      yield* migrationsFinding(served),
      yield* orFailed("installation", installationFinding(folder, settings.installation))
    ]
    const needed = yield* neededKeys
    // Without all of the keys nothing is known about the values; the missing keys are reported below.
    const isComplete = needed.every((id) => keyring.keys.some((key) => key.id === id))
    if (Option.isSome(keyring.whole) && isComplete) {
      findings.push(yield* orFailed("sealed", sealedFinding(keyring.whole.value)))
    }
    findings.push(...(yield* Effect.orElseSucceed(restoreFinding, () => [])))
    return { findings, needed }
  })
  const { findings, needed } = yield* withReadOnlyDatabase(file, isServed, inside).pipe(
    Effect.catchTag("DatabaseUnreadable", ({ message }) => {
      const finding: Finding = { check: "database", status: "warning", message }
      return Effect.succeed({ findings: [finding], needed: undefined })
    }),
    Effect.mapError(namingDamage(file)),
    Effect.catchCause((cause) => Effect.succeed({ findings: [failedLook("database", cause)], needed: undefined }))
  )
  return needed === undefined ? [server, ...findings] : [server, ...findings, yield* vault(needed)]
})

const reported = ({ check, message, remedy, status }: StartFinding): Finding => ({ check, status, message, remedy })

const dataFindings = Effect.fn("dataFindings")(function* (settings: Settings, look: DataFolderLook) {
  const start = yield* startFindings(look)
  // What this user cannot open says nothing about its contents.
  const inside = start.some(isRefused) ? [] : yield* databaseFindings(settings, look.path)
  return [...start.map(reported), ...inside]
})

/** Inspects this machine and the data folder as a server with these settings would, and changes neither. */
export const doctorCommand = Command.make(
  "doctor",
  { settings: everySettingFlag, config: configFlag, json: jsonFlag },
  Effect.fn("doctor")(function* ({ config, json, settings: flags }) {
    const settings = yield* settingsOf(flags, config)
    const look = yield* Effect.result(lookAtDataFolder(settings.dataDir))
    const path = Option.match(Option.getSuccess(look), { onNone: () => settings.dataDir, onSome: (seen) => seen.path })
    const machine = yield* machineFindings(settings, path)
    const data = yield* Effect.fromResult(look).pipe(
      Effect.flatMap((seen) => dataFindings(settings, seen)),
      Effect.catchCause((cause) => Effect.succeed([failedLook("folder", cause)]))
    )
    const all = [...machine, ...data, ...(yield* backupFindings(settings))]
    const healthy = isHealthy(all)
    yield* print(json, { healthy, findings: all }, formatFindings(all))
    if (!healthy) return yield* refused("This machine or its data needs attention.")
  })
).pipe(
  Command.withDescription(
    "Check tool, sandbox, settings, data folder, database, master key and clock, without touching anything and also while a server runs; 1 when something is wrong"
  )
)
