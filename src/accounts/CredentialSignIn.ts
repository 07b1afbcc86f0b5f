import { Effect, Option, type Redacted } from "effect"
import { HttpServerRequest } from "effect/http"
import { PasswordSignIn } from "../../actors/access/account/PasswordSignIn.ts"
import { type PasswordRedemption, SetupLinks } from "../../actors/access/account/SetupLinks.ts"
import { Users } from "../../actors/access/account/Users.ts"
import { ApiError } from "../../schema/errors/ApiError.ts"
import { currentRequestId } from "../http-kit/Exchange.ts"
import { HttpSettings } from "../http-kit/HttpSettings.ts"
import { AttemptLimits } from "./AttemptLimits.ts"
import { KnownDevices } from "./KnownDevices.ts"
import { presentedSession } from "./SessionCookie.ts"
import { userAgent } from "./SignedIn.ts"

const address = Effect.map(HttpServerRequest.HttpServerRequest, ({ remoteAddress }) =>
  Option.getOrUndefined(remoteAddress)
)

/** Counts a sign-in attempt for an unknown account. */
export const countAttempt = Effect.gen(function* () {
  const limits = yield* AttemptLimits
  yield* limits.enter({ address: yield* address })
})

/**
 * Counts a sign-in attempt on the account with the given address. A browser in which the owner has signed in before has a
 * separate budget.
 */
const countAttemptAt = Effect.fnUntraced(function* (email: string) {
  const limits = yield* AttemptLimits
  const devices = yield* KnownDevices
  const users = yield* Users
  const user = yield* users.findByEmail(email)
  const device = Option.isSome(user) ? yield* devices.recognise(user.value.subject) : undefined
  yield* limits.enter({ address: yield* address, account: email, device })
})

/** Counts an attempt to enter the signed-in person's password. */
export const countPasswordGuess = Effect.fnUntraced(function* (subject: string) {
  const limits = yield* AttemptLimits
  yield* limits.consume("sign_in", { subject })
})

/** Fails with `capability_not_available` if password sign-in is disabled. */
export const requirePasswords = Effect.filterOrFail(
  HttpSettings,
  ({ auth }) => auth.password,
  () =>
    new ApiError({
      code: "capability_not_available",
      message: "Sign-in by password is off on this server. Sign in another way; see `auth` in the discovery document."
    })
)

/** Counts the attempt, and redeems a setup link by setting a password. */
export const signInBySetup = Effect.fnUntraced(function* (
  redemption: Pick<PasswordRedemption, "secret" | "password" | "email" | "displayName">
) {
  const links = yield* SetupLinks
  return yield* links.redeem({ ...redemption, userAgent: yield* userAgent, requestId: yield* currentRequestId })
})

/** Counts an attempt, signs in with a password, and closes the browser's previous session. */
export const signInByPassword = Effect.fnUntraced(function* (body: {
  readonly email: string
  readonly password: Redacted.Redacted
  readonly code?: Redacted.Redacted
}) {
  yield* countAttemptAt(body.email)
  const passwords = yield* PasswordSignIn
  const before = yield* presentedSession
  return yield* passwords.signIn({
    ...body,
    userAgent: yield* userAgent,
    replaces: before?.secret,
    requestId: yield* currentRequestId
  })
})
