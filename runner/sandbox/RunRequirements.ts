import { Schema } from "effect"
import { SandboxLevel } from "../../schema/records/Run.ts"
import type { SandboxLimits } from "./SandboxSettings.ts"
import type { NetworkStatus, SandboxStatus } from "./SandboxStatus.ts"

/**
 * An execution profile's requirements for the machine, in addition to the settings. A profile can only be stricter than the
 * settings that apply to all Runs: it cannot accept a lower level or raise a limit. - `profile`: the profile's name, for the
 * error message
 * - `isolation`: the lowest acceptable level
 * - `network`: `isolated` if the Run requires its own network
 */
export const RunRequirements = Schema.Struct({
  profile: Schema.String,
  isolation: Schema.optional(SandboxLevel),
  network: Schema.optional(Schema.Literal("isolated")),
  limits: Schema.optional(
    Schema.Struct({
      memoryBytes: Schema.optional(Schema.Number),
      processes: Schema.optional(Schema.Number),
      tmpBytes: Schema.optional(Schema.Number),
      shmBytes: Schema.optional(Schema.Number),
      folderBytes: Schema.optional(Schema.Number)
    })
  )
})
export type RunRequirements = typeof RunRequirements.Type

/** Returns the rank of a level. The best level has the lowest rank. */
const rank = (level: SandboxLevel): number => SandboxLevel.literals.indexOf(level)

/** Returns the reason why this machine cannot execute a Run with these requirements, and the remedy, or `undefined` if it can. */
export const unmetRequirement = (
  { isolation, network, profile }: RunRequirements,
  status: Pick<SandboxStatus, "level" | "remedy">,
  networkStatus: Pick<NetworkStatus, "reach" | "remedy" | "reason">
): string | undefined => {
  if (isolation !== undefined && rank(status.level) > rank(isolation)) {
    const remedy = status.remedy ?? "Allow this machine a better level: see docs/operations/isolation.md."
    return `The execution profile ${profile} needs at least the isolation ${isolation}, and this machine gives ${status.level}. ${remedy}`
  }
  if (network === "isolated" && networkStatus.reach !== "isolated") {
    const remedy = networkStatus.remedy ?? "See Network in docs/operations/isolation.md."
    return `The execution profile ${profile} needs a network of the Run's own, and this machine gives none. ${networkStatus.reason} ${remedy}`
  }
  return undefined
}

/** Returns a Run's limits: for each limit, the lower of the values in the settings and in the Run's profile. */
export const effectiveLimits = (limits: SandboxLimits, requirements: RunRequirements | undefined): SandboxLimits => {
  const asked = requirements?.limits
  if (asked === undefined) return limits
  const lower = (name: "memoryBytes" | "processes" | "tmpBytes" | "shmBytes" | "folderBytes") =>
    Math.min(limits[name], asked[name] ?? limits[name])
  const folderBytes = lower("folderBytes")
  return {
    ...limits,
    memoryBytes: lower("memoryBytes"),
    processes: lower("processes"),
    tmpBytes: lower("tmpBytes"),
    shmBytes: lower("shmBytes"),
    folderBytes,
    fileBytes: Math.min(limits.fileBytes, folderBytes)
  }
}
