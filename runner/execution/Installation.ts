import type { ToolIdentity } from "../../schema/records/Run.ts"
import type { RunJob } from "./RunJob.ts"
import type { StateFile } from "./StateFile.ts"

const isVersion = ({ version }: ToolIdentity, major: number, minor: number) => {
  const [, ownMajor = "0", ownMinor = "0"] = /^v?(\d+)\.(\d+)/.exec(version) ?? []
  return Number(ownMajor) > major || (Number(ownMajor) === major && Number(ownMinor) >= minor)
}

/** Returns true if the tool's installation step supports JSON output. */
export const installsInJson = (tool: ToolIdentity): boolean =>
  tool.name === "opentofu" ? isVersion(tool, 1, 7) : isVersion(tool, 1, 9)

/**
 * Returns true for a tool that either works or fails cleanly if nothing has been installed. With all other tools, the
 * installation always runs first.
 */
export const worksUninstalled = (tool: ToolIdentity): boolean => tool.name === "terraform" && isVersion(tool, 1, 11)

/**
 * Returns true if a plan has nothing to install and no backend to set up. A lock, a build, the runner's own provider blocks,
 * and a state with objects of other providers each require an installation that the scan could not foresee.
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
 * Returns true if a reviewed plan uses no installed provider, because the plan's installation would have written a lock
 * entry for each provider.
 */
export const appliesUninstalled = ({ lockText, tool }: RunJob): boolean =>
  lockText === undefined && worksUninstalled(tool)
