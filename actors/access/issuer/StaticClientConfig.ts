import { Schema } from "effect"
import { visibleCharacter } from "../../../schema/records/VisibleText.ts"
import { grantTypes } from "./Client.ts"

/** Another server that accepts this issuer's access tokens, identified by its resource (RFC 8707). */
export const ResourceServer = Schema.Struct({ resource: Schema.String, scopes: Schema.Array(Schema.String) })
export type ResourceServer = typeof ResourceServer.Type

const Identifier = Schema.String.check(
  Schema.isPattern(/^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/, { description: "1 to 128 of letters, digits and . _ : -" })
)
const Uri = Schema.String.check(Schema.isMaxLength(2048))
const minSecretLength = 32

/** A client as the operator declares it. */
export const StaticClientConfig = Schema.Struct({
  client_id: Identifier,
  client_name: Schema.String.check(
    Schema.isMaxLength(80),
    Schema.isPattern(visibleCharacter, { description: "a name that is visible" })
  ),
  /** Present for a confidential client, absent for a public client. */
  client_secret: Schema.optionalKey(
    Schema.RedactedFromValue(Schema.String.check(Schema.isMinLength(minSecretLength), Schema.isMaxLength(256)))
  ),
  application_type: Schema.optionalKey(Schema.Literals(["web", "native"])),
  redirect_uris: Schema.Array(Uri),
  post_logout_redirect_uris: Schema.optionalKey(Schema.Array(Uri)),
  grant_types: Schema.optionalKey(Schema.Array(Schema.Literals(grantTypes))),
  scope: Schema.optionalKey(Schema.String),
  pkce: Schema.optionalKey(Schema.Literals(["required", "optional"])),
  consent: Schema.optionalKey(Schema.Literals(["ask", "trusted"])),
  id_token_signed_response_alg: Schema.optionalKey(Schema.Literals(["RS256", "ES256"])),
  resources: Schema.optionalKey(Schema.Array(Uri)),
  interfaces: Schema.optionalKey(Schema.Boolean),
  guards: Schema.optionalKey(Schema.Array(Uri))
})
export type StaticClientConfig = typeof StaticClientConfig.Type

/** The operator's file of static clients. */
export const StaticClientDocument = Schema.Struct({
  clients: Schema.Array(StaticClientConfig),
  resource_servers: Schema.optionalKey(Schema.Array(ResourceServer))
})
export type StaticClientDocument = typeof StaticClientDocument.Type

/** The static clients are invalid. `message` identifies the client and the field. */
export class StaticClientsRefused extends Schema.TaggedError<StaticClientsRefused>()("StaticClientsRefused", {
  message: Schema.String
}) {}
