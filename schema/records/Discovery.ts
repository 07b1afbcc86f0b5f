import { Schema } from "effect"

export const apiVersion = "svc.dev/v1alpha1"

/** `GET /.well-known/svc` and `GET /api/v1/capabilities` (specification, Discovery document). */
export class Discovery extends Schema.Opaque<Discovery>()(
  Schema.Struct({
    product: Schema.Literal("svc"),
    name: Schema.String,
    auth: Schema.Struct({ oidc: Schema.Boolean, password: Schema.Boolean }),
    apiBaseUrl: Schema.String,
    api_versions: Schema.Array(Schema.String),
    /** Contains exactly the features in the specification. `extensions` lists all other endpoint groups. */
    features: Schema.Struct({
      stacks: Schema.Boolean,
      opentofu_runner: Schema.Boolean,
      oidc: Schema.Boolean,
      workload_identity: Schema.Boolean,
      interfaces: Schema.Boolean
    }),
    endpoints: Schema.Struct({
      api: Schema.String,
      capabilities: Schema.String,
      openapi: Schema.String,
      oidc_issuer: Schema.String,
      /** URL of the list of optional endpoint groups. */
      extensions: Schema.optionalKey(Schema.String)
    }),
    oidcClientId: Schema.optionalKey(Schema.String)
  }).annotate({ identifier: "Discovery" })
) {}

/** An optional group of endpoints. */
export class Extension extends Schema.Opaque<Extension>()(
  Schema.Struct({
    name: Schema.String,
    summary: Schema.String,
    /** True if the operator enabled the group. Otherwise its endpoints respond with 501 `capability_not_available`. */
    enabled: Schema.Boolean,
    /** Method and path of each endpoint. */
    endpoints: Schema.Array(Schema.String)
  }).annotate({ identifier: "Extension" })
) {}
