import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { Discovery } from "../records/Discovery.ts"
import { described } from "./Endpoint.ts"
import { accessOf } from "./Roles.ts"

export class DiscoveryApi extends HttpApiGroup.make("discovery")
  .add(
    HttpApiEndpoint.get("wellKnown", "/.well-known/svc", { success: Discovery }).annotateMerge(
      described(
        accessOf("GET /.well-known/svc"),
        "Discovery document",
        "Clients check `product` first and branch on the capabilities."
      )
    )
  )
  .add(
    HttpApiEndpoint.get("capabilities", "/api/v1/capabilities", { success: Discovery }).annotateMerge(
      described(
        accessOf("GET /api/v1/capabilities"),
        "The same discovery document, under the API",
        "Branch on its features, never on a version."
      )
    )
  ) {}
