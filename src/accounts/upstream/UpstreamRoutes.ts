import { Duration, Effect, Option, Redacted, Schema } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { Confirmations } from "../../../actors/account/Confirmations.ts"
import type { Sessions } from "../../../actors/account/Sessions.ts"
import { LinkedIdentity, UpstreamIdentities } from "../../../actors/account/UpstreamIdentities.ts"
import { UpstreamSignIns } from "../../../actors/account/UpstreamSignIns.ts"
import { type ApiError, invalidRequest } from "../../../schema/errors/ApiError.ts"
import { currentRequestId } from "../../http/Exchange.ts"
import { HttpSettings } from "../../http/HttpSettings.ts"
import type { AttemptLimits } from "../AttemptLimits.ts"
import type { KnownDevices } from "../KnownDevices.ts"
import { seeOther } from "../oidc/AuthorizationResponse.ts"
import { pageLanguage } from "../oidc/PageWords.ts"
import { ownPath } from "../OwnPath.ts"
import { countAttempt } from "../PasswordEntrance.ts"
import { presentedSession } from "../SessionCookie.ts"
import { commandOf, signedIn, signedInAndConfirmed, signedInToChange, userAgent, withSignIn } from "../SignedIn.ts"
import { offeredWays } from "../SignInOffer.ts"
import { uncached } from "../Uncached.ts"
import { upstreamRefusalPage } from "./UpstreamPage.ts"
import { UpstreamProvider } from "./UpstreamProvider.ts"

const callbackPath = "/auth/upstream/callback"
const startPath = "/auth/upstream/start"
const cookieLifetime = Duration.minutes(10)

// The provider's answer comes from another site by a top-level navigation, which carries lax cookies but no strict ones.
const cookieOf = (baseUrl: string) => {
  const secure = baseUrl.startsWith("https:")
  const options = { path: "/", httpOnly: true, sameSite: "lax", secure } as const
  return { name: secure ? "__Host-svc_upstream" : "svc_upstream", options }
}

const single = (query: Readonly<Record<string, string | ReadonlyArray<string>>>, name: string) => {
  const value = query[name]
  return value === undefined || typeof value === "string"
    ? Effect.succeed(value)
    : Effect.fail(invalidRequest(`query.${name}: give it once.`))
}

/** Linking acts for the signed-in person, so it must be requested by a page of ours; it adds a way in. */
const linkingSubject = Effect.map(signedInAndConfirmed, ({ subject }) => subject)
const confirmingSession = Effect.map(signedInToChange, ({ credentialId }) => credentialId)

const start = Effect.gen(function* () {
  yield* countAttempt
  const { baseUrl } = yield* HttpSettings
  const query = yield* HttpServerRequest.ParsedSearchParams
  const returnPath = ownPath(yield* single(query, "return"), baseUrl)
  const linkSubject = (yield* single(query, "link")) === "true" ? yield* linkingSubject : undefined
  const signIns = yield* UpstreamSignIns
  const provider = yield* UpstreamProvider
  const confirmSession = (yield* single(query, "confirm")) === "true" ? yield* confirmingSession : undefined
  const started = yield* signIns.begin({ linkSubject, confirmSession, returnPath })
  const fresh = confirmSession !== undefined
  const location = yield* provider.authorizationUrl(started, `${baseUrl}${callbackPath}`, fresh)
  const { name, options } = cookieOf(baseUrl)
  return HttpServerResponse.setCookieUnsafe(seeOther(location), name, Redacted.value(started.secret), {
    ...options,
    maxAge: cookieLifetime
  })
})

const notBegun = invalidRequest(
  "This browser began no sign-in that is still open: they last ten minutes and serve once. Start again."
)

const callback = Effect.gen(function* () {
  const { baseUrl } = yield* HttpSettings
  const request = yield* HttpServerRequest.HttpServerRequest
  const presented = request.cookies[cookieOf(baseUrl).name]
  const signIns = yield* UpstreamSignIns
  const open = presented === undefined ? Option.none() : yield* signIns.finish(Redacted.make(presented))
  // A sign-in that began here was counted at its start.
  if (Option.isNone(open)) return yield* Effect.andThen(countAttempt, notBegun)
  const provider = yield* UpstreamProvider
  const { search } = new URL(request.originalUrl, baseUrl)
  // Our address comes from configuration, whatever Host the request names.
  const { confirmSession, returnPath } = open.value
  const back = seeOther(`${baseUrl}${returnPath}`)
  const answer = new URL(`${baseUrl}${callbackPath}${search}`)
  const identity = yield* provider.identity(answer, open.value, confirmSession !== null)
  if (confirmSession !== null) {
    const confirmations = yield* Confirmations
    yield* confirmations.byUpstream(confirmSession, identity, yield* currentRequestId)
    return back
  }
  const identities = yield* UpstreamIdentities
  const before = yield* presentedSession
  const opened = yield* identities.signIn(identity, {
    linkSubject: open.value.linkSubject ?? undefined,
    userAgent: yield* userAgent,
    replaces: before?.secret,
    requestId: yield* currentRequestId
  })
  return yield* withSignIn(back, opened)
})

const withoutProof = Effect.fnUntraced(function* (response: HttpServerResponse.HttpServerResponse) {
  const { name, options } = cookieOf((yield* HttpSettings).baseUrl)
  return HttpServerResponse.expireCookieUnsafe(response, name, options)
})

/** People come here, not programs: a refusal is a page. */
const onPage = Effect.fnUntraced(function* ({ message, status }: ApiError) {
  const { headers } = yield* HttpServerRequest.HttpServerRequest
  return upstreamRefusalPage(pageLanguage(undefined, headers["accept-language"]), {
    status,
    message,
    requestId: yield* currentRequestId
  })
})

const encodeIdentities = HttpServerResponse.schemaJson(Schema.Struct({ identities: Schema.Array(LinkedIdentity) }))

const list = Effect.gen(function* () {
  const { subject } = yield* signedIn
  const identities = yield* UpstreamIdentities
  return yield* Effect.orDie(encodeIdentities({ identities: yield* identities.list(subject) }))
})

const unlink = Effect.gen(function* () {
  const principal = yield* signedInAndConfirmed
  const identities = yield* UpstreamIdentities
  const { identityId = "" } = yield* HttpRouter.params
  yield* identities.unlink(yield* commandOf(principal), principal.subject, identityId, yield* offeredWays)
  return HttpServerResponse.empty({ status: 204 })
})

/** The routes of the upstream sign-in, as method and path, to distinguish a wrong method from an unknown path. */
export const upstreamRouteTable = [
  ["GET", startPath],
  ["GET", callbackPath],
  ["GET", "/auth/upstream/identities"],
  ["DELETE", "/auth/upstream/identities/:identityId"]
] as const

/** Sign-in with another OpenID provider, there and back, and the linked identities. */
export const upstreamRoutes = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const services = yield* Effect.context<
      | AttemptLimits
      | Confirmations
      | HttpSettings
      | KnownDevices
      | Sessions
      | UpstreamIdentities
      | UpstreamProvider
      | UpstreamSignIns
    >()
    yield* router.add("GET", startPath, start.pipe(Effect.catch(onPage), Effect.provideContext(services)))
    yield* router.add(
      "GET",
      callbackPath,
      callback.pipe(Effect.catch(onPage), Effect.flatMap(withoutProof), Effect.provideContext(services))
    )
    const asJson = uncached(services)
    yield* router.add("GET", "/auth/upstream/identities", asJson(list))
    yield* router.add("DELETE", "/auth/upstream/identities/:identityId", asJson(unlink))
  })
)
