import { existsSync } from "node:fs"
import { statfs } from "node:fs/promises"
import { dirname } from "node:path"
import { Effect } from "effect"
import { ProvidedCredentials } from "../../../runner/execution/ProvidedCredentials.ts"
import { Sandbox } from "../../../runner/sandbox/Sandbox.ts"
import { formatBytes } from "../../../runner/sandbox/limits/LimitExceeded.ts"
import { Toolchain } from "../../../runner/toolchain/Toolchain.ts"
import { toolTitles } from "../../../runner/toolchain/Tool.ts"
import { ownCredentials } from "../../agent/OwnCredentials.ts"
import { limitsFinding, networkFinding } from "../doctor/ConfinementFindings.ts"
import type { AnyFinding } from "../doctor/DoctorReport.ts"

const enoughDisk = 2 * 1024 ** 3
const hardlyAnyDisk = 1024 ** 3

/** Returns the nearest existing parent folder. */
const existing = (folder: string): string => (existsSync(folder) ? folder : existing(dirname(folder)))

const diskFinding = (folder: string) =>
  Effect.tryPromise(() => statfs(existing(folder))).pipe(
    Effect.map(({ bavail, bsize }): AnyFinding => {
      const free = bavail * bsize
      const message = `${formatBytes(free)} free.`
      if (free < hardlyAnyDisk) {
        return {
          check: "disk",
          status: "error",
          message: `${message} The agent takes no Run.`,
          remedy: "Free some space."
        }
      }
      return free < enoughDisk
        ? { check: "disk", status: "warning", message, remedy: "Providers and states take a few hundred MiB a Run." }
        : { check: "disk", status: "ok", message }
    }),
    Effect.orElseSucceed((): AnyFinding => ({ check: "disk", status: "error", message: "The disk cannot be asked." }))
  )

const toolFinding = Effect.flatMap(Toolchain, (tools) =>
  Effect.match(tools.resolve(), {
    onSuccess: ({ name, path, version }): AnyFinding => ({
      check: "tool",
      status: "ok",
      message: `${toolTitles[name]} ${version}: ${path}`
    }),
    onFailure: ({ message, remedy }): AnyFinding => ({ check: "tool", status: "error", message, remedy })
  })
)

const sandboxFinding = Effect.map(Sandbox, ({ status }): AnyFinding => {
  const { accepted, level, reason, remedy } = status
  return {
    check: "sandbox",
    status: !accepted ? "error" : level === "process" ? "warning" : "ok",
    message: accepted ? `${level}: ${reason}` : `Runs are refused: ${reason}`,
    remedy
  }
})

/** Checks whether each declared set of the machine's own credentials can be read now. */
const credentialsFinding = (folder: string) =>
  Effect.gen(function* () {
    const credentials = yield* ProvidedCredentials
    const [complete, missing] = yield* Effect.partition(yield* credentials.described, (name) =>
      Effect.map(credentials.read(name), ({ label }) => (label === undefined ? name : `${name} (label ${label})`))
    )
    const { level } = (yield* Sandbox).status
    const named = complete.length === 0 ? "This agent provides no credentials." : `${complete.join(", ")}.`
    const finding: AnyFinding =
      missing.length > 0
        ? {
            check: "credentials",
            status: "error",
            message: missing.map(({ message }) => message).join(" "),
            remedy: "Runs that need them wait."
          }
        : complete.length > 0 && level === "process"
          ? {
              check: "credentials",
              status: "warning",
              message: `${named} Modules run without isolation here, and each of them can read these.`,
              remedy: "Let this agent isolate modules, or give it only Workspaces that may have these credentials."
            }
          : { check: "credentials", status: "ok", message: named }
    return finding
  }).pipe(
    Effect.provide(ownCredentials(folder)),
    Effect.catch(({ message }) => Effect.succeed<AnyFinding>({ check: "credentials", status: "error", message }))
  )

export const machineFindings = (folder: string) =>
  Effect.all([
    diskFinding(folder),
    toolFinding,
    sandboxFinding,
    limitsFinding,
    networkFinding,
    credentialsFinding(folder)
  ])
