import type { RunSettingsShape } from "../../actors/ledger/run/RunSettings.ts"
import type { Settings } from "./Settings.ts"

/** One fewer than the number of slots, so that a Workspace whose Runs never finish leaves a slot for others. */
const allButOne = (places: number) => Math.max(1, places - 1)

/** The limits of the queue under these settings. */
export const queueLimits = (settings: Settings) =>
  ({
    concurrency: settings.runConcurrency,
    workspaceConcurrency: settings.workspaceRunConcurrency ?? allButOne(settings.runConcurrency),
    buildConcurrency: settings.buildConcurrency,
    workspaceBuildConcurrency: settings.workspaceBuildConcurrency ?? allButOne(settings.buildConcurrency),
    workspaceQueue: settings.workspaceQueue
  }) satisfies Partial<RunSettingsShape>
