import type { ToolIdentity } from "../../schema/records/Run.ts"
import type { RunJob } from "./RunJob.ts"
import type { StateFile } from "./StateFile.ts"

const isVersion = ({ version }: ToolIdentity, major: number, minor: number) => {
  const [, ownMajor = "0", ownMinor = "0"] = /^v?(\d+)\.(\d+)/.exec(version) ?? []
  return Number(ownMajor) > major || (Number(ownMajor) === major && Number(ownMinor) >= minor)
}

/** True if the installation step can report in JSON. */
export const installsInJson = (tool: ToolIdentity): boolean =>
  tool.name === "opentofu" ? isVersion(tool, 1, 7) : isVersion(tool, 1, 9)

/** Only Terraform has been verified to work, or to refuse cleanly, without an installation; other tools always install. */
export const worksUninstalled = (tool: ToolIdentity): boolean => tool.name === "terraform" && isVersion(tool, 1, 11)

/**
 * True if a plan has nothing to install and no backend to set up. A lock, an overlaid build, the runner's own provider blocks and
 * a state with objects from other providers all require an installation that the scan did not foresee.
 */
export const plansUninstalled = (
  job: RunJob,
  found: {
    readonly base: StateFile | undefined
    readonly hasBlocks: boolean
    readonly hasBuild: boolean
    readonly hasLock: boolean
  }
): boolean =>
  job.selfContained === true &&
  worksUninstalled(job.tool) &&
  job.lockText === undefined &&
  !found.hasLock &&
  !found.hasBuild &&
  !found.hasBlocks &&
  found.base?.builtinOnly !== false

/**
 * True if a reviewed plan uses no installed provider. The plan's installation leaves a lock entry for every provider, and the
 * plan file itself contains the location of the state.
 */
export const appliesUninstalled = ({ lockText, tool }: RunJob): boolean =>
  lockText === undefined && worksUninstalled(tool)
