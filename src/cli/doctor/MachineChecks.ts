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

/** Checks that do not concern the data, both in the doctor and at startup. The tool and the sandbox come from the context. */
export const machineChecks: ReadonlyArray<MachineCheck> = [
  {
    name: "tool",
    looksAt: "which tool executes Runs",
    atStart: "ready",
    onError: "warns",
    look: (settings, caller) => one(toolFinding(settings, caller))
  },
  {
    name: "sandbox",
    looksAt: "how the code of modules is isolated",
    atStart: "ready",
    onError: "warns",
    less: "the level that Runs get; `svc doctor` tries every other one too",
    look: (_, caller) => one(sandboxFinding(caller))
  },
  {
    name: "limits",
    looksAt: "the limits of one Run, and what keeps them",
    atStart: "ready",
    onError: "warns",
    look: () => one(limitsFinding)
  },
  {
    name: "network",
    looksAt: "what Runs reach",
    atStart: "ready",
    onError: "warns",
    look: () => one(networkFinding)
  },
  {
    name: "settings",
    looksAt: "variables of the environment that look like misspelt settings",
    atStart: "ready",
    onError: "warns",
    look: () => one(settingsFinding)
  },
  {
    name: "transport",
    looksAt: "whether people reach the server over TLS",
    atStart: "ready",
    onError: "warns",
    look: (settings) => Effect.succeed([transportFinding(settings)])
  },
  {
    name: "queue",
    looksAt: "how many Runs share this machine",
    atStart: "ready",
    onError: "warns",
    look: (settings) => Effect.succeed([queueFinding(settings)])
  },
  {
    name: "mail",
    looksAt: "whether the mail server lets this machine in",
    atStart: "never",
    onError: "warns",
    less: "it waits for another server; mails that cannot be sent are kept, tried again and logged",
    look: mailFindings
  },
  {
    name: "backup",
    looksAt: "how old the newest scheduled backup is",
    atStart: "never",
    onError: "warns",
    less: "the schedule itself looks right after the start, and logs what fails",
    look: backupFindings
  },
  {
    name: "key",
    looksAt: "whether the only master key lies in the data folder",
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
