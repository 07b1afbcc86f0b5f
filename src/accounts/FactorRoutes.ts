import { Effect, Option, Redacted } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { SecondFactors } from "../../actors/access/account/SecondFactors.ts"
import { Users } from "../../actors/access/account/Users.ts"
import { notFound } from "../../schema/errors/ApiError.ts"
import { routeOf } from "../http-kit/DeclaredRoute.ts"
import { HttpSettings } from "../http-kit/HttpSettings.ts"
import { authBody } from "./AuthBody.ts"
import {
  CodeRequest,
  RecoveryCodes,
  SecondFactor,
  SecondFactorApi,
  SecondFactorSecret
} from "./declarations/SecondFactorApi.ts"
import { requirePasswords } from "./CredentialSignIn.ts"
import { commandOf, signedIn, signedInAndConfirmed } from "./SignedIn.ts"
import { uncached } from "./Uncached.ts"

const codeBody = authBody(CodeRequest, "{code}")

const encodeFactor = HttpServerResponse.schemaJson(SecondFactor)
const encodeBegun = HttpServerResponse.schemaJson(SecondFactorSecret)
const encodeCodes = HttpServerResponse.schemaJson(RecoveryCodes)

const read = Effect.gen(function* () {
  const { subject } = yield* signedIn
  const factors = yield* SecondFactors
  return yield* Effect.orDie(encodeFactor(yield* factors.read(subject)))
})

/** Returns the secret for an authenticator app, both as text to type in and as a URI. */
const begin = Effect.gen(function* () {
  const { subject } = yield* signedInAndConfirmed
  yield* requirePasswords
  const users = yield* Users
  const user = yield* users.find(subject)
  if (Option.isNone(user)) return yield* notFound("Account")
  const factors = yield* SecondFactors
  const secret = Redacted.value(yield* factors.begin(subject))
  const { displayName } = yield* HttpSettings
  const label = `${encodeURIComponent(displayName)}:${encodeURIComponent(user.value.email)}`
  const uri = `otpauth://totp/${label}?secret=${secret}&issuer=${encodeURIComponent(displayName)}`
  return yield* Effect.orDie(encodeBegun({ secret, uri }))
})

const shown = (codes: ReadonlyArray<Redacted.Redacted>) =>
  Effect.orDie(encodeCodes({ recoveryCodes: codes.map(Redacted.value) }))

const activate = Effect.gen(function* () {
  const principal = yield* signedInAndConfirmed
  const factors = yield* SecondFactors
  const { code } = yield* codeBody
  return yield* shown(yield* factors.activate(yield* commandOf(principal), principal.subject, code))
})

const renewCodes = Effect.gen(function* () {
  const principal = yield* signedInAndConfirmed
  const factors = yield* SecondFactors
  return yield* shown(yield* factors.renewCodes(yield* commandOf(principal), principal.subject))
})

const remove = Effect.gen(function* () {
  const principal = yield* signedInAndConfirmed
  const factors = yield* SecondFactors
  yield* factors.remove(yield* commandOf(principal), principal.subject)
  return HttpServerResponse.empty({ status: 204 })
})

/** Routes for the second factor of the signed-in person, and its recovery codes. */
export const factorRoutes = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    yield* router.add(...routeOf(SecondFactorApi.endpoints.read), uncached(read))
    yield* router.add(...routeOf(SecondFactorApi.endpoints.begin), uncached(begin))
    yield* router.add(...routeOf(SecondFactorApi.endpoints.remove), uncached(remove))
    yield* router.add(...routeOf(SecondFactorApi.endpoints.activate), uncached(activate))
    yield* router.add(...routeOf(SecondFactorApi.endpoints.renewCodes), uncached(renewCodes))
  })
)
