import type { DiscoveryApi } from "../../../schema/api/DiscoveryApi.ts"
import { type GroupProse, route } from "./Prose.ts"

export const discoveryProse: GroupProse<typeof DiscoveryApi> = {
  about: "What this server is and what it can do.",
  routes: {
    wellKnown: route("Discovery document", "Clients check `product` first and branch on the capabilities."),
    capabilities: route("The same discovery document, under the API", "Branch on its features, never on a version."),
    extensions: route(
      "Families of endpoints beyond the specification",
      "What this server has besides the families of the specification, each with its endpoints; `endpoints.extensions` of the discovery document is the address of this list. A family that is absent here answers 404, and one that the operator has turned off 501 `capability_not_available`."
    )
  }
}
