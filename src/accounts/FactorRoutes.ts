import { Effect, Option, Redacted, Schema } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { SecondFactors } from "../../actors/account/SecondFactors.ts"
import type { Sessions } from "../../actors/account/Sessions.ts"
import { Users } from "../../actors/account/Users.ts"
import { notFound } from "../../schema/errors/ApiError.ts"
import { HttpSettings } from "../http/HttpSettings.ts"
import type { AttemptLimits } from "./AttemptLimits.ts"
import { authBody, SecretText } from "./AuthBody.ts"
import { requirePasswords } from "./PasswordEntrance.ts"
import { commandOf, signedIn, signedInAndConfirmed } from "./SignedIn.ts"
import { uncached } from "./Uncached.ts"

const codeBody = authBody(Schema.Struct({ code: SecretText }), "{code}")

const encodeFactor = HttpServerResponse.schemaJson(Schema.Struct({ active: Schema.Boolean, recoveryCodes: Schema.Int }))
const encodeBegun = HttpServerResponse.schemaJson(Schema.Struct({ secret: Schema.String, uri: Schema.String }))
const encodeCodes = HttpServerResponse.schemaJson(Schema.Struct({ recoveryCodes: Schema.Array(Schema.String) }))

const read = Effect.gen(function* () {
  const { subject } = yield* signedIn
  const factors = yield* SecondFactors
  return yield* Effect.orDie(encodeFactor(yield* factors.read(subject)))
})

/** What an authenticator takes, by hand or as an address. */
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

/** The routes of the second factor, as method and path, to distinguish a wrong method from an unknown path. */
export const factorRouteTable = [
  ["GET", "/auth/second-factor"],
  ["POST", "/auth/second-factor"],
  ["DELETE", "/auth/second-factor"],
  ["POST", "/auth/second-factor/activate"],
  ["POST", "/auth/second-factor/recovery-codes"]
] as const

/** The second factor of the signed-in person, and its recovery codes. */
export const factorRoutes = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const provided = uncached(yield* Effect.context<AttemptLimits | HttpSettings | SecondFactors | Sessions | Users>())
    yield* router.add("GET", "/auth/second-factor", provided(read))
    yield* router.add("POST", "/auth/second-factor", provided(begin))
    yield* router.add("DELETE", "/auth/second-factor", provided(remove))
    yield* router.add("POST", "/auth/second-factor/activate", provided(activate))
    yield* router.add("POST", "/auth/second-factor/recovery-codes", provided(renewCodes))
  })
)
