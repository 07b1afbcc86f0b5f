import { Duration, Effect, Option, Redacted } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { Confirmations } from "../../../actors/access/account/Confirmations.ts"
import { UpstreamIdentities } from "../../../actors/access/account/UpstreamIdentities.ts"
import { refusedFor, type UpstreamRefused } from "../../../actors/access/account/UpstreamRefusal.ts"
import { type StartedSignIn, UpstreamSignIns } from "../../../actors/access/account/UpstreamSignIns.ts"
import { InvitationAcceptance } from "../../../actors/access/member/InvitationAcceptance.ts"
import { ProvisioningRules } from "../../../actors/access/member/ProvisioningRules.ts"
import { UpstreamArrivals } from "../../../actors/access/member/UpstreamArrivals.ts"
import { ApiError, invalidRequest } from "../../../schema/errors/ApiError.ts"
import { routeOf } from "../../http-kit/DeclaredRoute.ts"
import { currentRequestId } from "../../http-kit/Exchange.ts"
import { HttpSettings } from "../../http-kit/HttpSettings.ts"
import { AttemptLimits } from "../AttemptLimits.ts"
import { authBody } from "../AuthBody.ts"
import { LinkRequest } from "../declarations/SignInApi.ts"
import { IdentityList, Onward, UpstreamApi, UpstreamPagesApi } from "../declarations/UpstreamApi.ts"
import { seeOther } from "../oidc/AuthorizationResponse.ts"
import { pageLanguage } from "../oidc/PageWords.ts"
import { sameOriginPath } from "../SameOriginPath.ts"
import { countAttempt } from "../CredentialSignIn.ts"
import { presentedSession, refuseCrossSite } from "../SessionCookie.ts"
import { commandOf, signedIn, signedInAndConfirmed, signedInToChange, userAgent, withSignIn } from "../SignedIn.ts"
import { offeredSignInMethods } from "../SignInOffer.ts"
import { uncached } from "../Uncached.ts"
import { upstreamRefusalPage } from "./UpstreamPage.ts"
import { UpstreamProvider } from "./UpstreamProvider.ts"

const callbackPath = UpstreamPagesApi.endpoints.callback.path
const cookieLifetime = Duration.minutes(10)

// Creates a lax cookie. The provider's response arrives as a top-level navigation from another site. With such a navigation,
// the browser sends lax cookies but not strict ones.
const cookieOf = (baseUrl: string) => {
  const secure = baseUrl.startsWith("https:")
  const options = { path: "/", httpOnly: true, sameSite: "lax", secure } as const
  return { name: secure ? "__Host-svc_upstream" : "svc_upstream", options }
}

const upstreamOff = new ApiError({
  code: "capability_not_available",
  message:
    "Sign-in with another provider is not set up on this server. See `auth` in the discovery document for the available methods."
})
const upstreamAway = new ApiError({
  code: "verification_unavailable",
  message: "The sign-in provider does not answer as it should just now. Try again, or create the account another way."
})

const single = (query: Readonly<Record<string, string | ReadonlyArray<string>>>, name: string) => {
  const value = query[name]
  return value === undefined || typeof value === "string"
    ? Effect.succeed(value)
    : Effect.fail(invalidRequest(`query.${name}: give it once.`))
}

/** Requires a request from one of this server's pages, because linking adds a sign-in method for the signed-in person. */
const linking = Effect.map(signedInAndConfirmed, ({ credentialId, subject }) => ({
  linkSubject: subject,
  sessionId: credentialId
}))
const confirming = Effect.map(signedInToChange, ({ credentialId }) => ({ sessionId: credentialId }))

const addressAtProvider = Effect.fnUntraced(function* (started: StartedSignIn, fresh: boolean) {
  const { baseUrl } = yield* HttpSettings
  const provider = yield* UpstreamProvider
  return yield* provider.authorizationUrl(started, `${baseUrl}${callbackPath}`, fresh)
})

/** Binds the sign-in to this browser. */
const withProof = Effect.fnUntraced(function* (
  response: HttpServerResponse.HttpServerResponse,
  { secret }: StartedSignIn
) {
  const { name, options } = cookieOf((yield* HttpSettings).baseUrl)
  return HttpServerResponse.setCookieUnsafe(response, name, Redacted.value(secret), {
    ...options,
    maxAge: cookieLifetime
  })
})

const start = Effect.gen(function* () {
  yield* countAttempt
  const { baseUrl } = yield* HttpSettings
  const query = yield* HttpServerRequest.ParsedSearchParams
  const returnPath = sameOriginPath(yield* single(query, "return"), baseUrl)
  const isLink = (yield* single(query, "link")) === "true"
  const isConfirmation = !isLink && (yield* single(query, "confirm")) === "true"
  const signIns = yield* UpstreamSignIns
  const asked = isLink ? yield* linking : isConfirmation ? yield* confirming : {}
  const started = yield* signIns.begin({ ...asked, returnPath })
  return yield* withProof(seeOther(yield* addressAtProvider(started, isConfirmation)), started)
})

const secretBody = authBody(LinkRequest, "{secret}")
const encodeLocation = HttpServerResponse.schemaJson(Onward)

/**
 * Starts a sign-in with the secret of an invitation. A page posts the secret, so that the secret does not appear in an
 * address, and the response redirects the browser.
 */
