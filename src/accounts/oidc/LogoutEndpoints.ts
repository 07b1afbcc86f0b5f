import { Effect, Option } from "effect"
import { HttpRouter, HttpServerRequest, type HttpServerResponse } from "effect/http"
import { Sessions } from "../../../actors/access/account/Sessions.ts"
import { ReadSql } from "../../../actors/base/database/ReadSql.ts"
import type { Client } from "../../../actors/access/issuer/Client.ts"
import { Clients } from "../../../actors/access/issuer/Clients.ts"
import { failClosed, type OAuthError, refuse } from "../../../actors/access/issuer/OAuthError.ts"
import { isRegisteredRedirect } from "../../../actors/access/issuer/RedirectUris.ts"
import type { ApiError } from "../../../schema/errors/ApiError.ts"
import { routeOf, type RouteServices } from "../../http-kit/DeclaredRoute.ts"
import { currentRequestId } from "../../http-kit/Exchange.ts"
import { requireSameOrigin, withoutSession } from "../SessionCookie.ts"
import { seeOther } from "./AuthorizationResponse.ts"
import { refusalPage } from "./ConsentPage.ts"
import { type IdTokenHint, readIdTokenHint } from "./IdTokenHint.ts"
import { IssuerPagesApi } from "./IssuerApi.ts"
import { leavingPage } from "./OnwardPage.ts"
import { html, page } from "./Page.ts"
import { pageLanguage, pageWords } from "./PageWords.ts"
import { formParameters, parseParameters, type Parameters, queryParameters } from "./Parameters.ts"
import { formToken, formTokenHolds, type Visitor, visitor } from "./Visitor.ts"

const form = "logout"

/** A parsed logout request, and the facts that it proves. */
interface LogoutRequest {
  readonly hint: IdTokenHint | undefined
  /**
   * Address to open after the logout. The address is registered for the client that the request specifies, even if nothing
   * proves that the request comes from that client.
   */
  readonly returnTo: string | undefined
}

const withState = (uri: string, state: string | undefined): string => {
  if (state === undefined) return uri
  return `${uri}${uri.includes("?") ? "&" : "?"}${new URLSearchParams({ state }).toString()}`
}

const nobody: Pick<Client, "applicationType" | "postLogoutRedirectUris"> = {
  applicationType: "web",
  postLogoutRedirectUris: []
}

/**
 * Parses a logout request. Fails with `invalid_request` if this issuer did not sign the hint, or if the address is not
 * registered.
 */
const parseLogout = Effect.fn("parseLogout")(function* (parameters: Parameters) {
  const read = yield* ReadSql
  const clients = yield* Clients
  const [twice] = parameters.repeated
  if (twice !== undefined) return yield* refuse("invalid_request", `The parameter ${twice.slice(0, 64)} came twice.`)
  const text = parameters.get("id_token_hint")
  const hint = text === undefined ? undefined : yield* failClosed(readIdTokenHint(text))
  if (text !== undefined && hint === undefined) {
    return yield* refuse("invalid_request", "The id_token_hint is no ID token of this issuer.")
  }
  const named = parameters.get("client_id")
  if (hint !== undefined && named !== undefined && hint.aud !== named) {
    return yield* refuse("invalid_request", "The id_token_hint was issued to another client.")
  }
  const clientId = hint?.aud ?? named
  const client: Option.Option<Client> =
    clientId === undefined ? Option.none() : yield* failClosed(clients.find(read, clientId))
  const uri = parameters.get("post_logout_redirect_uri")
  if (uri === undefined) return { hint, returnTo: undefined } satisfies LogoutRequest
  const { applicationType, postLogoutRedirectUris } = Option.getOrElse(client, () => nobody)
  if (!isRegisteredRedirect(uri, postLogoutRedirectUris, applicationType)) {
    return yield* refuse(
      "invalid_request",
      "The post_logout_redirect_uri is not registered, or no client was proven by id_token_hint or client_id."
    )
  }
  return { hint, returnTo: withState(uri, parameters.get("state")) } satisfies LogoutRequest
})

const language = (parameters: Parameters) =>
  Effect.map(HttpServerRequest.HttpServerRequest, ({ headers }) =>
    pageLanguage(parameters.get("ui_locales"), headers["accept-language"])
  )

const statusPage = Effect.fnUntraced(function* (
  parameters: Parameters,
  text: "logoutDone" | "logoutNothing" | "stayedSignedIn"
) {
  const chosen = yield* language(parameters)
  const words = pageWords[chosen]
  return page({
    language: chosen,
    title: words.logoutTitle,
    body: html`<h1>${words.logoutTitle}</h1><p>${words[text]}</p>`
  })
})

