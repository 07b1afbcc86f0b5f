import { Effect, Layer, Schema } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { Passkey } from "../../actors/account/NewPasskeys.ts"
import { Passkeys } from "../../actors/account/Passkeys.ts"
import type { Sessions } from "../../actors/account/Sessions.ts"
import { displayText } from "../../schema/records/Primitives.ts"
import { currentRequestId } from "../http/Exchange.ts"
import type { HttpSettings } from "../http/HttpSettings.ts"
import type { AttemptLimits } from "./AttemptLimits.ts"
import { authBody } from "./AuthBody.ts"
import { countAttempt } from "./PasswordEntrance.ts"
import { presentedSession, refuseCrossSite } from "./SessionCookie.ts"
import { BrowserAnswer, decodeAssertion, decodeRegistration } from "./PasskeyAnswer.ts"
import { passkeySetupRoutes, passkeySetupRouteTable } from "./PasskeySetupRoutes.ts"
import { passkeySite } from "./PasskeySite.ts"
import { offeredWays } from "./SignInOffer.ts"
import { commandOf, signedIn, signedInAndConfirmed, signedInResponse, userAgent } from "./SignedIn.ts"
import { uncached } from "./Uncached.ts"
import type { UpstreamProvider } from "./upstream/UpstreamProvider.ts"

const registrationBody = authBody(
  Schema.Struct({ name: displayText(80), response: BrowserAnswer }),
  "{name, response}, response as the browser gave it"
)
const assertionBody = authBody(Schema.Struct({ response: BrowserAnswer }), "{response}, as the browser gave it")

const encodePasskey = HttpServerResponse.schemaJson(Schema.Struct({ passkey: Passkey }))
const encodePasskeys = HttpServerResponse.schemaJson(Schema.Struct({ passkeys: Schema.Array(Passkey) }))

const registrationOptions = Effect.gen(function* () {
  const { subject } = yield* signedInAndConfirmed
  const passkeys = yield* Passkeys
  return HttpServerResponse.jsonUnsafe({ options: yield* passkeys.registrationOptions(yield* passkeySite, subject) })
})

const register = Effect.gen(function* () {
  const principal = yield* signedInAndConfirmed
  const party = yield* passkeySite
  const { name, response } = yield* registrationBody
  const answer = yield* decodeRegistration(response)
  const passkeys = yield* Passkeys
  const passkey = yield* passkeys.register(yield* commandOf(principal), party, principal.subject, name, answer)
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
  yield* passkeys.remove(yield* commandOf(principal), principal.subject, passkeyId, yield* offeredWays)
  return HttpServerResponse.empty({ status: 204 })
})

/** The routes of passkeys, as method and path, to distinguish a wrong method from an unknown path. */
export const passkeyRouteTable = [
  ["GET", "/auth/passkeys"],
  ["POST", "/auth/passkeys"],
  ["DELETE", "/auth/passkeys/:passkeyId"],
  ["POST", "/auth/passkeys/registration-options"],
  ["POST", "/auth/passkeys/sign-in-options"],
  ["POST", "/auth/passkeys/sign-in"],
  ...passkeySetupRouteTable
] as const

const ownRoutes = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const provided = uncached(
      yield* Effect.context<AttemptLimits | HttpSettings | Passkeys | Sessions | UpstreamProvider>()
    )
    yield* router.add("GET", "/auth/passkeys", provided(list))
    yield* router.add("POST", "/auth/passkeys/registration-options", provided(registrationOptions))
    yield* router.add("POST", "/auth/passkeys", provided(register))
    yield* router.add("DELETE", "/auth/passkeys/:passkeyId", provided(remove))
    yield* router.add("POST", "/auth/passkeys/sign-in-options", provided(signInOptions))
    yield* router.add("POST", "/auth/passkeys/sign-in", provided(signIn))
  })
)

/** Registration of passkeys, sign-in with them, and setup with one. */
export const passkeyRoutes = Layer.merge(ownRoutes, passkeySetupRoutes)
