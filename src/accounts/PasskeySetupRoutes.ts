import { Effect } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { SetupLinks } from "../../actors/access/account/SetupLinks.ts"
import { routeOf } from "../http-kit/DeclaredRoute.ts"
import { currentRequestId } from "../http-kit/Exchange.ts"
import type { HttpSettings } from "../http-kit/HttpSettings.ts"
import type { AttemptLimits } from "./AttemptLimits.ts"
import { authBody } from "./AuthBody.ts"
import { PasskeysApi, PasskeySetupRequest, SetupOptionsRequest } from "./declarations/PasskeysApi.ts"
import { decodeRegistration } from "./PasskeyAnswer.ts"
import { passkeySite } from "./PasskeySite.ts"
import { countAttempt } from "./PasswordEntrance.ts"
import { refuseCrossSite } from "./SessionCookie.ts"
import { signedInResponse, userAgent } from "./SignedIn.ts"
import { uncached } from "./Uncached.ts"

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

/** Redeems a setup link with a passkey instead of a password. */
export const passkeySetupRoutes = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const provided = uncached(yield* Effect.context<AttemptLimits | HttpSettings | SetupLinks>())
    yield* router.add(...routeOf(PasskeysApi.endpoints.setupOptions), provided(options))
    yield* router.add(...routeOf(PasskeysApi.endpoints.setup), provided(redeem))
  })
)
