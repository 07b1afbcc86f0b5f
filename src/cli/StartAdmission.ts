import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { ReadSql } from "../../actors/base/database/ReadSql.ts"
import { DataFolder } from "../database/DataFolder.ts"
import { inspectDataFolder } from "../database/DataFolderInspection.ts"
import type { Settings } from "../settings/Settings.ts"
import { type Finding, findingLine } from "./doctor/DoctorReport.ts"
import { folderFindings, isRefused } from "./doctor/FolderChecks.ts"
import { machineChecks, machineFindings } from "./doctor/MachineChecks.ts"
import { storedChecks, storedFindings } from "./doctor/StoredChecks.ts"
import { CommandFailed } from "./Output.ts"

const logged = (finding: Finding) => {
  const line = findingLine(finding)
  if (finding.status === "ok") return Effect.logInfo(`${finding.check}: ${line}`)
  return finding.status === "error" ? Effect.logError(line) : Effect.logWarning(line)
}

const isWrong = ({ status }: Finding) => status !== "ok"

/**
 * Runs the checks that must pass before anything is opened. Refuses to start if the server could not work, and logs all other
 * problems.
 */
export const admitStart = Effect.fn("admitStart")(function* (settings: Settings) {
  const findings = yield* folderFindings(yield* inspectDataFolder(settings.dataDir))
  const refusals = findings.filter(isRefused)
  if (refusals.length > 0) return yield* new CommandFailed({ message: refusals.map(findingLine).join(" ") })
  yield* Effect.forEach(findings.filter(isWrong), logged, { discard: true })
})

/**
 * Runs the checks for a server that is ready, using the server's tool, sandbox and database. Logs problems with the same
 * wording as `svc doctor`, and logs how this server executes Runs. Downloads a missing tool now, so that the first Run does
 * not have to download it.
 */
export const reportStart = Effect.fn("reportStart")(function* (settings: Settings) {
  const { path } = yield* DataFolder
  const subject = { settings, folder: path, caller: "start", isServed: false } as const
  const stored = yield* storedFindings(
    storedChecks.filter(({ atStart }) => atStart === "ready"),
    subject
  ).pipe(Effect.provideService(SqlClient.SqlClient, yield* ReadSql))
  const machine = yield* machineFindings(
    machineChecks.filter(({ atStart }) => atStart === "ready"),
    settings,
    "start"
  )
  yield* Effect.forEach([...machine, ...stored.filter(isWrong)], logged, { discard: true })
})
