import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { Discovery } from "../records/Discovery.ts"
import { publicAccess } from "./Access.ts"
import { described } from "./Endpoint.ts"

export class DiscoveryApi extends HttpApiGroup.make("discovery")
  .add(
    HttpApiEndpoint.get("wellKnown", "/.well-known/svc", { success: Discovery }).annotateMerge(
      described(publicAccess, "Discovery document", "Clients check `product` first and branch on the capabilities.")
    )
  )
  .add(
    HttpApiEndpoint.get("capabilities", "/api/v1/capabilities", { success: Discovery }).annotateMerge(
      described(
        publicAccess,
        "The same discovery document, under the API",
        "Branch on its features, never on a version."
      )
    )
  ) {}
