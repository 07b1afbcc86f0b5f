import { Clock, Effect, Option, Redacted } from "effect"
import {
  allowInsecureRequests,
  type Configuration,
  discovery,
  initiateDeviceAuthorization,
  None,
  pollDeviceAuthorizationGrant,
  refreshTokenGrant,
  ResponseBodyError,
  tokenRevocation
} from "openid-client"
import { cliClientId } from "../../../schema/records/CommandLineClient.ts"
import { isPrivateInTransit } from "../../http-kit/ListenAddress.ts"
import { exitCodes } from "../ExitCodes.ts"
import { CommandFailed, misuse } from "../Output.ts"
import { type StoredLogin, StoredLogins } from "./StoredLogins.ts"

const scope = "openid offline_access read write"
const requestTimeoutSeconds = 20
// A token is treated as expired this long before its expiry, because a token that expires during a request is useless.
const earlyMillis = 30_000

/** Returns the origin of a server as typed by a person, with or without a scheme. Allows plain HTTP only on loopback. */
export const serverOrigin = (text: string): Effect.Effect<string, CommandFailed> => {
  const given = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `https://${text}`
  const url = URL.canParse(given) ? new URL(given) : undefined
  return url !== undefined &&
    isPrivateInTransit(url) &&
    url.username === "" &&
    url.pathname === "/" &&
    url.search === ""
    ? Effect.succeed(url.origin)
    : Effect.fail(
        new CommandFailed({
          ...misuse,
          message: "The server is not named well. Give its origin, such as https://svc.example.com."
        })
      )
}

const notSignedIn = (message: string) =>
  new CommandFailed({ code: "unauthenticated", exitCode: exitCodes.forbidden, message })

/** Explains the issuer's error codes (RFC 8628, RFC 6749) to the person who logs in. */
const refusals: Readonly<Record<string, string>> = {
  access_denied: "The login was refused in the browser.",
  expired_token: "The code was not confirmed in time. Run `svc login` again.",
  invalid_grant: "The login has ended. Run `svc login` again."
}

const failureOf = (what: string, cause: unknown) => {
  if (cause instanceof ResponseBodyError) {
    return notSignedIn(refusals[cause.error] ?? `${what} was refused (${cause.error}).`)
  }
  const isAnswered = cause instanceof Error && "code" in cause && String(cause.code).startsWith("OAUTH_")
  return isAnswered
    ? new CommandFailed({ message: `${what} failed (${cause.message}). Is it an svc server?` })
    : new CommandFailed({
        code: "unreachable",
        exitCode: exitCodes.unreachable,
        message: `${what} failed, since it cannot be reached. Check the address, and whether the server runs.`
      })
}

const asking = <A>(what: string, ask: (signal: AbortSignal) => Promise<A>) =>
  Effect.tryPromise(ask).pipe(Effect.mapError(({ cause }) => failureOf(what, cause)))

const discover = (origin: string) =>
  asking(`Asking ${origin} how to log in`, () =>
    discovery(new URL(origin), cliClientId, undefined, None(), {
      timeout: requestTimeoutSeconds,
      execute: origin.startsWith("http:") ? [allowInsecureRequests] : []
    })
  )

type Tokens = Awaited<ReturnType<typeof refreshTokenGrant>>

const toLogin = Effect.fnUntraced(function* (tokens: Tokens) {
  const now = yield* Clock.currentTimeMillis
  const login: StoredLogin = {
    accessToken: Redacted.make(tokens.access_token),
    ...(tokens.refresh_token === undefined ? {} : { refreshToken: Redacted.make(tokens.refresh_token) }),
    expiresAt: now + (tokens.expiresIn() ?? 0) * 1000
  }
  return login
})

/** The steps that the person completes in a browser. */
export interface DevicePrompt {
  readonly address: string
  readonly code: string
  readonly expiresInSeconds: number
}

/**
 * Signs in with the device flow (RFC 8628). Shows the address to the person through `prompt`, then waits until the person
 * has signed in.
 */
export const logIn = Effect.fn("logIn")(function* <R>(
  origin: string,
  prompt: (what: DevicePrompt) => Effect.Effect<void, never, R>
) {
  const configuration = yield* discover(origin)
  const begun = yield* asking("Beginning the login", () => initiateDeviceAuthorization(configuration, { scope }))
  yield* prompt({
    address: begun.verification_uri_complete ?? begun.verification_uri,
    code: begun.user_code,
    expiresInSeconds: begun.expires_in
  })
  const tokens = yield* asking("The login", (signal) =>
    pollDeviceAuthorizationGrant(configuration, begun, undefined, { signal })
  )
  const logins = yield* StoredLogins
  yield* logins.store(origin, yield* toLogin(tokens))
})

const revoke = (configuration: Configuration, token: Redacted.Redacted) =>
  asking("Ending the login at the server", () => tokenRevocation(configuration, Redacted.value(token)))

/** Revokes the login on the server, and removes the login from this machine even if the server cannot be reached. */
export const logOut = Effect.fn("logOut")(function* (origin: string) {
  const logins = yield* StoredLogins
  const login = yield* logins.find(origin)
  if (Option.isNone(login)) return yield* notSignedIn(`There is no login at ${origin}.`)
  const { accessToken, refreshToken } = login.value
  // Revoke the refresh token, which also revokes every token issued with it.
  const revoked = Effect.flatMap(discover(origin), (configuration) =>
    revoke(configuration, refreshToken ?? accessToken)
  )
  const ended = yield* Effect.exit(revoked)
  yield* logins.remove(origin)
  return yield* ended
})

/** Returns an access token that remains valid for long enough. Renews the token if necessary. */
export const currentToken = Effect.fn("currentToken")(function* (origin: string) {
  const logins = yield* StoredLogins
  const login = yield* logins.find(origin)
  if (Option.isNone(login)) {
    return yield* notSignedIn(`There is no login at ${origin}. Run \`svc login ${origin}\`.`)
  }
  const { accessToken, expiresAt, refreshToken } = login.value
  if (expiresAt - earlyMillis > (yield* Clock.currentTimeMillis)) return accessToken
  if (refreshToken === undefined) {
    return yield* notSignedIn(`The login at ${origin} has ended. Run \`svc login ${origin}\`.`)
  }
  const configuration = yield* discover(origin)
  const tokens = yield* asking(`Renewing the login at ${origin}; \`svc login\` begins a new one. It`, () =>
    refreshTokenGrant(configuration, Redacted.value(refreshToken))
  )
  const renewed = yield* toLogin(tokens)
  // Keep the old refresh token if the server does not rotate refresh tokens and therefore returns no new one.
  yield* logins.store(origin, { refreshToken, ...renewed })
  return renewed.accessToken
})
