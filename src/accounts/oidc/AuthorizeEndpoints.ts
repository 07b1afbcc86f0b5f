import { Clock, Effect, Redacted } from "effect"
import { HttpRouter, HttpServerRequest, type HttpServerResponse } from "effect/http"
import { ReadSql } from "../../../actors/base/database/ReadSql.ts"
import { Authorizations } from "../../../actors/access/issuer/Authorizations.ts"
import { Consents } from "../../../actors/access/issuer/Consents.ts"
import { IssuerSettings } from "../../../actors/access/issuer/IssuerSettings.ts"
import { failClosed, type OAuthError, refuse } from "../../../actors/access/issuer/OAuthError.ts"
import { isSubset } from "../../../actors/access/issuer/Scopes.ts"
import type { ApiError } from "../../../schema/errors/ApiError.ts"
import { routeOf, type RouteServices } from "../../http-kit/DeclaredRoute.ts"
import { currentRequestId } from "../../http-kit/Exchange.ts"
import { AttemptLimits } from "../AttemptLimits.ts"
import { requireSameOrigin } from "../SessionCookie.ts"
import {
  AuthorizationRefused,
  type AuthorizationRequest,
  parseAuthorizationRequest,
  permissionsOf,
  toClient
} from "./AuthorizationRequest.ts"
import { codeAddress, errorAddress, seeOther } from "./AuthorizationResponse.ts"
import { consentPage, refusalPage } from "./ConsentPage.ts"
import { sentToSignInAt, toSignIn } from "./FreshSignIn.ts"
import { IssuerPagesApi } from "./IssuerApi.ts"
import { leavingPage } from "./OnwardPage.ts"
import { type Language, pageLanguage } from "./PageWords.ts"
import { formParameters, parseParameters, type Parameters, queryParameters } from "./Parameters.ts"
import { formToken, formTokenHolds, remoteAddress, type Visitor, visitor } from "./Visitor.ts"
import { StoredWorkspace } from "../../../actors/ledger/workspace/StoredWorkspace.ts"

const { path } = IssuerPagesApi.endpoints.authorize
const form = "consent"

/** The person's sign-in status: either the person must sign in first, or a recent enough sign-in exists. */
type Identified = { readonly kind: "sign_in" } | { readonly kind: "visitor"; readonly visiting: Visitor }

/**
 * Checks whether the current session is sufficient for this request. If the session is not sufficient and the client
 * requested that no page be shown, fails with an error for the client.
 */
const identify = Effect.fnUntraced(function* (request: AuthorizationRequest, parameters: Parameters) {
  const visiting = yield* visitor
  const silent = request.prompts.has("none")
  const sent = yield* sentToSignInAt(parameters)
  const refuseSilently = (why: string) => refuse("login_required", why)
  const signIn: Identified = { kind: "sign_in" }
  if (visiting === undefined) return silent ? yield* refuseSilently("Nobody is signed in.") : signIn
  const isNew = sent !== undefined && visiting.signedInAtMillis >= sent
  if (request.subject !== undefined && request.subject !== visiting.subject) {
    return silent || isNew ? yield* refuseSilently("Another person is signed in than the one asked for.") : signIn
  }
  const age = ((yield* Clock.currentTimeMillis) - visiting.signedInAtMillis) / 1000
  const stale = request.maxAge !== undefined && age > request.maxAge
  if ((stale || request.prompts.has("login")) && !isNew) {
    return silent ? yield* refuseSilently("The sign-in is older than max_age.") : signIn
  }
  const identified: Identified = { kind: "visitor", visiting }
  return identified
})

/**
 * Returns true if the person has to give consent, because the permissions are new, the client requests consent, or the
 * client cannot be distinguished from other clients.
 */
const mustAsk = Effect.fnUntraced(function* (request: AuthorizationRequest, subject: string) {
  const { client, prompts, redirectUri, workspaceId } = request
  if (prompts.has("consent") || prompts.has("select_account")) return true
  if (client.consent === "trusted") return false
  if (!redirectUri.startsWith("https:") && client.applicationType === "native") return true
  const consents = yield* Consents
  const given = yield* failClosed(consents.given({ subject, clientId: client.id, workspaceId }))
  return !isSubset(permissionsOf(request), given)
})

