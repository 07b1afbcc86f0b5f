import { Effect } from "effect"
import { formatBytes } from "../../../runner/sandbox/limits/LimitExceeded.ts"
import { Sandbox } from "../../../runner/sandbox/Sandbox.ts"
import type { NetworkStatus, SandboxStatus } from "../../../runner/sandbox/SandboxStatus.ts"
import type { Finding } from "./DoctorReport.ts"

/* Reports the resources and networks that Runs may use, on the control plane and on agents. */

/**
 * Returns true for levels at which a Run has in-memory file systems. At the other levels, the Run's folder replaces `/tmp`.
 */
const hasPrivateMemory = (level: SandboxStatus["level"]) => level === "bubblewrap" || level === "namespaces"

/** Describes the limits of one Run, and how they are enforced. */
export const describeLimits = ({ level, limits }: Pick<SandboxStatus, "level" | "limits">) =>
  [
    `a Run has ${formatBytes(limits.memoryBytes)} of memory and ${limits.processes} processes (kept by ${limits.keeper})`,
    ...(hasPrivateMemory(level)
      ? [`/tmp ${formatBytes(limits.tmpBytes)}`, `/dev/shm ${formatBytes(limits.shmBytes)}`]
      : []),
    `run folder ${formatBytes(limits.folderBytes)}`,
    `disk kept free ${formatBytes(limits.freeBytes)}`
  ].join(", ")

export const limitsFinding = Effect.map(
  Sandbox,
  ({ status }): Finding => ({
    check: "limits",
    status: "ok",
    message: describeLimits(status),
    ...(status.limits.keeper === "watching"
      ? {
          remedy:
            "The kernel keeps memory and processes more exactly where a control group is delegated to the service: see Limits in docs/operations/isolation.md."
        }
      : {})
  })
)

const describeNetwork = ({ forbidden, reach, reason }: NetworkStatus) =>
  `${reach}: ${reason}${forbidden.length === 0 ? "" : ` Forbidden: ${forbidden.join(", ")}.`}`

export const networkFinding = Effect.map(
  Effect.flatMap(Sandbox, ({ network }) => network),
  (network): Finding => ({
    check: "network",
    status: network.accepted ? (network.reach === "isolated" ? "ok" : "warning") : "error",
    message: describeNetwork(network),
    remedy: network.remedy
  })
)
