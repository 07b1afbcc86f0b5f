import { Context } from "effect"

/**
 * - `providerCache`: absolute folder in which installed providers are kept for later runs. Only the installation step may write it, one
 *   run at a time; module code sees it read-only. Not used at the `user_landlock` level, where runs share no user.
 */
export interface RunnerSettingsShape {
  readonly providerCache: string | undefined
}

export const RunnerSettings = Context.Reference<RunnerSettingsShape>("svc/execution/RunnerSettings", {
  defaultValue: () => ({ providerCache: undefined })
})