const startInvited = Effect.gen(function* () {
  yield* refuseCrossSite
  yield* countAttempt
  const { remoteAddress } = yield* HttpServerRequest.HttpServerRequest
  const limits = yield* AttemptLimits
  yield* limits.consume("invitation", { address: Option.getOrUndefined(remoteAddress) })
  const acceptance = yield* InvitationAcceptance
  const { secret } = yield* secretBody
  const { id, proof } = yield* acceptance.pending(secret)
  const signIns = yield* UpstreamSignIns
  const started = yield* signIns.begin({ invitation: { id, proof }, returnPath: "/join" })
  const location = yield* Effect.catchTag(addressAtProvider(started, false), "UpstreamRefused", ({ reason }) =>
    Effect.fail(reason === "not_configured" ? upstreamOff : upstreamAway)
  )
  return yield* withProof(yield* Effect.orDie(encodeLocation({ location })), started)
})

const callback = Effect.gen(function* () {
  const { baseUrl } = yield* HttpSettings
  const request = yield* HttpServerRequest.HttpServerRequest
  const presented = request.cookies[cookieOf(baseUrl).name]
  const signIns = yield* UpstreamSignIns
  const open = presented === undefined ? Option.none() : yield* signIns.finish(Redacted.make(presented))
  // Count an attempt unless the sign-in began on this server, where it has already been counted.
  if (Option.isNone(open)) return yield* Effect.andThen(countAttempt, refusedFor("not_begun"))
  const provider = yield* UpstreamProvider
  const { search } = new URL(request.originalUrl, baseUrl)
  // Take the address from the configuration, never from the request's Host header.
  const { invitationId, invitationProof, linkSubject, returnPath, sessionId } = open.value
  const confirmed = linkSubject === null ? sessionId : null
  const fresh = confirmed !== null
  const isByGroup = (yield* ProvisioningRules).rules?.some(({ groups }) => groups !== undefined) === true
  const answer = new URL(`${baseUrl}${callbackPath}${search}`)
  const identity = yield* provider.identity(answer, open.value, { groups: isByGroup && !fresh, fresh })
  if (confirmed !== null) {
    const confirmations = yield* Confirmations
    yield* confirmations.byUpstream(confirmed, identity, yield* currentRequestId)
    return seeOther(`${baseUrl}${returnPath}`)
  }
  const arrivals = yield* UpstreamArrivals
  const before = yield* presentedSession
  const opened = yield* arrivals.enter(identity, {
    trust: provider.trust,
    link: linkSubject === null ? undefined : { subject: linkSubject, sessionId: sessionId ?? "" },
    invitation: invitationId === null ? undefined : { id: invitationId, proof: invitationProof },
    userAgent: yield* userAgent,
    replaces: before?.secret,
    requestId: yield* currentRequestId
  })
  // Do not return to the page of an accepted invitation, because the page cannot be opened again.
  return yield* withSignIn(seeOther(`${baseUrl}${opened.joined ? "/" : returnPath}`), opened)
})

const withoutProof = Effect.fnUntraced(function* (response: HttpServerResponse.HttpServerResponse) {
  const { name, options } = cookieOf((yield* HttpSettings).baseUrl)
  return HttpServerResponse.expireCookieUnsafe(response, name, options)
})

/** Returns a refusal as a page, because people open this route in a browser. */
const onPage = Effect.fnUntraced(function* (refusal: ApiError | UpstreamRefused) {
  const { headers } = yield* HttpServerRequest.HttpServerRequest
  const requestId = yield* currentRequestId
  const { name: providerName } = yield* UpstreamProvider
  if (refusal._tag === "UpstreamRefused") {
    yield* Effect.logInfo(`An upstream sign-in ended without a session: ${refusal.reason}, request ${requestId}`)
  }
  return upstreamRefusalPage(pageLanguage(undefined, headers["accept-language"]), refusal, { providerName, requestId })
})

const encodeIdentities = HttpServerResponse.schemaJson(IdentityList)

const list = Effect.gen(function* () {
  const { subject } = yield* signedIn
  const identities = yield* UpstreamIdentities
  return yield* Effect.orDie(encodeIdentities({ identities: yield* identities.list(subject) }))
})

const unlink = Effect.gen(function* () {
  const principal = yield* signedInAndConfirmed
  const identities = yield* UpstreamIdentities
  const { identityId = "" } = yield* HttpRouter.params
  yield* identities.unlink(yield* commandOf(principal), principal.subject, identityId, yield* offeredSignInMethods)
  return HttpServerResponse.empty({ status: 204 })
})

/** Handles sign-in with another OpenID provider, from the redirect to the response, and manages linked identities. */
export const upstreamRoutes = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    yield* router.add(...routeOf(UpstreamPagesApi.endpoints.start), start.pipe(Effect.catch(onPage)))
    yield* router.add(
      ...routeOf(UpstreamPagesApi.endpoints.callback),
      callback.pipe(Effect.catch(onPage), Effect.flatMap(withoutProof))
    )
    yield* router.add(...routeOf(UpstreamApi.endpoints.startInvited), uncached(startInvited))
    yield* router.add(...routeOf(UpstreamApi.endpoints.identities), uncached(list))
    yield* router.add(...routeOf(UpstreamApi.endpoints.unlink), uncached(unlink))
  })
)
