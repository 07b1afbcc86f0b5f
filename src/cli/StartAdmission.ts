import { Effect } from "effect"
import { lookAtDataFolder } from "../database/DataFolderLook.ts"
import type { Settings } from "../settings/Settings.ts"
import { findingLine, isRefused, startFindings } from "./doctor/StartChecks.ts"
import { CommandFailed } from "./Output.ts"

/** Runs the checks that `svc doctor` has too: refuses to start where a server could not work, and logs what else is wrong. */
export const admitStart = Effect.fn("admitStart")(function* (settings: Settings) {
  const findings = yield* startFindings(yield* lookAtDataFolder(settings.dataDir))
  const refusals = findings.filter(isRefused)
  if (refusals.length > 0) return yield* new CommandFailed({ message: refusals.map(findingLine).join(" ") })
  yield* Effect.forEach(
    findings.filter(({ status }) => status !== "ok"),
    (finding) =>
      finding.status === "error" ? Effect.logError(findingLine(finding)) : Effect.logWarning(findingLine(finding)),
    { discard: true }
  )
})
