import { Effect, Layer, Option, Schema } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { unauthenticated } from "../../actors/credential/CredentialRefusal.ts"
import { PasswordSignIn } from "../../actors/account/PasswordSignIn.ts"
import { AccountSession, Sessions } from "../../actors/account/Sessions.ts"
import { SetupLinks } from "../../actors/account/SetupLinks.ts"
import { Users } from "../../actors/account/Users.ts"
import { SetupLinkState } from "../../schema/records/AccountLink.ts"
import { currentRequestId } from "../http/Exchange.ts"
import type { HttpSettings } from "../http/HttpSettings.ts"
import type { AttemptLimits } from "./AttemptLimits.ts"
import type { KnownDevices } from "./KnownDevices.ts"
import { authBody, redemptionFields, SecretText } from "./AuthBody.ts"
import { countAttempt, enterByPassword, enterBySetup, requirePasswords } from "./PasswordEntrance.ts"
import { confirmationRoutes, confirmationRouteTable } from "./ConfirmationRoutes.ts"
import { factorRoutes, factorRouteTable } from "./FactorRoutes.ts"
import { invitationRoutes, invitationRouteTable } from "./InvitationRoutes.ts"
import { plainFormRouteTable, plainForms } from "./PlainForms.ts"
import { profileRoutes, profileRouteTable } from "./ProfileRoutes.ts"
import { presentedSession, refuseCrossSite, requireSameOrigin, withoutSession, withSession } from "./SessionCookie.ts"
import { offeredWays } from "./SignInOffer.ts"
import { commandOf, signedIn, signedInAndConfirmed, signedInResponse, signedInToChange, userAgent } from "./SignedIn.ts"
import { uncached } from "./Uncached.ts"
import { UpstreamProvider } from "./upstream/UpstreamProvider.ts"

const setupBody = authBody(
  Schema.Struct({
    ...redemptionFields,
    password: SecretText
  }),
  "{secret, password, email?, displayName?}"
)

const linkBody = authBody(Schema.Struct({ secret: SecretText }), "{secret}")

const signInBody = authBody(
  Schema.Struct({ email: Schema.String, password: SecretText, code: Schema.optionalKey(SecretText) }),
  "{email, password, code?}"
)

const passwordBody = authBody(Schema.Struct({ newPassword: SecretText }), "{newPassword}")

const SessionAnswer = Schema.Struct({
  session: Schema.Struct({ id: Schema.String }),
  user: Schema.Struct({
    subject: Schema.String,
    email: Schema.String,
    displayName: Schema.optionalKey(Schema.String),
    isOperator: Schema.Boolean
  })
})
const SessionList = Schema.Struct({
  sessions: Schema.Array(Schema.Struct({ ...AccountSession.fields, current: Schema.Boolean }))
})
const SignInOffer = Schema.Struct({
  password: Schema.Boolean,
  passkeys: Schema.Boolean,
  provider: Schema.optionalKey(Schema.Struct({ name: Schema.String }))
})
const encodeOffer = HttpServerResponse.schemaJson(SignInOffer)
const encodeSession = HttpServerResponse.schemaJson(SessionAnswer)
const encodeSessions = HttpServerResponse.schemaJson(SessionList)

/** What the sign-in page needs before anybody is known: the available methods, and the provider's name. */
const offer = Effect.gen(function* () {
  const { passkeys, password } = yield* offeredWays
  const { name } = yield* UpstreamProvider
  return yield* Effect.orDie(encodeOffer({ password, passkeys, ...(name === undefined ? {} : { provider: { name } }) }))
})

const encodeLink = HttpServerResponse.schemaJson(Schema.Struct({ link: SetupLinkState }))

/** Asked when the page opens: it says what the link is for, and why one no longer works, before anybody fills in a form. */
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
  return yield* signedInResponse(yield* enterBySetup(yield* setupBody), 201)
})

const signIn = Effect.gen(function* () {
  yield* refuseCrossSite
  yield* requirePasswords
  return yield* signedInResponse(yield* enterByPassword(yield* signInBody), 200)
})

/** Whatever the cookie was, it is gone afterwards. */
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

/** Ends every session of the person, this one included. Tokens are ended one by one, as each may belong to some automation. */
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

/** The routes of signing in and out, as method and path, to distinguish a wrong method from an unknown path. */
export const authRouteTable = [
  ["GET", "/auth/offer"],
  ["POST", "/auth/setup"],
  ["POST", "/auth/setup/link"],
  ["POST", "/auth/sign-in"],
  ["POST", "/auth/sign-out"],
  ["POST", "/auth/sign-out-everywhere"],
  ["POST", "/auth/password"],
  ["GET", "/auth/session"],
  ["GET", "/auth/sessions"],
  ["POST", "/auth/sessions/:sessionId/revoke"],
  ...confirmationRouteTable,
  ...factorRouteTable,
  ...profileRouteTable,
  ...plainFormRouteTable,
  ...invitationRouteTable
] as const

const ownRoutes = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const provided = uncached(
      yield* Effect.context<
        AttemptLimits | HttpSettings | KnownDevices | PasswordSignIn | Sessions | SetupLinks | UpstreamProvider | Users
      >()
    )
    yield* router.add("GET", "/auth/offer", provided(offer))
    yield* router.add("POST", "/auth/setup", provided(setup))
    yield* router.add("POST", "/auth/setup/link", provided(inspectLink))
    yield* router.add("POST", "/auth/sign-in", provided(signIn))
    yield* router.add("POST", "/auth/sign-out", provided(signOut))
    yield* router.add("POST", "/auth/sign-out-everywhere", provided(signOutEverywhere))
    yield* router.add("POST", "/auth/password", provided(changePassword))
    yield* router.add("GET", "/auth/session", provided(readSession))
    yield* router.add("GET", "/auth/sessions", provided(listSessions))
    yield* router.add("POST", "/auth/sessions/:sessionId/revoke", provided(revokeSession))
  })
)

/** Setup, sign-in, sign-out, sign-up by invitation, and the person's sessions. */
export const authRoutes = Layer.mergeAll(
  ownRoutes,
  confirmationRoutes,
  factorRoutes,
  profileRoutes,
  plainForms,
  invitationRoutes
)
