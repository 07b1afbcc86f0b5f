import { Context } from "effect"
import type { ProviderMirror } from "./RunPlace.ts"

/**
 * - `providerCache`: absolute path of the folder in which installed providers are stored for later runs, see
 *   `providerStore`; not used at the level `user_landlock`, where runs do not share a user
 * - `dataFolder`: absolute path of the server's data folder, which is never shown to people
 * - `mirror`: a provider source that is tried before the registries
 */
export interface RunnerSettingsShape {
  readonly providerCache: string | undefined
  readonly dataFolder?: string | undefined
  readonly mirror: ProviderMirror | undefined
}

export const RunnerSettings = Context.Reference<RunnerSettingsShape>("svc/runner/execution/RunnerSettings", {
  defaultValue: () => ({ providerCache: undefined, mirror: undefined })
})
