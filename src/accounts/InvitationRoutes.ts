import { Effect, Option, Schema } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { InvitedSignUp } from "../../actors/member/InvitedSignUp.ts"
import { displayText } from "../../schema/records/Primitives.ts"
import { currentRequestId } from "../http/Exchange.ts"
import type { HttpSettings } from "../http/HttpSettings.ts"
import { AttemptLimits } from "./AttemptLimits.ts"
import { authBody, redemptionFields, SecretText } from "./AuthBody.ts"
import type { KnownDevices } from "./KnownDevices.ts"
import { BrowserAnswer, decodeRegistration } from "./PasskeyAnswer.ts"
import { passkeySite } from "./PasskeySite.ts"
import { requirePasswords } from "./PasswordEntrance.ts"
import { refuseCrossSite } from "./SessionCookie.ts"
import { signedInResponse, userAgent } from "./SignedIn.ts"
import { uncached } from "./Uncached.ts"

const passwordBody = authBody(
  Schema.Struct({ ...redemptionFields, password: SecretText }),
  "{secret, password, email?, displayName?}"
)
const optionsBody = authBody(Schema.Struct(redemptionFields), "{secret, email?, displayName?}")
const passkeyBody = authBody(
  Schema.Struct({ ...redemptionFields, name: displayText(80), response: BrowserAnswer }),
  "{secret, name, response, email?, displayName?}, response as the browser gave it"
)

/** Counted twice: as an attempt to get in, and as a use of an invitation. */
const admitted = Effect.gen(function* () {
  yield* refuseCrossSite
  const { remoteAddress } = yield* HttpServerRequest.HttpServerRequest
  const address = Option.getOrUndefined(remoteAddress)
  const limits = yield* AttemptLimits
  yield* limits.enter({ address })
  yield* limits.consume("invitation", { address })
})

const withPassword = Effect.gen(function* () {
  yield* admitted
  yield* requirePasswords
  const signUp = yield* InvitedSignUp
  const redemption = { ...(yield* passwordBody), userAgent: yield* userAgent, requestId: yield* currentRequestId }
  return yield* signedInResponse(yield* signUp.withPassword(redemption), 201)
})

const passkeyOptions = Effect.gen(function* () {
  yield* admitted
  const party = yield* passkeySite
  const signUp = yield* InvitedSignUp
  return HttpServerResponse.jsonUnsafe({ options: yield* signUp.passkeyOptions(party, yield* optionsBody) })
})

const withPasskey = Effect.gen(function* () {
  yield* admitted
  const party = yield* passkeySite
  const { response, ...redemption } = yield* passkeyBody
  const signUp = yield* InvitedSignUp
  const opened = yield* signUp.withPasskey({
    ...redemption,
    party,
    answer: yield* decodeRegistration(response),
    userAgent: yield* userAgent,
    requestId: yield* currentRequestId
  })
  return yield* signedInResponse(opened, 201)
})

/** The routes of a sign-up by invitation, as method and path, to distinguish a wrong method from an unknown path. */
export const invitationRouteTable = [
  ["POST", "/auth/invitations/sign-up"],
  ["POST", "/auth/invitations/passkey-options"],
  ["POST", "/auth/invitations/passkey"]
] as const

/** Creates an account with an invitation, which is accepted by that. */
export const invitationRoutes = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const provided = uncached(yield* Effect.context<AttemptLimits | HttpSettings | InvitedSignUp | KnownDevices>())
    yield* router.add("POST", "/auth/invitations/sign-up", provided(withPassword))
    yield* router.add("POST", "/auth/invitations/passkey-options", provided(passkeyOptions))
    yield* router.add("POST", "/auth/invitations/passkey", provided(withPasskey))
  })
)
