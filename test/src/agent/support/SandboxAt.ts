import { Layer } from "effect"
import { Sandbox } from "../../../../runner/sandbox/Sandbox.ts"
import { defaultSandboxSettings } from "../../../../runner/sandbox/SandboxSettings.ts"
import type { SandboxLevel } from "../../../../schema/records/Run.ts"

/** A sandbox that is asked only for its level. */
export const sandboxAt = (level: SandboxLevel) =>
  Layer.mock(Sandbox)({
    status: { level, accepted: true, reason: "", limits: { ...defaultSandboxSettings.limits, keeper: "watching" } },
    insideRoot: (root) => root,
    trustsTrees: false
  })
