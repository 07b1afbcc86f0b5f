import { Effect, Option, Redacted } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { type GrantType, grantTypes } from "../../../actors/access/issuer/Client.ts"
import { refuse } from "../../../actors/access/issuer/OAuthError.ts"
import { parseScopes } from "../../../actors/access/issuer/Scopes.ts"
import { TokenInspection } from "../../../actors/access/issuer/TokenInspection.ts"
import type { IssuedTokens } from "../../../actors/access/issuer/TokenIssuance.ts"
import { TokenService } from "../../../actors/access/issuer/TokenService.ts"
import { routeOf, type RouteServices } from "../../http-kit/DeclaredRoute.ts"
import { AttemptLimits } from "../AttemptLimits.ts"
import { authenticatedClient, introspectingClient } from "./ClientAuthentication.ts"
import { IssuerApi } from "./IssuerApi.ts"
import { answeringJson, freshJson, preflight } from "./OAuthAnswers.ts"
import { type Parameters, singleFormParameters } from "./Parameters.ts"

const open = { crossOrigin: true }

const address = Effect.map(HttpServerRequest.HttpServerRequest, ({ remoteAddress }) =>
  Option.getOrUndefined(remoteAddress)
)

const tokenAnswer = (tokens: IssuedTokens) =>
  freshJson(
    {
      access_token: Redacted.value(tokens.accessToken),
      token_type: "Bearer",
      expires_in: tokens.expiresIn,
      scope: tokens.scopes.join(" "),
      ...(tokens.idToken === undefined ? {} : { id_token: tokens.idToken }),
      ...(tokens.refreshToken === undefined ? {} : { refresh_token: Redacted.value(tokens.refreshToken) })
    },
    open
  )

const required = (parameters: Parameters, name: string) => {
  const value = parameters.get(name)
  return value === undefined ? refuse("invalid_request", `The parameter ${name} is missing.`) : Effect.succeed(value)
}

const secret = (parameters: Parameters, name: string) => Effect.map(required(parameters, name), Redacted.make)

const isGrantType = (text: string): text is GrantType => grantTypes.some((known) => known === text)

const requestedScopes = Effect.fnUntraced(function* (parameters: Parameters) {
  const text = parameters.get("scope")
  if (text === undefined) return undefined
  return parseScopes(text) ?? (yield* refuse("invalid_scope", "The scope is malformed."))
})

const token = Effect.gen(function* () {
  const limits = yield* AttemptLimits
  yield* limits.consume("token", { address: yield* address })
  const service = yield* TokenService
  const parameters = yield* singleFormParameters
  const client = yield* authenticatedClient(parameters)
  const grantType = yield* required(parameters, "grant_type")
  if (!isGrantType(grantType)) {
    return yield* refuse("unsupported_grant_type", `Use one of ${grantTypes.join(", ")}.`)
  }
  if (!client.grantTypes.includes(grantType)) {
    return yield* refuse("unauthorized_client", "The client is not registered for this grant type.")
  }
  const resource = parameters.get("resource")
  switch (grantType) {
    case "authorization_code":
      return tokenAnswer(
        yield* service.exchangeCode(
          client,
          {
            code: yield* secret(parameters, "code"),
            redirectUri: parameters.get("redirect_uri"),
            verifier: parameters.get("code_verifier")
          },
          resource
        )
      )
    case "refresh_token":
      return tokenAnswer(
        yield* service.refresh(client, {
          token: yield* secret(parameters, "refresh_token"),
          scopes: yield* requestedScopes(parameters),
          resource
        })
      )
    case "urn:ietf:params:oauth:grant-type:device_code":
      return tokenAnswer(yield* service.exchangeDeviceCode(client, yield* secret(parameters, "device_code"), resource))
  }
})

const bearerPattern = /^bearer ([A-Za-z0-9._~+/-]{1,4096}={0,2})$/i

/** Returns the person's claims. Ignores tokens in queries and bodies, which are often logged. */
const userInfo = Effect.gen(function* () {
  const { headers } = yield* HttpServerRequest.HttpServerRequest
  const header = headers["authorization"]
  if (header === undefined) {
    return HttpServerResponse.setHeader(
      freshJson({ error: "invalid_token", error_description: "Send `Authorization: Bearer <token>`." }, open, 401),
      "www-authenticate",
      'Bearer realm="svc"'
    )
  }
  const presented = bearerPattern.exec(header)?.[1]
  if (presented === undefined) return yield* refuse("invalid_token", "The access token is malformed.")
  const inspection = yield* TokenInspection
  return freshJson(yield* inspection.userInfo(Redacted.make(presented)), open)
})

const revoke = Effect.gen(function* () {
  const inspection = yield* TokenInspection
  const parameters = yield* singleFormParameters
  const client = yield* authenticatedClient(parameters)
  yield* inspection.revoke(client, yield* secret(parameters, "token"))
  return freshJson({}, open)
})

const introspect = Effect.gen(function* () {
  const inspection = yield* TokenInspection
  const parameters = yield* singleFormParameters
  const client = yield* introspectingClient(parameters)
  return freshJson(yield* inspection.introspect(client, yield* secret(parameters, "token")), { crossOrigin: false })
})

/** Endpoints that clients call directly: token, UserInfo, revocation and introspection. */
export const tokenEndpoints = Effect.gen(function* () {
  const router = yield* HttpRouter.HttpRouter
  const services =
    yield* Effect.context<RouteServices<typeof token | typeof userInfo | typeof revoke | typeof introspect>>()
  const provided = Effect.provideContext(services)
  const byClient = answeringJson({ crossOrigin: true, scheme: "Basic" })
  const byBearer = answeringJson({ crossOrigin: true, scheme: "Bearer" })
  yield* router.add(...routeOf(IssuerApi.endpoints.token), provided(byClient(token)))
  yield* router.add(...routeOf(IssuerApi.endpoints.userInfo), provided(byBearer(userInfo)))
  yield* router.add(...routeOf(IssuerApi.endpoints.postUserInfo), provided(byBearer(userInfo)))
  yield* router.add(...routeOf(IssuerApi.endpoints.revoke), provided(byClient(revoke)))
  yield* router.add(
    ...routeOf(IssuerApi.endpoints.introspect),
    provided(answeringJson({ crossOrigin: false, scheme: "Basic" })(introspect))
  )
  yield* router.add("OPTIONS", IssuerApi.endpoints.token.path, preflight("POST"))
  yield* router.add("OPTIONS", IssuerApi.endpoints.userInfo.path, preflight("GET, POST"))
  yield* router.add("OPTIONS", IssuerApi.endpoints.revoke.path, preflight("POST"))
})
