import { Layer } from "effect"
import { Sandbox } from "../../../../runner/sandbox/Sandbox.ts"
import { defaultSandboxSettings } from "../../../../runner/sandbox/SandboxSettings.ts"
import type { SandboxLevel } from "../../../../schema/records/Run.ts"

/** A sandbox of which only the level is asked. */
export const sandboxAt = (level: SandboxLevel) =>
  Layer.mock(Sandbox)({
    status: { level, accepted: true, reason: "", limits: { ...defaultSandboxSettings.limits, keeper: "watching" } },
    insideRoot: (root) => root,
    trustsTrees: false
  })
