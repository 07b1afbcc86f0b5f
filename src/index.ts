/**
 * The control plane as a library: Effect layers to embed. `layer` is the whole of it; the parts it is made of can be
 * provided one by one instead, e.g. with another `SqlClient` or HTTP server.
 */
import { Layer } from "effect"
import { controlPlane } from "./Composition.ts"
import { platform } from "./composition/Platform.ts"
import type { Settings } from "./settings/Settings.ts"

export { Capsules } from "../actors/capsule/Capsules.ts"
export { Connections } from "../actors/connection/Connections.ts"
export { InstallPlans } from "../actors/install-plan/InstallPlans.ts"
export { RevisionPlans } from "../actors/revision-plan/RevisionPlans.ts"
export { Runs, RunStreams } from "../actors/run/Runs.ts"
export { Sources } from "../actors/source/Sources.ts"
export { SetupLinks } from "../actors/account/SetupLinks.ts"
export { Users } from "../actors/account/Users.ts"
export { Workspaces } from "../actors/workspace/Workspaces.ts"
export { serviceContext } from "../actors/Command.ts"
export { HttpListener } from "./http/HttpListener.ts"
export { HttpSettings } from "./http/HttpSettings.ts"
export { makeWebHandler, type WebHandler } from "./http/HttpApplication.ts"
export { loadSettings, Settings } from "./settings/Settings.ts"

/**
 * A control plane of its own: database, actors, runner and HTTP face. Nothing is global, so several live in one process on
 * data folders of their own; closing the Scope drains and leaves nothing behind.
 */
export const layer = (settings: Settings) => controlPlane(settings).pipe(Layer.provide(platform))
