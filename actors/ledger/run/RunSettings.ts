import { Context, type Duration } from "effect"
import { defaultTiming, type RunTiming } from "../../../runner/execution/RunJob.ts"
import { retention } from "../../../schema/records/Retention.ts"

/**
 * Settings for the execution of Runs.
 * - `runsFolder`: absolute path of a folder on a durable disk; each attempt gets a subfolder
 * - `concurrency`, `workspaceConcurrency`: maximum number of Runs executing at once, in total and per Workspace, not counting
 *   builds
 * - `buildConcurrency`, `workspaceBuildConcurrency`: the same limits for builds
 * - `workspaceQueue`: maximum number of queued Runs per Workspace
 * - `planLifetime`: time until an unapplied plan expires
 * - `drainGrace`: how long running Runs may continue after svc is asked to stop, before their applies are interrupted
 * - `mostLogBytes`: maximum size of a Run's log, not counting its last lines; limited because a module may print
 *   indefinitely
 * - `deniedProviders`: provider sources that no Run may use
 * - `buildNetwork`: whether a reviewed source build may use the network
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
