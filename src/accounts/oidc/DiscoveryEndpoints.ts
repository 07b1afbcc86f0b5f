import { Duration, Effect } from "effect"
import { HttpRouter } from "effect/http"
import { grantTypes, signingAlgorithms } from "../../../actors/access/issuer/Client.ts"
import { IssuerSettings } from "../../../actors/access/issuer/IssuerSettings.ts"
import { failClosed } from "../../../actors/access/issuer/OAuthError.ts"
import { personClaims } from "../../../actors/access/issuer/RequestedClaims.ts"
import { standardScopes } from "../../../actors/access/issuer/Scopes.ts"
import { keySetMaxAge, SigningKeys } from "../../../actors/access/issuer/SigningKeys.ts"
import { routeOf } from "../../http-kit/DeclaredRoute.ts"
import { IssuerApi } from "./IssuerApi.ts"
import { answeringJson, cachedJson, preflight } from "./OAuthAnswers.ts"

const discoveryMaxAge = Duration.hours(1)

/** OpenID Provider metadata, which is also the OAuth metadata (RFC 8414). */
export const issuerMetadata = (issuer: string) => ({
  issuer,
  authorization_endpoint: `${issuer}/oauth/authorize`,
  token_endpoint: `${issuer}/oauth/token`,
  userinfo_endpoint: `${issuer}/oauth/userinfo`,
  jwks_uri: `${issuer}/oauth/jwks`,
  revocation_endpoint: `${issuer}/oauth/revoke`,
  introspection_endpoint: `${issuer}/oauth/introspect`,
  end_session_endpoint: `${issuer}/oauth/logout`,
  device_authorization_endpoint: `${issuer}/oauth/device_authorization`,
  scopes_supported: standardScopes,
  response_types_supported: ["code"],
  response_modes_supported: ["query"],
  grant_types_supported: grantTypes,
  subject_types_supported: ["public"],
  id_token_signing_alg_values_supported: signingAlgorithms,
  token_endpoint_auth_methods_supported: ["client_secret_basic", "client_secret_post", "none"],
  revocation_endpoint_auth_methods_supported: ["client_secret_basic", "client_secret_post", "none"],
  introspection_endpoint_auth_methods_supported: ["client_secret_basic", "client_secret_post"],
  code_challenge_methods_supported: ["S256"],
  claim_types_supported: ["normal"],
  claims_supported: [
    "sub",
    "iss",
    "aud",
    "exp",
    "iat",
    "auth_time",
    "nonce",
    "at_hash",
    "sid",
    ...personClaims,
    "svc",
    "workspace_memberships"
  ],
  claims_parameter_supported: true,
  request_parameter_supported: false,
  request_uri_parameter_supported: false,
  require_request_uri_registration: false,
  authorization_response_iss_parameter_supported: true,
  prompt_values_supported: ["none", "login", "consent", "select_account"],
  ui_locales_supported: ["en", "ja"]
})

/** Endpoints for the metadata and the keys. */
export const discoveryEndpoints = Effect.gen(function* () {
  const router = yield* HttpRouter.HttpRouter
  const { authorizationServer, keys: jwks, openidConfiguration } = IssuerApi.endpoints
  const keys = yield* SigningKeys
  const { issuer } = yield* IssuerSettings
  const metadata = cachedJson(issuerMetadata(issuer), Duration.toSeconds(discoveryMaxAge))
  const keySet = failClosed(keys.keySet).pipe(
    Effect.map((published) => cachedJson({ keys: published }, Duration.toSeconds(keySetMaxAge))),
    answeringJson({ crossOrigin: true, scheme: "Bearer" })
  )
  yield* router.add(...routeOf(openidConfiguration), metadata)
  yield* router.add(...routeOf(authorizationServer), metadata)
  yield* router.add(...routeOf(jwks), keySet)
  for (const { path } of [openidConfiguration, authorizationServer, jwks]) {
    yield* router.add("OPTIONS", path, preflight("GET"))
  }
})
