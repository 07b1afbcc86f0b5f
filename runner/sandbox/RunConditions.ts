import { Effect } from "effect"
import type { RunGuard } from "./limits/RunLimits.ts"
import type { SandboxLimits } from "./SandboxSettings.ts"
import { hostNetwork, type NetworkEntry } from "./network/NetworkNamespace.ts"
import type { SandboxSpawnFailed } from "./SandboxStatus.ts"

/** The conditions that apply to a Run at every isolation level. */
export interface RunConditions {
  readonly guard: RunGuard
  /** Limits for the Run's programs. */
  readonly limits: SandboxLimits
  /** The network for those of the Run's commands that may use a network. */
  readonly network: Effect.Effect<NetworkEntry, SandboxSpawnFailed>
}

const unlimited: RunGuard = {
  around: (commandLine) => commandLine,
  watch: () => Effect.succeed(Effect.undefined),
  endAll: Effect.void
}

/** Conditions for svc's own programs that probe this machine. */
export const probeConditions = (limits: SandboxLimits): RunConditions => ({
  guard: unlimited,
  limits,
  network: Effect.succeed(hostNetwork)
})
