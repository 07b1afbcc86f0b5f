import { Effect, Layer, Option } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { unauthenticated } from "../../actors/base/credential/CredentialRefusal.ts"
import { PasswordSignIn } from "../../actors/access/account/PasswordSignIn.ts"
import { Sessions } from "../../actors/access/account/Sessions.ts"
import { SetupLinks } from "../../actors/access/account/SetupLinks.ts"
import { Users } from "../../actors/access/account/Users.ts"
import { currentRequestId } from "../http-kit/Exchange.ts"
import { routeOf } from "../http-kit/DeclaredRoute.ts"
import { authBody } from "./AuthBody.ts"
import {
  LinkRequest,
  PasswordRequest,
  SessionAnswer,
  SessionList,
  SetupLinkAnswer,
  SetupRequest,
  SignInApi,
  SignInOffer,
  SignInRequest
} from "./declarations/SignInApi.ts"
import { countAttempt, signInByPassword, signInBySetup, requirePasswords } from "./CredentialSignIn.ts"
import { confirmationRoutes } from "./ConfirmationRoutes.ts"
import { factorRoutes } from "./FactorRoutes.ts"
import { invitationRoutes } from "./InvitationRoutes.ts"
import { plainForms } from "./PlainForms.ts"
import { profileRoutes } from "./ProfileRoutes.ts"
import { presentedSession, refuseCrossSite, requireSameOrigin, withoutSession, withSession } from "./SessionCookie.ts"
import { offeredSignInMethods } from "./SignInOffer.ts"
import { commandOf, signedIn, signedInAndConfirmed, signedInResponse, signedInToChange, userAgent } from "./SignedIn.ts"
import { uncached } from "./Uncached.ts"
import { UpstreamProvider } from "./upstream/UpstreamProvider.ts"

const setupBody = authBody(SetupRequest, "{secret, password, email?, displayName?}")
const linkBody = authBody(LinkRequest, "{secret}")
const signInBody = authBody(SignInRequest, "{email, password, code?}")
const passwordBody = authBody(PasswordRequest, "{newPassword}")

const encodeOffer = HttpServerResponse.schemaJson(SignInOffer)
const encodeSession = HttpServerResponse.schemaJson(SessionAnswer)
const encodeSessions = HttpServerResponse.schemaJson(SessionList)

/**
 * Returns the data that the sign-in page needs before the person signs in: the available methods and the provider's name.
 */
const offer = Effect.gen(function* () {
  const { passkeys, password } = yield* offeredSignInMethods
  const { name } = yield* UpstreamProvider
  return yield* Effect.orDie(encodeOffer({ password, passkeys, ...(name === undefined ? {} : { provider: { name } }) }))
})

const encodeLink = HttpServerResponse.schemaJson(SetupLinkAnswer)

/**
 * Returns the purpose of the link, or the reason why it no longer works. The page requests this when it opens, before the
 * person fills in a form.
 */
const inspectLink = Effect.gen(function* () {
  yield* refuseCrossSite
  yield* countAttempt
  const links = yield* SetupLinks
  const { secret } = yield* linkBody
  return yield* Effect.orDie(encodeLink({ link: yield* links.inspect(secret) }))
})

const setup = Effect.gen(function* () {
  yield* refuseCrossSite
  yield* countAttempt
  return yield* signedInResponse(yield* signInBySetup(yield* setupBody), 201)
})

const signIn = Effect.gen(function* () {
  yield* refuseCrossSite
  yield* requirePasswords
  return yield* signedInResponse(yield* signInByPassword(yield* signInBody), 200)
})

/** Closes the session, if any, and removes the cookie regardless of its value. */
const signOut = Effect.gen(function* () {
  const presented = yield* presentedSession
  if (presented?.ambient !== false) yield* requireSameOrigin
  const sessions = yield* Sessions
  const requestId = yield* currentRequestId
  if (presented !== undefined) {
    yield* sessions.authenticate(presented.secret).pipe(
      Effect.andThen(({ credentialId, subject }) => sessions.revoke(subject, credentialId, requestId)),
      Effect.ignore
    )
  }
  return yield* withoutSession(HttpServerResponse.empty({ status: 204 }))
})

const readSession = Effect.gen(function* () {
  const principal = yield* signedIn
  const users = yield* Users
  const user = yield* users.find(principal.subject)
  if (Option.isNone(user)) return yield* unauthenticated()
  const { displayName, email, isOperator, subject } = user.value
  const named = displayName === null ? {} : { displayName }
  return yield* Effect.orDie(
    encodeSession({ session: { id: principal.credentialId }, user: { subject, email, isOperator, ...named } })
  )
})

const listSessions = Effect.gen(function* () {
  const principal = yield* signedIn
  const sessions = yield* Sessions
  const open = yield* sessions.list(principal.subject)
  const listed = open.map((session) => ({ ...session, current: session.id === principal.credentialId }))
  return yield* Effect.orDie(encodeSessions({ sessions: listed }))
})

const revokeSession = Effect.gen(function* () {
  const principal = yield* signedInToChange
  const sessions = yield* Sessions
  const { sessionId = "" } = yield* HttpRouter.params
  yield* sessions.revoke(principal.subject, sessionId, yield* currentRequestId)
  const response = HttpServerResponse.empty({ status: 204 })
  return sessionId === principal.credentialId ? yield* withoutSession(response) : response
})

/** Closes every session of the person, including this one. Does not revoke tokens, because automation may depend on them. */
const signOutEverywhere = Effect.gen(function* () {
  const { subject } = yield* signedInToChange
  const sessions = yield* Sessions
  yield* sessions.revokeAll(subject, undefined, yield* currentRequestId)
  return yield* withoutSession(HttpServerResponse.empty({ status: 204 }))
})

const changePassword = Effect.gen(function* () {
  const principal = yield* signedInAndConfirmed
  yield* requirePasswords
  const { newPassword } = yield* passwordBody
  const passwords = yield* PasswordSignIn
  const opened = yield* passwords.change(yield* commandOf(principal), {
    subject: principal.subject,
    next: newPassword,
    userAgent: yield* userAgent
  })
  return yield* withSession(HttpServerResponse.empty({ status: 204 }), opened.secret)
})

const ownRoutes = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    yield* router.add(...routeOf(SignInApi.endpoints.offer), uncached(offer))
    yield* router.add(...routeOf(SignInApi.endpoints.setup), uncached(setup))
    yield* router.add(...routeOf(SignInApi.endpoints.setupLink), uncached(inspectLink))
    yield* router.add(...routeOf(SignInApi.endpoints.signIn), uncached(signIn))
    yield* router.add(...routeOf(SignInApi.endpoints.signOut), uncached(signOut))
    yield* router.add(...routeOf(SignInApi.endpoints.signOutEverywhere), uncached(signOutEverywhere))
    yield* router.add(...routeOf(SignInApi.endpoints.password), uncached(changePassword))
    yield* router.add(...routeOf(SignInApi.endpoints.session), uncached(readSession))
    yield* router.add(...routeOf(SignInApi.endpoints.sessions), uncached(listSessions))
    yield* router.add(...routeOf(SignInApi.endpoints.revokeSession), uncached(revokeSession))
  })
)

/** Routes for setup, sign-in, sign-out, sign-up by invitation, and a person's sessions. */
export const authRoutes = Layer.mergeAll(
  ownRoutes,
  confirmationRoutes,
  factorRoutes,
  profileRoutes,
  plainForms,
  invitationRoutes
)
