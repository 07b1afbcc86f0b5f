import { Effect } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { ActionConfirmations } from "../../actors/access/account/ActionConfirmations.ts"
import { Confirmations } from "../../actors/access/account/Confirmations.ts"
import { isConfirmed, type Principal, requireConfirmed } from "../../actors/base/credential/Principal.ts"
import { ApiError } from "../../schema/errors/ApiError.ts"
import { routeOf } from "../http-kit/DeclaredRoute.ts"
import { currentRequestId } from "../http-kit/Exchange.ts"
import { AttemptLimits } from "./AttemptLimits.ts"
import { authBody } from "./AuthBody.ts"
import {
  Confirmation,
  ConfirmationDecision,
  ConfirmationRequest,
  ConfirmationsApi,
  WaitingConfirmationAnswer,
  WaitingConfirmationRequest
} from "./declarations/ConfirmationsApi.ts"
import { AssertionRequest } from "./declarations/PasskeyCeremony.ts"
import { decodeAssertion } from "./PasskeyAnswer.ts"
import { passkeySite } from "./PasskeySite.ts"
import { countPasswordGuess, requirePasswords } from "./CredentialSignIn.ts"
import { offeredSignInMethods } from "./SignInOffer.ts"
import { signedIn, signedInToChange } from "./SignedIn.ts"
import { uncached } from "./Uncached.ts"
import { UpstreamProvider } from "./upstream/UpstreamProvider.ts"

const passwordBody = authBody(ConfirmationRequest, "{password, code?}")
const waitingBody = authBody(WaitingConfirmationRequest, "{userCode}")
const decisionBody = authBody(ConfirmationDecision, "{userCode, decision}")
const passkeyBody = authBody(AssertionRequest, "{response}, as the browser gave it")

const encodeConfirmation = HttpServerResponse.schemaJson(Confirmation)

const sessionOf = ({ credentialId, subject }: Principal) =>
  Effect.map(currentRequestId, (requestId) => ({ subject, sessionId: credentialId, requestId }))

const done = HttpServerResponse.empty({ status: 204 })

/** Reports whether the person is currently confirmed, and the available ways to confirm. */
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
  // Avoid status 401, which the client would interpret as an expired session.
  yield* confirmations
    .byPasskey(yield* sessionOf(principal), party, answer)
    .pipe(
      Effect.mapError((error) =>
        error.code === "unauthenticated" ? new ApiError({ code: "permission_denied", message: error.message }) : error
      )
    )
  return done
})

/** Counts each code that is entered as an attempt, because it could be a guess. */
const countCode = Effect.fnUntraced(function* (subject: string) {
  const limits = yield* AttemptLimits
  yield* limits.consume("confirmation", { subject: `code:${subject}` })
})

const encodeWaiting = HttpServerResponse.schemaJson(WaitingConfirmationAnswer)

/** Returns the action that a program asks this person to confirm. */
const waiting = Effect.gen(function* () {
  const { subject } = yield* signedInToChange
  const { userCode } = yield* waitingBody
  yield* countCode(subject)
  const confirmations = yield* ActionConfirmations
  const confirmation = yield* confirmations.waiting(subject, userCode)
  return yield* Effect.orDie(encodeWaiting({ confirmation }))
})

const decide = Effect.gen(function* () {
  const principal = yield* signedInToChange
  const { decision, userCode } = yield* decisionBody
  yield* countCode(principal.subject)
  // Denying requires no confirmation, because anybody who uses the browser may deny a program's request.
  if (decision === "approve") yield* requireConfirmed(principal)
  const confirmations = yield* ActionConfirmations
  yield* confirmations.decide(yield* sessionOf(principal), userCode, decision === "approve")
  return done
})

/**
 * Routes by which a person with a session confirms their identity. A confirmation through the upstream provider begins at
 * `/auth/upstream/start?confirm=true`.
 */
export const confirmationRoutes = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    yield* router.add(...routeOf(ConfirmationsApi.endpoints.read), uncached(read))
    yield* router.add(...routeOf(ConfirmationsApi.endpoints.byPassword), uncached(byPassword))
    yield* router.add(...routeOf(ConfirmationsApi.endpoints.passkeyOptions), uncached(passkeyOptions))
    yield* router.add(...routeOf(ConfirmationsApi.endpoints.byPasskey), uncached(byPasskey))
    yield* router.add(...routeOf(ConfirmationsApi.endpoints.waiting), uncached(waiting))
    yield* router.add(...routeOf(ConfirmationsApi.endpoints.decide), uncached(decide))
  })
)
