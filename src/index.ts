/**
 * The control plane as a library: Effect layers to embed. `layer` is all of it, `layerHandler` the same for the host's own
 * server; database and runner can be the host's too. See docs/embedding.md.
 */
import { Layer } from "effect"
import { controlPlaneOf } from "./Composition.ts"
import { listener } from "./composition/Face.ts"
import { machine, type RunnerServices } from "./composition/Machine.ts"
import { platform } from "./composition/Platform.ts"
import type { DatabaseServices } from "./composition/Storage.ts"
import * as Database from "./database/Database.ts"
import { MountedHandler } from "./http/MountedHandler.ts"
import type { Settings } from "./settings/Settings.ts"
import { Draining } from "./streams/Draining.ts"
import { WebSockets } from "./streams/WebSockets.ts"

export { Capsules } from "../actors/capsule/Capsules.ts"
export { Connections } from "../actors/connection/Connections.ts"
export { InstallPlans } from "../actors/install-plan/InstallPlans.ts"
export { RevisionPlans } from "../actors/revision-plan/RevisionPlans.ts"
export { Runs, RunStreams } from "../actors/run/Runs.ts"
export { Sources } from "../actors/source/Sources.ts"
export { SetupLinks } from "../actors/account/SetupLinks.ts"
export { Users } from "../actors/account/Users.ts"
export { Workspaces } from "../actors/workspace/Workspaces.ts"
export { SkipDrainGrace } from "../actors/execution/SkipDrainGrace.ts"
export { RunSettings } from "../actors/run/RunSettings.ts"
export { serviceContext } from "../actors/Command.ts"
export { HttpListener } from "./http/HttpListener.ts"
export { HttpSettings } from "./http/HttpSettings.ts"
export { Exchange } from "./http/Exchange.ts"
export type { WebHandler } from "./http/HttpApplication.ts"
export { MountedHandler } from "./http/MountedHandler.ts"
export { AccessTokens } from "../actors/account/AccessTokens.ts"
export { machine as runner, type RunnerServices } from "./composition/Machine.ts"
export type { DatabaseServices } from "./composition/Storage.ts"
export { ExpectedInstallation } from "./database/FirstStart.ts"
export { layerFromSqlClient, SqlClientUnsuitable } from "./database/OwnSqlClient.ts"
export { logging } from "./observability/Logging.ts"
export { OperatorListener } from "./observability/OperatorListener.ts"
export { loadSettings, Settings } from "./settings/Settings.ts"

/** A control plane to embed. Omitted parts are the service's own. */
export interface Options<DatabaseE = never, DatabaseR = never, RunnerE = never, RunnerR = never> {
  /** From `loadSettings`, which reads only its arguments and the `ConfigProvider`. */
  readonly settings: Settings
  /** Another SQLite database than the one in the data folder: `layerFromSqlClient` over a `SqlClient` of the host's. */
  readonly database?: Layer.Layer<DatabaseServices, DatabaseE, DatabaseR>
  /** What executes: `runner(settings)` with some services replaced, or all of them. */
  readonly runner?: Layer.Layer<RunnerServices, RunnerE, RunnerR>
}

const parts = <DatabaseE, DatabaseR, RunnerE, RunnerR>(options: Options<DatabaseE, DatabaseR, RunnerE, RunnerR>) => {
  const database: Layer.Layer<
    DatabaseServices,
    DatabaseE | Layer.Error<typeof Database.layer>,
    DatabaseR | Layer.Services<typeof Database.layer>
  > = options.database ?? Database.layer
  const own: Layer.Layer<
    RunnerServices,
    RunnerE | Layer.Error<ReturnType<typeof machine>>,
    RunnerR | Layer.Services<ReturnType<typeof machine>>
  > = options.runner ?? machine(options.settings)
  return { database, runner: own }
}

/**
 * A complete control plane with its own listener at `settings.listen`. Nothing is global, so several can live in one process
 * with separate data folders; closing the Scope drains and leaves no fiber, file handle or child process behind.
 */
export const layer = <DatabaseE = never, DatabaseR = never, RunnerE = never, RunnerR = never>(
  options: Options<DatabaseE, DatabaseR, RunnerE, RunnerR>
) =>
  Layer.fresh(controlPlaneOf(options.settings, { ...parts(options), http: listener(options.settings) })).pipe(
    Layer.provide(platform)
  )

/**
 * The same without a listener: `MountedHandler.handle` answers the requests that the host's own server takes at `baseUrl`, the
 * public origin. `settings.listen` and `settings.baseUrl` are ignored.
 */
export const layerHandler = <DatabaseE = never, DatabaseR = never, RunnerE = never, RunnerR = never>(
  options: Options<DatabaseE, DatabaseR, RunnerE, RunnerR> & { readonly baseUrl: string }
) => {
  const settings = { ...options.settings, baseUrl: options.baseUrl }
  const http = MountedHandler.layer(options.baseUrl).pipe(
    Layer.provideMerge(WebSockets.layer),
    Layer.provideMerge(Draining.layer)
  )
  return Layer.fresh(controlPlaneOf(settings, { ...parts({ ...options, settings }), http })).pipe(
    Layer.provide(platform)
  )
}
