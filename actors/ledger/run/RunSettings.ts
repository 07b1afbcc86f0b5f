import { Context, type Duration } from "effect"
import { defaultTiming, type RunTiming } from "../../../runner/execution/RunJob.ts"
import { retention } from "../../../schema/records/Retention.ts"

/**
 * Settings for the execution of Runs.
 *
 * - `runsFolder`: absolute path of a folder on a durable disk; each attempt has its own folder in it
 * - `concurrency`, `workspaceConcurrency`: Runs executing at once, in total and per Workspace, not counting builds
 * - `buildConcurrency`, `workspaceBuildConcurrency`: the same for the build pool
 * - `workspaceQueue`: Runs that one Workspace may queue
 * - `planLifetime`: the time that a reviewable or approved plan may wait
 * - `drainGrace`: the time that running Runs may continue after a stop request, before applies are interrupted
 * - `mostLogBytes`: maximum size of a Run's log, apart from its last lines, because a module may print as long as it runs
 * - `deniedProviders`: provider sources that no Run may use
 * - `buildNetwork`: true if a reviewed source build may use the network
 */
export interface RunSettingsShape {
  readonly runsFolder: string
  readonly concurrency: number
  readonly workspaceConcurrency: number
  readonly buildConcurrency: number
  readonly workspaceBuildConcurrency: number
  readonly workspaceQueue: number
  readonly planLifetime: Duration.Input
  readonly drainGrace: Duration.Input
  readonly mostLogBytes: number
  readonly deniedProviders: ReadonlyArray<string>
  readonly buildNetwork: boolean
  readonly timing: { readonly [Phase in keyof RunTiming]?: Duration.Input }
}

export const defaultRunSettings: Omit<RunSettingsShape, "runsFolder"> = {
  concurrency: 4,
  workspaceConcurrency: 3,
  buildConcurrency: 3,
  workspaceBuildConcurrency: 2,
  workspaceQueue: 1000,
  planLifetime: retention.plan.after,
  drainGrace: "30 seconds",
  mostLogBytes: 512 * 1024 * 1024,
  deniedProviders: [],
  buildNetwork: false,
  timing: defaultTiming
}

export class RunSettings extends Context.Service<RunSettings, RunSettingsShape>()(
  "svc/actors/ledger/run/RunSettings"
) {}
