import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { Discovery, Extension } from "../records/Discovery.ts"

export class DiscoveryApi extends HttpApiGroup.make("discovery")
  .add(HttpApiEndpoint.get("wellKnown", "/.well-known/svc", { success: Discovery }))
  .add(HttpApiEndpoint.get("capabilities", "/api/v1/capabilities", { success: Discovery }))
  .add(
    HttpApiEndpoint.get("extensions", "/api/v1/extensions", {
      success: Schema.Struct({ extensions: Schema.Array(Extension) })
    })
  ) {}
