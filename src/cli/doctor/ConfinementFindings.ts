import { Effect } from "effect"
import { formatBytes } from "../../../runner/sandbox/limits/LimitExceeded.ts"
import { Sandbox } from "../../../runner/sandbox/Sandbox.ts"
import type { NetworkStatus, SandboxStatus } from "../../../runner/sandbox/SandboxStatus.ts"
import type { Finding } from "./DoctorReport.ts"

/* The resources that a Run may use and reach, on the control plane and on an agent. */

/** Levels at which a Run has in-memory file systems; at the others it has its own folder instead of `/tmp`. */
const hasPrivateMemory = (level: SandboxStatus["level"]) => level === "bubblewrap" || level === "namespaces"

/** The limits of one Run, and how they are enforced. */
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
            "The kernel keeps memory and processes more exactly where a control group is delegated to the service: see Limits in docs/operations.md."
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
