import { Effect } from "effect"
import type { RunGuard } from "./limits/RunLimits.ts"
import type { SandboxLimits } from "./SandboxSettings.ts"
import { hostNetwork, type NetworkEntry } from "./network/NetworkNamespace.ts"
import type { SandboxSpawnFailed } from "./SandboxStatus.ts"

/** What holds for a Run whichever level it is kept apart by. */
export interface RunConditions {
  readonly guard: RunGuard
  /** What its programs may use at most. */
  readonly limits: SandboxLimits
  /** The network of the Run's commands that may have one, the same for all of them. Levels without namespaces have the host's. */
  readonly network: Effect.Effect<NetworkEntry, SandboxSpawnFailed>
}

const unlimited: RunGuard = {
  around: (commandLine) => commandLine,
  watch: () => Effect.succeed(Effect.undefined),
  endAll: Effect.void
}

/** For programs of the service itself, which try out what this machine gives. */
export const trialConditions = (limits: SandboxLimits): RunConditions => ({
  guard: unlimited,
  limits,
  network: Effect.succeed(hostNetwork)
})