/** Grants the request. Returns the client's address with the code. */
const grantCode = Effect.fnUntraced(function* (request: AuthorizationRequest, visiting: Visitor) {
  const authorizations = yield* Authorizations
  const { issuer } = yield* IssuerSettings
  const { claims, client, codeChallenge, nonce, redirectUri, resource, scopes, workspaceId } = request
  const { authTime, sessionId, subject } = visiting
  const code = yield* authorizations.authorize({
    client,
    decider: { authTime, sessionId, subject },
    grant: { workspaceId, scopes, claims, resource },
    code: { redirectUri, codeChallenge, nonce },
    requestId: yield* currentRequestId
  })
  return codeAddress(issuer, request, Redacted.value(code))
})

/** Binds the request to the Workspace that applies to this person. */
const inWorkspace = Effect.fnUntraced(function* (asked: AuthorizationRequest, visiting: Visitor) {
  const authorizations = yield* Authorizations
  const { boundWorkspaceId, subject } = visiting
  const request: AuthorizationRequest = {
    ...asked,
    workspaceId: yield* authorizations.meantWorkspace(asked.client, subject, asked)
  }
  return boundWorkspaceId === undefined || boundWorkspaceId === request.workspaceId
    ? request
    : yield* refuse("access_denied", "The session is confined to another Workspace.")
})

/** Like `inWorkspace`, but also limits the request to the permissions that this person can grant. */
const forPerson = Effect.fnUntraced(function* (asked: AuthorizationRequest, visiting: Visitor) {
  const authorizations = yield* Authorizations
  const meant = yield* inWorkspace(asked, visiting)
  const request: AuthorizationRequest = {
    ...meant,
    scopes: yield* authorizations.grantable(asked.client, visiting.subject, meant)
  }
  return request
})

/**
 * Adds to the request the Workspace that the page showed. The person's answer applies to this Workspace, even if the request
 * would now be bound to a different one.
 */
const shown = (encoded: string, { workspaceId }: Pick<AuthorizationRequest, "workspaceId">) =>
  `${encoded} ${workspaceId ?? ""}`

const language = (parameters: Parameters) =>
  Effect.map(HttpServerRequest.HttpServerRequest, ({ headers }) =>
    pageLanguage(parameters.get("ui_locales"), headers["accept-language"])
  )

const ask = Effect.fnUntraced(function* (request: AuthorizationRequest, visiting: Visitor, parameters: Parameters) {
  const authorizations = yield* Authorizations
  const read = yield* ReadSql
  const authority = yield* authorizations.preview(request.client, visiting.subject, request.workspaceId)
  const [workspace] = yield* failClosed(
    StoredWorkspace.some(
      read,
      "display_name"
    )`SELECT display_name FROM workspaces WHERE id = ${request.workspaceId ?? ""}`
  )
  const encoded = parameters.encodeWithout()
  return consentPage({
    language: yield* language(parameters),
    request,
    permissions: permissionsOf(request),
    email: visiting.email,
    authority,
    workspaceName: workspace?.display_name,
    encoded,
    token: yield* formToken(visiting, form, shown(encoded, request))
  })
})

/** Turns an OAuth error into an error response to the client's redirect URI. */
const settled = <A, R>(request: AuthorizationRequest, effect: Effect.Effect<A, OAuthError, R>) =>
  Effect.mapError(effect, (error) => toClient(request, error))

const authorize = Effect.gen(function* () {
  const limits = yield* AttemptLimits
  yield* limits.consume("authorize", { address: yield* remoteAddress })
  const parameters = yield* queryParameters
  const asked = yield* parseAuthorizationRequest(parameters)
  const identified = yield* settled(asked, identify(asked, parameters))
  if (identified.kind === "sign_in") return yield* toSignIn(path, parameters)
  const { visiting } = identified
  yield* limits.consume("authorize", { subject: visiting.subject })
  const request = yield* settled(asked, forPerson(asked, visiting))
  if (!(yield* settled(request, mustAsk(request, visiting.subject)))) {
    return seeOther(yield* settled(request, grantCode(request, visiting)))
  }
  if (request.prompts.has("none")) {
    return yield* toClient(request, refuse("consent_required", "The person has to agree first."))
  }
  return yield* settled(request, ask(request, visiting, parameters))
})