/**
 * Closes the session, if there is one, and returns the given response. If no response is given, shows a page that confirms
 * the logout.
 */
const end = Effect.fnUntraced(function* (
  visiting: Visitor | undefined,
  onward: HttpServerResponse.HttpServerResponse | undefined,
  parameters: Parameters
) {
  if (visiting === undefined) return onward ?? (yield* statusPage(parameters, "logoutNothing"))
  const sessions = yield* Sessions
  yield* Effect.ignore(sessions.revoke(visiting.subject, visiting.sessionId, yield* currentRequestId))
  return yield* withoutSession(onward ?? (yield* statusPage(parameters, "logoutDone")))
})

const ask = Effect.fnUntraced(function* (visiting: Visitor, parameters: Parameters) {
  const chosen = yield* language(parameters)
  const words = pageWords[chosen]
  const encoded = parameters.encodeWithout()
  const token = yield* formToken(visiting, form, encoded)
  return page({
    language: chosen,
    title: words.logoutTitle,
    body: html`<h1>${words.logoutAsk}</h1><p>${words.signedInAs} <strong>${visiting.email}</strong></p>
<form method="post" action="/oauth/logout/decision"><input type="hidden" name="request" value="${encoded}"><input type="hidden" name="token" value="${token}">
<div class="actions"><button class="main" name="decision" value="leave">${words.logoutConfirm}</button><button name="decision" value="stay">${words.logoutStay}</button></div></form>`
  })
})

const answer = Effect.fnUntraced(function* (parameters: Parameters) {
  const { hint, returnTo } = yield* parseLogout(parameters)
  const visiting = yield* visitor
  // Logs out without a prompt only if an ID token from this session proves that its client requested the logout. Otherwise
  // anybody could log a person out with a link.
  const proven = hint?.sub === visiting?.subject && hint?.sid === visiting?.sessionId
  if (visiting !== undefined && !proven) return yield* ask(visiting, parameters)
  const onward = returnTo === undefined ? undefined : seeOther(returnTo)
  return yield* end(visiting, onward, parameters)
})

const logout = Effect.flatMap(queryParameters, answer)

// Redirects a POST request from another site to the same address with GET, because only a GET request carries the session
// cookie.
const logoutByForm = Effect.map(formParameters, (parameters) => seeOther(`/oauth/logout?${parameters.encodeWithout()}`))

const decide = Effect.gen(function* () {
  yield* requireSameOrigin
  const sent = yield* formParameters
  const encoded = sent.get("request") ?? ""
  const parameters = parseParameters(encoded)
  const { returnTo } = yield* parseLogout(parameters)
  const visiting = yield* visitor
  if (visiting !== undefined && !(yield* formTokenHolds(visiting, form, encoded, sent.get("token")))) {
    return yield* refuse("invalid_request", "The page was shown to another session. Start again.")
  }
  if (visiting !== undefined && sent.get("decision") !== "leave") return yield* statusPage(parameters, "stayedSignedIn")
  const onward = returnTo === undefined ? undefined : leavingPage(yield* language(parameters), returnTo)
  return yield* end(visiting, onward, parameters)
})

const refusedOnPage = Effect.fnUntraced(function* (error: OAuthError | ApiError) {
  const parameters = yield* queryParameters
  return refusalPage(yield* language(parameters), {
    status: error.status,
    detail: error._tag === "ApiError" ? error.message : `${error.error}: ${error.description}`,
    requestId: yield* currentRequestId
  })
})

const onPages = <R>(effect: Effect.Effect<HttpServerResponse.HttpServerResponse, OAuthError | ApiError, R>) =>
  Effect.catchTags(effect, { OAuthError: refusedOnPage, ApiError: refusedOnPage })

/** Endpoints of RP-initiated logout. They redirect the browser only to a registered address. */
export const logoutEndpoints = Effect.gen(function* () {
  const router = yield* HttpRouter.HttpRouter
  const services = yield* Effect.context<RouteServices<typeof logout | typeof logoutByForm | typeof decide>>()
  const provided = Effect.provideContext(services)
  yield* router.add(...routeOf(IssuerPagesApi.endpoints.logout), provided(onPages(logout)))
  yield* router.add(...routeOf(IssuerPagesApi.endpoints.postLogout), provided(onPages(logoutByForm)))
  yield* router.add(...routeOf(IssuerPagesApi.endpoints.decideLogout), provided(onPages(decide)))
})
