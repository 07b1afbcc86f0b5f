import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { Passkeys, type PasskeySession } from "../../actors/access/account/Passkeys.ts"
import type { Principal } from "../../actors/base/credential/Principal.ts"
import { routeOf } from "../http-kit/DeclaredRoute.ts"
import { currentRequestId } from "../http-kit/Exchange.ts"
import { authBody } from "./AuthBody.ts"
import { AssertionRequest, RegistrationRequest } from "./declarations/PasskeyCeremony.ts"
import {
  PasskeyAnswer,
  PasskeyList,
  PasskeysApi,
  PasskeySetupRequest,
  SetupOptionsRequest
} from "./declarations/PasskeysApi.ts"
import { countAttempt } from "./CredentialSignIn.ts"
import { presentedSession, refuseCrossSite } from "./SessionCookie.ts"
import { decodeAssertion, decodeRegistration } from "./PasskeyAnswer.ts"
import { passkeySite } from "./PasskeySite.ts"
import { offeredSignInMethods } from "./SignInOffer.ts"
import { commandOf, signedIn, signedInAndConfirmed, signedInResponse, userAgent } from "./SignedIn.ts"
import { uncached } from "./Uncached.ts"
import { SetupLinks } from "../../actors/access/account/SetupLinks.ts"

const optionsBody = authBody(SetupOptionsRequest, "{secret, email?, displayName?}")
const redemptionBody = authBody(
  PasskeySetupRequest,
  "{secret, name, response, email?, displayName?}, response as the browser gave it"
)

const admitted = Effect.andThen(refuseCrossSite, countAttempt)

const options = Effect.gen(function* () {
  yield* admitted
  const party = yield* passkeySite
  const links = yield* SetupLinks
  return HttpServerResponse.jsonUnsafe({ options: yield* links.passkeyOptions(party, yield* optionsBody) })
})

const redeem = Effect.gen(function* () {
  yield* admitted
  const party = yield* passkeySite
  const { response, ...redemption } = yield* redemptionBody
  const links = yield* SetupLinks
  const opened = yield* links.redeemWithPasskey({
    ...redemption,
    party,
    answer: yield* decodeRegistration(response),
    userAgent: yield* userAgent,
    requestId: yield* currentRequestId
  })
  return yield* signedInResponse(opened, 201)
})

/** Redeems a setup link by registering a passkey instead of a password. */
const passkeySetupRoutes = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    yield* router.add(...routeOf(PasskeysApi.endpoints.setupOptions), uncached(options))
    yield* router.add(...routeOf(PasskeysApi.endpoints.setup), uncached(redeem))
  })
)

const registrationBody = authBody(RegistrationRequest, "{name, response}, response as the browser gave it")
const assertionBody = authBody(AssertionRequest, "{response}, as the browser gave it")

const encodePasskey = HttpServerResponse.schemaJson(PasskeyAnswer)
const encodePasskeys = HttpServerResponse.schemaJson(PasskeyList)

const sessionOf = ({ credentialId, subject }: Principal): PasskeySession => ({ subject, sessionId: credentialId })

const registrationOptions = Effect.gen(function* () {
  const session = sessionOf(yield* signedInAndConfirmed)
  const passkeys = yield* Passkeys
  return HttpServerResponse.jsonUnsafe({ options: yield* passkeys.registrationOptions(yield* passkeySite, session) })
})

const register = Effect.gen(function* () {
  const principal = yield* signedInAndConfirmed
  const party = yield* passkeySite
  const { name, response } = yield* registrationBody
  const answer = yield* decodeRegistration(response)
  const passkeys = yield* Passkeys
  const passkey = yield* passkeys.register(yield* commandOf(principal), party, sessionOf(principal), name, answer)
  return yield* Effect.orDie(encodePasskey({ passkey }, { status: 201 }))
})

const signInOptions = Effect.gen(function* () {
  yield* refuseCrossSite
  yield* countAttempt
  const passkeys = yield* Passkeys
  return HttpServerResponse.jsonUnsafe({ options: yield* passkeys.signInOptions(yield* passkeySite) })
})

const signIn = Effect.gen(function* () {
  yield* refuseCrossSite
  yield* countAttempt
  const party = yield* passkeySite
  const { response } = yield* assertionBody
  const passkeys = yield* Passkeys
  const before = yield* presentedSession
  const opened = yield* passkeys.signIn(party, yield* decodeAssertion(response), {
    userAgent: yield* userAgent,
    replaces: before?.secret,
    requestId: yield* currentRequestId
  })
  return yield* signedInResponse(opened, 200)
})

const list = Effect.gen(function* () {
  const { subject } = yield* signedIn
  const passkeys = yield* Passkeys
  return yield* Effect.orDie(encodePasskeys({ passkeys: yield* passkeys.list(subject) }))
})

const remove = Effect.gen(function* () {
  const principal = yield* signedInAndConfirmed
  const passkeys = yield* Passkeys
  const { passkeyId = "" } = yield* HttpRouter.params
  yield* passkeys.remove(yield* commandOf(principal), principal.subject, passkeyId, yield* offeredSignInMethods)
  return HttpServerResponse.empty({ status: 204 })
})

const ownRoutes = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    yield* router.add(...routeOf(PasskeysApi.endpoints.list), uncached(list))
    yield* router.add(...routeOf(PasskeysApi.endpoints.registrationOptions), uncached(registrationOptions))
    yield* router.add(...routeOf(PasskeysApi.endpoints.register), uncached(register))
    yield* router.add(...routeOf(PasskeysApi.endpoints.remove), uncached(remove))
    yield* router.add(...routeOf(PasskeysApi.endpoints.signInOptions), uncached(signInOptions))
    yield* router.add(...routeOf(PasskeysApi.endpoints.signIn), uncached(signIn))
  })
)

/** Registers passkeys, signs people in with them, and sets up accounts with them. */
export const passkeyRoutes = Layer.merge(ownRoutes, passkeySetupRoutes)
