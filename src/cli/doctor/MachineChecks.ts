import { Effect, type FileSystem, type Path } from "effect"
import type { Sandbox } from "../../../runner/sandbox/Sandbox.ts"
import type { Toolchain } from "../../../runner/toolchain/Toolchain.ts"
import type { Settings } from "../../settings/Settings.ts"
import { backupFindings, keyFindings } from "./BackupFindings.ts"
import type { CheckCaller, CheckFacts } from "./Check.ts"
import { limitsFinding, networkFinding } from "./ConfinementFindings.ts"
import { failedLook, type Finding } from "./DoctorReport.ts"
import { queueFinding, sandboxFinding, settingsFinding, toolFinding, transportFinding } from "./MachineFindings.ts"
import { mailFindings } from "./MailFindings.ts"

interface MachineCheck extends CheckFacts {
  readonly look: (
    settings: Settings,
    caller: CheckCaller
  ) => Effect.Effect<ReadonlyArray<Finding>, unknown, Toolchain | Sandbox | FileSystem.FileSystem | Path.Path>
}

const one = <E, R>(finding: Effect.Effect<Finding, E, R>) => Effect.map(finding, (only) => [only])

/**
 * Checks that do not concern the data. Both the doctor and the startup run them. The tool and the sandbox come from the
 * context.
 */
export const machineChecks: ReadonlyArray<MachineCheck> = [
  {
    name: "tool",
    looksAt: "the tool that executes Runs",
    atStart: "ready",
    onError: "warns",
    look: (settings, caller) => one(toolFinding(settings, caller))
  },
  {
    name: "sandbox",
    looksAt: "the isolation of module code",
    atStart: "ready",
    onError: "warns",
    less: "only the level of Runs; `svc doctor` also tries all other levels",
    look: (_, caller) => one(sandboxFinding(caller))
  },
  {
    name: "limits",
    looksAt: "the limits of one Run, and how they are enforced",
    atStart: "ready",
    onError: "warns",
    look: () => one(limitsFinding)
  },
  {
    name: "network",
    looksAt: "the network of Runs",
    atStart: "ready",
    onError: "warns",
    look: () => one(networkFinding)
  },
  {
    name: "settings",
    looksAt: "environment variables that look like misspelt settings",
    atStart: "ready",
    onError: "warns",
    look: () => one(settingsFinding)
  },
  {
    name: "transport",
    looksAt: "people reach the server over TLS",
    atStart: "ready",
    onError: "warns",
    look: (settings) => Effect.succeed([transportFinding(settings)])
  },
  {
    name: "queue",
    looksAt: "the number of Runs on this machine",
    atStart: "ready",
    onError: "warns",
    look: (settings) => Effect.succeed([queueFinding(settings)])
  },
  {
    name: "mail",
    looksAt: "the mail server accepts the login of this machine",
    atStart: "never",
    onError: "warns",
    less: "it would wait for another server; svc keeps, retries and logs mails that cannot be sent",
    look: mailFindings
  },
  {
    name: "backup",
    looksAt: "the age of the newest scheduled backup",
    atStart: "never",
    onError: "warns",
    less: "the schedule checks the backups right after startup, and logs failures",
    look: backupFindings
  },
  {
    name: "key",
    looksAt: "the only master key is outside the data folder",
    atStart: "ready",
    onError: "warns",
    look: keyFindings
  }
]

/** Runs some of these checks in order. */
export const machineFindings = Effect.fn("machineFindings")(function* (
  checks: ReadonlyArray<MachineCheck>,
  settings: Settings,
  caller: CheckCaller
) {
  const found = yield* Effect.forEach(checks, ({ look, name }) =>
    Effect.catchCause(look(settings, caller), (cause) => Effect.succeed([failedLook(name, cause)]))
  )
  return found.flat()
})
