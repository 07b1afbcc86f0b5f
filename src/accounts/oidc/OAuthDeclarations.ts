import { Schema } from "effect"
import { HttpApiSchema } from "effect/http-api"
import { RefusalEnvelope } from "../../../schema/api/Middleware.ts"

const text = Schema.optionalKey(Schema.String)

/** An error response in the format of the OAuth specifications. */
export const OAuthRefusal = Schema.Struct({ error: Schema.String, error_description: Schema.String }).annotate({
  identifier: "OAuthRefusal"
})

/**
 * Error responses of the endpoints for clients. If a request is refused before its endpoint runs, the response uses the
 * API's error envelope instead.
 */
export const oauthRefusals = [
  ...[400, 401, 403, 413, 415, 429, 503].map((status) => OAuthRefusal.pipe(HttpApiSchema.status(status))),
  ...[500, 503].map((status) => RefusalEnvelope.pipe(HttpApiSchema.status(status)))
]

/** The parameters of an authorization request (RFC 6749, PKCE, OpenID Connect Core). */
export const authorizationParameters = {
  response_type: text,
  client_id: text,
  redirect_uri: text,
  scope: text,
  state: text,
  nonce: text,
  code_challenge: text,
  code_challenge_method: text,
  prompt: text,
  max_age: text,
  id_token_hint: text,
  claims: text,
  resource: text,
  ui_locales: text,
  response_mode: text,
  workspace_id: text
}

/** The parameters by which a client identifies itself if it does not send the header. */
export const clientParameters = { client_id: text, client_secret: text }

export const logoutParameters = {
  id_token_hint: text,
  client_id: text,
  post_logout_redirect_uri: text,
  state: text,
  ui_locales: text
}

/** The fields of a form on one of this server's own pages. */
export const decisionParameters = { request: text, token: text, decision: text }

export const IssuerMetadata = Schema.StructWithRest(
  Schema.Struct({
    issuer: Schema.String,
    authorization_endpoint: Schema.String,
    token_endpoint: Schema.String,
    jwks_uri: Schema.String
  }),
  [Schema.Record(Schema.String, Schema.Json)]
).annotate({ identifier: "IssuerMetadata" })

export const KeySet = Schema.Struct({ keys: Schema.Array(Schema.Record(Schema.String, Schema.Json)) }).annotate({
  identifier: "KeySet"
})

export const TokenAnswer = Schema.Struct({
  access_token: Schema.String,
  token_type: Schema.Literal("Bearer"),
  expires_in: Schema.Int,
  scope: Schema.String,
  id_token: text,
  refresh_token: text
}).annotate({ identifier: "TokenAnswer" })

export const UserInfo = Schema.StructWithRest(Schema.Struct({ sub: Schema.String }), [
  Schema.Record(Schema.String, Schema.Json)
]).annotate({ identifier: "UserInfo" })

export const Introspection = Schema.StructWithRest(Schema.Struct({ active: Schema.Boolean }), [
  Schema.Record(Schema.String, Schema.Json)
]).annotate({ identifier: "Introspection" })

export const DeviceAnswer = Schema.Struct({
  device_code: Schema.String,
  user_code: Schema.String,
  verification_uri: Schema.String,
  verification_uri_complete: Schema.String,
  expires_in: Schema.Int,
  interval: Schema.Int
}).annotate({ identifier: "DeviceAnswer" })
