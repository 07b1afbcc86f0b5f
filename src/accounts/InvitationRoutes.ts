import { Effect, Option } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { InvitedSignUp } from "../../actors/access/member/InvitedSignUp.ts"
import { routeOf } from "../http-kit/DeclaredRoute.ts"
import { currentRequestId } from "../http-kit/Exchange.ts"
import { AttemptLimits } from "./AttemptLimits.ts"
import { authBody } from "./AuthBody.ts"
import { InvitedSignUpApi } from "./declarations/InvitedSignUpApi.ts"
import { PasskeySetupRequest, SetupOptionsRequest } from "./declarations/PasskeysApi.ts"
import { SetupRequest } from "./declarations/SignInApi.ts"
import { decodeRegistration } from "./PasskeyAnswer.ts"
import { passkeySite } from "./PasskeySite.ts"
import { requirePasswords } from "./CredentialSignIn.ts"
import { refuseCrossSite } from "./SessionCookie.ts"
import { signedInResponse, userAgent } from "./SignedIn.ts"
import { uncached } from "./Uncached.ts"

const passwordBody = authBody(SetupRequest, "{secret, password, email?, displayName?}")
const optionsBody = authBody(SetupOptionsRequest, "{secret, email?, displayName?}")
const passkeyBody = authBody(
  PasskeySetupRequest,
  "{secret, name, response, email?, displayName?}, response as the browser gave it"
)

/** Counts the request as a sign-in attempt and as a use of an invitation. */
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

/** Creates an account from an invitation, and accepts the invitation. */
export const invitationRoutes = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    yield* router.add(...routeOf(InvitedSignUpApi.endpoints.withPassword), uncached(withPassword))
    yield* router.add(...routeOf(InvitedSignUpApi.endpoints.passkeyOptions), uncached(passkeyOptions))
    yield* router.add(...routeOf(InvitedSignUpApi.endpoints.withPasskey), uncached(withPasskey))
  })
)
