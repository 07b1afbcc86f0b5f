import { describe, expect, test } from "bun:test"
import { effectiveLimits, unmetRequirement } from "../../../runner/sandbox/RunRequirements.ts"
import { acceptedLevels } from "../../../runner/sandbox/SandboxLadder.ts"
import { defaultSandboxSettings } from "../../../runner/sandbox/SandboxSettings.ts"
import { SandboxLevel } from "../../../schema/records/Run.ts"

const shared = { reach: "host", reason: "pasta was not found.", remedy: "Install the 'passt' package." } as const

describe("Profile requirements", () => {
  test("a profile rejects an isolation level below its minimum, and reports the remedy", () => {
    for (const [index, level] of SandboxLevel.literals.entries()) {
      for (const isolation of acceptedLevels) {
        const unmet = unmetRequirement({ profile: "strict", isolation }, { level, remedy: "Mend it." }, shared)
        expect(unmet !== undefined).toBe(index > SandboxLevel.literals.indexOf(isolation))
        if (unmet !== undefined) {
          expect(unmet).toBe(
            `The execution profile strict needs at least the isolation ${isolation}, and this machine gives ${level}. Mend it.`
          )
        }
      }
    }
    expect(unmetRequirement({ profile: "opentofu-default" }, { level: "process" }, shared)).toBeUndefined()
  })

  test("a profile that requires a private network rejects a shared network", () => {
    const requirements = { profile: "strict", network: "isolated" } as const
    expect(unmetRequirement(requirements, { level: "bubblewrap" }, shared)).toContain("Install the 'passt' package.")
    expect(unmetRequirement(requirements, { level: "bubblewrap" }, { ...shared, reach: "isolated" })).toBeUndefined()
  })

  test("a profile can lower limits but not raise them", () => {
    const { limits } = defaultSandboxSettings
    const asked = { memoryBytes: 1, processes: limits.processes + 1, folderBytes: 4096 }
    expect(effectiveLimits(limits, { profile: "small", limits: asked })).toEqual({
      ...limits,
      memoryBytes: 1,
      folderBytes: 4096,
      fileBytes: 4096
    })
    expect(effectiveLimits(limits, undefined)).toBe(limits)
  })
})
