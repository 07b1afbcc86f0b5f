import { Effect, Option } from "effect"
import { type LevelFinding, Sandbox } from "../../../runner/sandbox/Sandbox.ts"
import { type Tool, type ToolOrigin, toolTitles } from "../../../runner/toolchain/Tool.ts"
import { Toolchain } from "../../../runner/toolchain/Toolchain.ts"
import { pinnedVersion } from "../../../runner/toolchain/ToolchainSettings.ts"
import type { DataFolderInspection } from "../../database/DataFolderInspection.ts"
import { describeMisspelt, misspeltSettings } from "../../settings/MisspeltSettings.ts"
import { isPlainBeyondLoopback, plainHttpWarning, type Settings } from "../../settings/Settings.ts"
import { queueLimits } from "../../settings/QueueLimits.ts"
import type { CheckCaller } from "./Check.ts"
import type { Finding } from "./DoctorReport.ts"

const gibibyte = 1024 ** 3
const enoughDisk = 2 * gibibyte
const hardlyAnyDisk = gibibyte / 4

const origins = {
  configured: "named by SVC_TOOL",
  managed: "downloaded by this service and verified",
  path: "found on PATH"
} as const satisfies Record<ToolOrigin, string>

/** Describes the tool that executes Runs, and its source. */
export const describeTool = (tool: Tool) =>
  `${toolTitles[tool.name]} ${tool.version}, ${origins[tool.origin]}: ${tool.path}`

/**
 * Reports the tool on this machine. If the tool is missing, the checks before startup only report this and do not download
 * it.
 */
export const toolFinding = (settings: Settings, caller: CheckCaller) =>
  Effect.flatMap(Toolchain, (tools) =>
    Effect.match(tools.resolve(), {
      onSuccess: (tool): Finding => ({ check: "tool", status: "ok", message: describeTool(tool) }),
      onFailure: (error): Finding =>
        error._tag === "ToolMissing" && settings.toolDownload === "on" && caller === "doctor"
          ? {
              check: "tool",
              status: "warning",
              message: `${error.message} The server downloads OpenTofu ${settings.toolVersion ?? pinnedVersion} when it starts.`,
              remedy: `Start it where ${settings.toolMirror ?? "the project's release page on github.com"} can be reached, or install OpenTofu or Terraform on PATH.`
            }
          : { check: "tool", status: "error", message: error.message, remedy: error.remedy }
    })
  )

const describeLevel = ({ level, reason, works }: LevelFinding) =>
  works ? `${level}: works.` : `${level}: no. ${reason}`

/** Reports the isolation level of Runs. Except at startup, also tries every other level and reports the results. */
export const sandboxFinding = Effect.fn("sandboxFinding")(function* (caller: CheckCaller) {
  const { examine, status } = yield* Sandbox
  const message = status.accepted ? `${status.level}: ${status.reason}` : `Runs are refused: ${status.reason}`
  const levels = caller === "start" ? "" : ` Levels, best first: ${(yield* examine).map(describeLevel).join(" ")}`
  const finding: Finding = {
    check: "sandbox",
    status: !status.accepted ? "error" : status.level === "process" ? "warning" : "ok",
    message: `${message}${levels}`,
    remedy: status.remedy
  }
  return finding
})

/** Reports variables that look like misspelt settings. */
export const settingsFinding: Effect.Effect<Finding> = Effect.map(misspeltSettings, (misspelt) =>
  misspelt.length === 0
    ? { check: "settings", status: "ok", message: "Every setting of the environment is known." }
    : {
        check: "settings",
        status: "warning",
        message: misspelt.map(describeMisspelt).join(" "),
        remedy: "Correct the name, or leave it if it belongs to something else."
      }
)

/**
 * Checks whether the transport is encrypted. If TLS is not used, third parties can read all data that people on other
 * machines send.
 */
export const transportFinding = (settings: Settings): Finding =>
  isPlainBeyondLoopback(settings)
    ? {
        check: "transport",
        status: "warning",
        message: plainHttpWarning,
        remedy: "Set SVC_BASE_URL to an https origin, or listen on loopback."
      }
    : {
        check: "transport",
        status: "ok",
        message: settings.baseUrl?.startsWith("https:") === true ? "https, by a proxy in front" : "loopback only"
      }

/** Reports the combined limits for all Runs on this machine. */
export const queueFinding = (settings: Settings): Finding => {
  const limits = queueLimits(settings)
  return {
    check: "queue",
    status: "ok",
    message: [
      `${limits.concurrency} Runs at once, at most ${limits.workspaceConcurrency} of one Workspace`,
      `${limits.buildConcurrency} more syncs, checks and builds, at most ${limits.workspaceBuildConcurrency} of one Workspace`,
      `${limits.workspaceQueue} queued of one Workspace`
    ].join("; ")
  }
}

export const diskFinding = ({ free, standing }: DataFolderInspection): Finding =>
  Option.match(free, {
    onNone: (): Finding => ({ check: "disk", status: "warning", message: "The free space could not be read." }),
    onSome: (bytes): Finding => ({
      check: "disk",
      status: bytes < hardlyAnyDisk ? "error" : bytes < enoughDisk ? "warning" : "ok",
      message: `${(bytes / gibibyte).toFixed(1)} GiB free for ${standing}`,
      remedy: bytes < enoughDisk ? "Make room: a full disk stops Runs from saving their state." : undefined
    })
  })
