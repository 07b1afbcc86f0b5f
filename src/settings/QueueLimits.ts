import type { RunSettingsShape } from "../../actors/ledger/run/RunSettings.ts"
import type { Settings } from "./Settings.ts"

/** Leaves one slot free for other Workspaces, in case one Workspace's Runs never finish. */
const allButOne = (places: number) => Math.max(1, places - 1)

/** Derives the limits of the queue from these settings. */
export const queueLimits = (settings: Settings) =>
  ({
    concurrency: settings.runConcurrency,
    workspaceConcurrency: settings.workspaceRunConcurrency ?? allButOne(settings.runConcurrency),
    buildConcurrency: settings.buildConcurrency,
    workspaceBuildConcurrency: settings.workspaceBuildConcurrency ?? allButOne(settings.buildConcurrency),
    workspaceQueue: settings.workspaceQueue
  }) satisfies Partial<RunSettingsShape>
