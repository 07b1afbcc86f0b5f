import { Effect, Layer } from "effect"
import { Sandbox } from "../../../../runner/sandbox/Sandbox.ts"
import { defaultSandboxSettings } from "../../../../runner/sandbox/SandboxSettings.ts"
import type { SandboxLevel } from "../../../../schema/records/Run.ts"

/** Returns a sandbox that reports the isolation for a Run, but executes nothing. */
export const sandboxAt = (level: SandboxLevel) =>
  Layer.mock(Sandbox)({
    status: { level, accepted: true, reason: "", limits: { ...defaultSandboxSettings.limits, keeper: "watching" } },
    network: Effect.succeed({ reach: "host", accepted: true, reason: "As the test says.", forbidden: ["10.0.0.0/8"] }),
    insideRoot: (root) => root,
    trustsTrees: false
  })
