import { Effect } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { Confirmations } from "../../actors/access/account/Confirmations.ts"
import type { Sessions } from "../../actors/access/account/Sessions.ts"
import { isConfirmed, type Principal } from "../../actors/base/credential/Principal.ts"
import { ApiError } from "../../schema/errors/ApiError.ts"
import { routeOf } from "../http-kit/DeclaredRoute.ts"
import { currentRequestId } from "../http-kit/Exchange.ts"
import type { HttpSettings } from "../http-kit/HttpSettings.ts"
import type { AttemptLimits } from "./AttemptLimits.ts"
import { authBody } from "./AuthBody.ts"
import { Confirmation, ConfirmationRequest, ConfirmationsApi } from "./declarations/ConfirmationsApi.ts"
import { AssertionRequest } from "./declarations/PasskeyCeremony.ts"
import { decodeAssertion } from "./PasskeyAnswer.ts"
import { passkeySite } from "./PasskeySite.ts"
import { countPasswordGuess, requirePasswords } from "./PasswordEntrance.ts"
import { offeredSignInMethods } from "./SignInOffer.ts"
import { signedIn, signedInToChange } from "./SignedIn.ts"
import { uncached } from "./Uncached.ts"
import { UpstreamProvider } from "./upstream/UpstreamProvider.ts"

const passwordBody = authBody(ConfirmationRequest, "{password, code?}")
const passkeyBody = authBody(AssertionRequest, "{response}, as the browser gave it")

const encodeConfirmation = HttpServerResponse.schemaJson(Confirmation)

const sessionOf = ({ credentialId, subject }: Principal) =>
  Effect.map(currentRequestId, (requestId) => ({ subject, sessionId: credentialId, requestId }))

const done = HttpServerResponse.empty({ status: 204 })

/** Returns whether the person is currently confirmed, and the available ways to confirm. */
const read = Effect.gen(function* () {
  const principal = yield* signedIn
  const confirmations = yield* Confirmations
  const { code, passkeys, password, upstream } = yield* confirmations.ways(
    principal.subject,
    yield* offeredSignInMethods
  )
  const { name } = yield* UpstreamProvider
  const provider = upstream && name !== undefined ? { provider: { name } } : {}
  return yield* Effect.orDie(
    encodeConfirmation({ confirmed: yield* isConfirmed(principal), password, code, passkeys, ...provider })
  )
})

const byPassword = Effect.gen(function* () {
  const principal = yield* signedInToChange
  yield* requirePasswords
  const { code, password } = yield* passwordBody
  yield* countPasswordGuess(principal.subject)
  const confirmations = yield* Confirmations
  yield* confirmations.byPassword(yield* sessionOf(principal), password, code)
  return done
})

const passkeyOptions = Effect.gen(function* () {
  const principal = yield* signedInToChange
  const confirmations = yield* Confirmations
  const options = yield* confirmations.passkeyOptions(yield* passkeySite, yield* sessionOf(principal))
  return HttpServerResponse.jsonUnsafe({ options })
})

const byPasskey = Effect.gen(function* () {
  const principal = yield* signedInToChange
  const party = yield* passkeySite
  const { response } = yield* passkeyBody
  const answer = yield* decodeAssertion(response)
  const confirmations = yield* Confirmations
  // The client would treat a 401 as an expired session.
  yield* confirmations
    .byPasskey(yield* sessionOf(principal), party, answer)
    .pipe(
      Effect.mapError((error) =>
        error.code === "unauthenticated" ? new ApiError({ code: "permission_denied", message: error.message }) : error
      )
    )
  return done
})

/**
 * Routes by which a person with a session confirms that they are still present. With the upstream provider, confirmation begins
 * at `/auth/upstream/start?confirm=true`.
 */
export const confirmationRoutes = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const provided = uncached(
      yield* Effect.context<AttemptLimits | Confirmations | HttpSettings | Sessions | UpstreamProvider>()
    )
    yield* router.add(...routeOf(ConfirmationsApi.endpoints.read), provided(read))
    yield* router.add(...routeOf(ConfirmationsApi.endpoints.byPassword), provided(byPassword))
    yield* router.add(...routeOf(ConfirmationsApi.endpoints.passkeyOptions), provided(passkeyOptions))
    yield* router.add(...routeOf(ConfirmationsApi.endpoints.byPasskey), provided(byPasskey))
  })
)
