import { Schema } from "effect"
import { HttpApiEndpoint } from "effect/http-api"
import { Discovery, Extension } from "../records/Discovery.ts"
import { described, describedGroup } from "./Endpoint.ts"
import { accessOf } from "./Roles.ts"

export class DiscoveryApi extends describedGroup("discovery", "What this server is and what it can do.")
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
  )
  .add(
    HttpApiEndpoint.get("extensions", "/api/v1/extensions", {
      success: Schema.Struct({ extensions: Schema.Array(Extension) })
    }).annotateMerge(
      described(
        accessOf("GET /api/v1/extensions"),
        "Families of endpoints beyond the specification",
        "What this server has besides the families of the specification, each with its endpoints; `endpoints.extensions` of the discovery document is the address of this list. A family that is absent here answers 404, and one that the operator has turned off 501 `capability_not_available`."
      )
    )
  ) {}
