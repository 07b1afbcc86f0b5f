import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiSchema } from "effect/http-api"
import { describedGroup, describedRoute, type RouteAccess } from "../../http-kit/description/RouteDescription.ts"
import { Page, Redirect, refusalPages } from "../../http-kit/PageAnswer.ts"
import { everyone, oauthClient, ownPage } from "../../http-kit/RouteAccess.ts"
import {
  authorizationParameters,
  clientParameters,
  decisionParameters,
  DeviceAnswer,
  Introspection,
  IssuerMetadata,
  KeySet,
  logoutParameters,
  oauthRefusals,
  TokenAnswer,
  UserInfo
} from "./OAuthDeclarations.ts"

const text = Schema.optionalKey(Schema.String)
const form = <const Fields extends Schema.Struct.Fields>(fields: Fields) =>
  Schema.Struct(fields).pipe(HttpApiSchema.asFormUrlEncoded())

const accessToken: RouteAccess = {
  security: [{ bearer: [] }],
  sentence: "**Access:** an access token of this issuer with the scope `openid`."
}
const metadata = "Registered clients find the endpoints here. May be kept for an hour."

/** The OpenID issuer's endpoints for clients. */
export class IssuerApi extends describedGroup("issuer", "The OpenID issuer, for clients.").add(
  HttpApiEndpoint.get("openidConfiguration", "/.well-known/openid-configuration", {
    success: IssuerMetadata
  }).annotateMerge(describedRoute(everyone, "OpenID Provider metadata", metadata)),
  HttpApiEndpoint.get("authorizationServer", "/.well-known/oauth-authorization-server", {
    success: IssuerMetadata
  }).annotateMerge(describedRoute(everyone, "OAuth server metadata (RFC 8414)", metadata)),
  HttpApiEndpoint.get("keys", "/oauth/jwks", { success: KeySet, error: oauthRefusals }).annotateMerge(
    describedRoute(
      everyone,
      "Signing keys",
      "The keys that verify ID tokens and resource tokens, as a JSON Web Key Set."
    )
  ),
  HttpApiEndpoint.post("token", "/oauth/token", {
    payload: form({
      ...clientParameters,
      grant_type: text,
      code: text,
      redirect_uri: text,
      code_verifier: text,
      refresh_token: text,
      device_code: text,
      scope: text,
      resource: text
    }),
    success: TokenAnswer,
    error: oauthRefusals
  }).annotateMerge(
    describedRoute(
      oauthClient,
      "Exchange a grant for tokens",
      "`grant_type` is `authorization_code`, `refresh_token` or `urn:ietf:params:oauth:grant-type:device_code`."
    )
  ),
  HttpApiEndpoint.get("userInfo", "/oauth/userinfo", { success: UserInfo, error: oauthRefusals }).annotateMerge(
    describedRoute(accessToken, "Claims about the person", "Tokens in the query are ignored.")
  ),
  HttpApiEndpoint.post("postUserInfo", "/oauth/userinfo", { success: UserInfo, error: oauthRefusals }).annotateMerge(
    describedRoute(accessToken, "The same by POST", "Tokens in the body are ignored.")
  ),
  HttpApiEndpoint.post("revoke", "/oauth/revoke", {
    payload: form({ ...clientParameters, token: text, token_type_hint: text }),
    success: Schema.Struct({}),
    error: oauthRefusals
  }).annotateMerge(
    describedRoute(
      oauthClient,
      "Revoke a token (RFC 7009)",
      "An unknown token is no error. A refresh token ends its grant."
    )
  ),
  HttpApiEndpoint.post("introspect", "/oauth/introspect", {
    payload: form({ ...clientParameters, token: text, token_type_hint: text }),
    success: Introspection,
    error: oauthRefusals
  }).annotateMerge(
    describedRoute(
      oauthClient,
      "Introspect a token (RFC 7662)",
      "`{active: false}` for a token that the client may not see, that ended, or that never existed."
    )
  ),
  HttpApiEndpoint.post("deviceAuthorization", "/oauth/device_authorization", {
    payload: form({ ...clientParameters, scope: text, resource: text, claims: text, workspace_id: text }),
    success: DeviceAnswer,
    error: oauthRefusals
  }).annotateMerge(
    describedRoute(
      oauthClient,
      "Begin the device flow (RFC 8628)",
      "The person enters `user_code` in their own browser."
    )
  )
) {}

const decision = form(decisionParameters)
const decided = "For the form of the page before it. Its token binds the answer to what the page showed."

/** The issuer's pages and redirects for browsers, where a person allows or denies a request. */
export class IssuerPagesApi extends describedGroup("issuerPages", "The OpenID issuer, in a browser.").add(
  HttpApiEndpoint.get("authorize", "/oauth/authorize", {
    query: authorizationParameters,
    success: [Redirect, Page],
    error: refusalPages
  }).annotateMerge(
    describedRoute(
      everyone,
      "Authorization request",
      "Redirects to the sign-in page, to the client with a code or an error, or shows the consent page. `workspace_id` selects a Workspace."
    )
  ),
  HttpApiEndpoint.post("postAuthorize", "/oauth/authorize", {
    payload: form(authorizationParameters),
    success: Redirect,
    error: refusalPages
  }).annotateMerge(
    describedRoute(everyone, "Authorization request by form", "Continues with the same request by GET.")
  ),
  HttpApiEndpoint.post("consent", "/oauth/consent", {
    payload: decision,
    success: [Redirect, Page],
    error: refusalPages
  }).annotateMerge(describedRoute(ownPage, "Answer of the consent page", decided)),
  HttpApiEndpoint.get("logout", "/oauth/logout", {
    query: logoutParameters,
    success: [Redirect, Page],
    error: refusalPages
  }).annotateMerge(
    describedRoute(
      everyone,
      "Sign out at the request of a client",
      "RP-initiated logout. Asks the person, unless `id_token_hint` is of the session that ends."
    )
  ),
  HttpApiEndpoint.post("postLogout", "/oauth/logout", {
    payload: form(logoutParameters),
    success: Redirect,
    error: refusalPages
  }).annotateMerge(describedRoute(everyone, "The same by form", "Continues with the same request by GET.")),
  HttpApiEndpoint.post("decideLogout", "/oauth/logout/decision", {
    payload: decision,
    success: [Redirect, Page],
    error: refusalPages
  }).annotateMerge(describedRoute(ownPage, "Answer of the sign-out page", decided)),
  HttpApiEndpoint.get("device", "/oauth/device", {
    query: { user_code: text },
    success: [Redirect, Page],
    error: refusalPages
  }).annotateMerge(
    describedRoute(everyone, "The page of the device flow", "`user_code` fills the field in; the person compares it.")
  ),
  HttpApiEndpoint.post("decideDevice", "/oauth/device", {
    payload: form({ user_code: text, token: text, decision: text }),
    success: [Redirect, Page],
    error: refusalPages
  }).annotateMerge(describedRoute(ownPage, "Answer of the device page", decided))
) {}
