import { Effect, Schema } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { SetupLinks } from "../../actors/account/SetupLinks.ts"
import { displayText } from "../../schema/records/Primitives.ts"
import { currentRequestId } from "../http/Exchange.ts"
import type { HttpSettings } from "../http/HttpSettings.ts"
import type { AttemptLimits } from "./AttemptLimits.ts"
import { authBody, redemptionFields } from "./AuthBody.ts"
import { BrowserAnswer, decodeRegistration } from "./PasskeyAnswer.ts"
import { passkeySite } from "./PasskeySite.ts"
import { countAttempt } from "./PasswordEntrance.ts"
import { refuseCrossSite } from "./SessionCookie.ts"
import { signedInResponse, userAgent } from "./SignedIn.ts"
import { uncached } from "./Uncached.ts"

const optionsBody = authBody(Schema.Struct(redemptionFields), "{secret, email?, displayName?}")
const redemptionBody = authBody(
  Schema.Struct({ ...redemptionFields, name: displayText(80), response: BrowserAnswer }),
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

/** The routes of a setup by passkey, as method and path, to distinguish a wrong method from an unknown path. */
export const passkeySetupRouteTable = [
  ["POST", "/auth/setup/passkey-options"],
  ["POST", "/auth/setup/passkey"]
] as const

/** Redeems a setup link with a passkey instead of a password. */
export const passkeySetupRoutes = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const provided = uncached(yield* Effect.context<AttemptLimits | HttpSettings | SetupLinks>())
    yield* router.add("POST", "/auth/setup/passkey-options", provided(options))
    yield* router.add("POST", "/auth/setup/passkey", provided(redeem))
  })
)
