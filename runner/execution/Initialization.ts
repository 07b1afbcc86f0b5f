import { Effect } from "effect"
import type { RunJob } from "./RunJob.ts"
import type { RunSession } from "./RunSession.ts"
import { requireSuccess } from "./ToolSuccess.ts"

const isVersion = (version: string, major: number, minor: number) => {
  const [, ownMajor = "0", ownMinor = "0"] = /^v?(\d+)\.(\d+)/.exec(version) ?? []
  return Number(ownMajor) > major || (Number(ownMajor) === major && Number(ownMinor) >= minor)
}

/**
 * Whether an apply has anything to install. The installation of the plan leaves a lock for every provider that it installed, and the
 * plan file itself says where the state is. Proven for Terraform; every other tool is always initialised.
 */
export const needsInitialization = ({ lockText, tool }: RunJob): boolean =>
  lockText !== undefined || tool.name !== "terraform" || !isVersion(tool.version, 1, 11)

/** Installs providers. Modules are never fetched: what the scan did not find in the tree does not exist. */
export const initialize = Effect.fnUntraced(function* (session: RunSession, job: RunJob, lock: "readonly" | "update") {
  const { name, version } = job.tool
  const speaksJson = name === "opentofu" ? isVersion(version, 1, 7) : isVersion(version, 1, 9)
  yield* session.report.phase("init")
  const end = yield* session.tool({
    phase: "init",
    args: [
      "init",
      "-input=false",
      "-get=false",
      "-reconfigure",
      "-no-color",
      ...(speaksJson ? ["-json"] : []),
      ...(lock === "readonly" ? ["-lockfile=readonly"] : [])
    ],
    access: "install",
    output: { kind: "messages" },
    timeout: session.timing.init,
    grace: session.timing.planGrace
  })
  yield* requireSuccess(end, "init", "init_failed")
  return end
})
