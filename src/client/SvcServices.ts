import { Layer } from "effect"
import { ApiTransport } from "./ApiTransport.ts"
import { Capsules } from "./services/Capsules.ts"
import { Connections } from "./services/Connections.ts"
import { InstallPlans } from "./services/InstallPlans.ts"
import { RevisionPlans } from "./services/RevisionPlans.ts"
import { Runs } from "./services/Runs.ts"
import { Sources } from "./services/Sources.ts"
import { Members, Workspaces } from "./services/Workspaces.ts"
import { SvcClient } from "./SvcClient.ts"

/** The services of a control plane, either in the same process or on a server. */
export type SvcServices =
  | Capsules
  | Connections
  | InstallPlans
  | Members
  | RevisionPlans
  | Runs
  | Sources
  | Workspaces
  /** The typed client, which has a method for every API route, including routes without a service. */
  | SvcClient

/** Builds the services on top of any transport. */
export const servicesOver: Layer.Layer<SvcServices, never, ApiTransport> = Layer.mergeAll(
  Capsules.layer,
  Connections.layer,
  Layer.merge(InstallPlans.layer, RevisionPlans.layer).pipe(Layer.provideMerge(Runs.layer)),
  Members.layer,
  Sources.layer,
  Workspaces.layer
).pipe(Layer.provideMerge(SvcClient.overTransport))

/**
 * The services of a server, which are called with the platform's `fetch` in browsers, Bun and Node. `baseUrl` is the
 * server's origin, or the address at which a host application mounts its API. A request that the server was too busy to
 * handle is retried, unless repeating it could have a second effect.
 */
export const layer = (options: { readonly baseUrl: string }): Layer.Layer<SvcServices> =>
  Layer.provide(servicesOver, ApiTransport.overFetch(options.baseUrl))