/**
 * If a form was posted from another site, redirects to the same request with GET, because only a GET request carries the
 * session cookie.
 */
const authorizeByForm = Effect.gen(function* () {
  const { issuer } = yield* IssuerSettings
  const parameters = yield* formParameters.pipe(
    Effect.catchTag("OAuthError", (error) => new AuthorizationRefused({ error }))
  )
  return seeOther(`${issuer}${path}?${parameters.encodeWithout()}`)
})

const decide = Effect.gen(function* () {
  yield* requireSameOrigin
  const sent = yield* formParameters.pipe(Effect.catchTag("OAuthError", (error) => new AuthorizationRefused({ error })))
  const encoded = sent.get("request") ?? ""
  const parameters = parseParameters(encoded)
  const asked = yield* parseAuthorizationRequest(parameters)
  const identified = yield* settled(asked, identify(asked, parameters))
  if (identified.kind === "sign_in") return yield* toSignIn(path, parameters)
  const { visiting } = identified
  const request = yield* settled(asked, inWorkspace(asked, visiting))
  if (!(yield* formTokenHolds(visiting, form, shown(encoded, request), sent.get("token")))) {
    return yield* new AuthorizationRefused({
      error: refuse("invalid_request", "The page was shown to another session. Start again from the application.")
    })
  }
  switch (sent.get("decision")) {
    case "allow":
      return leavingPage(yield* language(parameters), yield* settled(request, grantCode(request, visiting)))
    case "switch":
      return yield* toSignIn(path, parameters)
    default:
      return yield* toClient(request, refuse("access_denied", "The person refused."))
  }
})

const onRefusalPage = Effect.fnUntraced(function* (error: OAuthError) {
  return refusalPage(yield* language(yield* queryParameters), {
    status: error.status === 401 ? 400 : error.status,
    detail: `${error.error}: ${error.description}`,
    requestId: yield* currentRequestId
  })
})

/** Sends the browser to the client's address. Uses a redirect or, after a form submission, a page of this server. */
type Leave = (address: string, language: Language) => HttpServerResponse.HttpServerResponse

const refused = (leave: Leave) =>
  Effect.fnUntraced(function* ({ error, target }: AuthorizationRefused) {
    const { issuer } = yield* IssuerSettings
    if (target === undefined) return yield* onRefusalPage(error)
    return leave(errorAddress(issuer, target, error), yield* language(yield* queryParameters))
  })

const limited = Effect.fnUntraced(function* (error: ApiError) {
  return refusalPage(yield* language(yield* queryParameters), {
    status: error.status,
    detail: error.message,
    requestId: yield* currentRequestId
  })
})

const onPages =
  (leave: Leave) =>
  <R>(effect: Effect.Effect<HttpServerResponse.HttpServerResponse, AuthorizationRefused | ApiError, R>) =>
    Effect.catchTags(effect, { AuthorizationRefused: refused(leave), ApiError: limited })

const byRedirect = onPages(seeOther)
const byPage = onPages((address, chosen) => leavingPage(chosen, address))

/** Endpoints at which a person allows or denies a client's request: the authorization request and the consent form. */
export const authorizeEndpoints = Effect.gen(function* () {
  const router = yield* HttpRouter.HttpRouter
  const services = yield* Effect.context<RouteServices<typeof authorize | typeof authorizeByForm | typeof decide>>()
  const provided = Effect.provideContext(services)
  yield* router.add(...routeOf(IssuerPagesApi.endpoints.authorize), provided(byRedirect(authorize)))
  yield* router.add(...routeOf(IssuerPagesApi.endpoints.postAuthorize), provided(byRedirect(authorizeByForm)))
  yield* router.add(...routeOf(IssuerPagesApi.endpoints.consent), provided(byPage(decide)))
})
