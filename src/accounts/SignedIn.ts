import { Effect } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { unauthenticated } from "../../actors/base/credential/CredentialRefusal.ts"
import { type Principal, requireConfirmed } from "../../actors/base/credential/Principal.ts"
import { type OpenSession, Sessions } from "../../actors/access/account/Sessions.ts"
import type { CommandContext } from "../../schema/commands/Command.ts"
import { ReadSnapshot } from "../../actors/base/database/ReadSnapshot.ts"
import { ApiError } from "../../schema/errors/ApiError.ts"
import { currentRequestId, Exchange, followRenewal } from "../http-kit/Exchange.ts"
import { AttemptLimits } from "./AttemptLimits.ts"
import { SignedInAnswer } from "./declarations/SignInApi.ts"
import { KnownDevices } from "./KnownDevices.ts"
import { presentedSession, requireSameOrigin, withSession } from "./SessionCookie.ts"

/**
 * Returns the person to whom this request's session belongs. Fails with `unauthenticated` if there is no session. The
 * request's transactions must check the session again, because it may be revoked while the body arrives or a password is
 * hashed.
 */
export const signedIn = Effect.gen(function* () {
  const sessions = yield* Sessions
  const presented = yield* presentedSession
  if (presented === undefined) return yield* unauthenticated()
  const principal = yield* sessions.authenticate(presented.secret)
  yield* followRenewal(presented, principal)
  const { admittedBy } = yield* Exchange
  const snapshot = yield* ReadSnapshot
  admittedBy?.(Effect.asVoid(Effect.andThen(Effect.sync(snapshot.renew), sessions.authenticate(presented.secret))))
  return principal
})

/**
 * Like `signedIn`, for a request that changes the account. Fails with `permission_denied` if the session is confined to one
 * Workspace, because the change would affect other Workspaces too.
 */
export const signedInToChange = Effect.gen(function* () {
  const principal = yield* signedIn
  const presented = yield* presentedSession
  if (presented?.ambient === true) yield* requireSameOrigin
  if (principal.boundWorkspaceId !== undefined) {
    return yield* new ApiError({
      code: "permission_denied",
      message: "This session is confined to one Workspace. Sign in to the account to change it."
    })
  }
  const limits = yield* AttemptLimits
  yield* limits.consume("mutation", { subject: principal.subject })
  return principal
})

/**
 * Like `signedInToChange`, for a change that must not be possible in an unattended browser. Fails with
 * `reauthentication_required` unless the person has recently confirmed their identity.
 */
export const signedInAndConfirmed = Effect.tap(signedInToChange, requireConfirmed)

/** Creates a command context for this person. */
export const commandOf = (principal: Principal): Effect.Effect<CommandContext> =>
  Effect.map(currentRequestId, (requestId) => ({
    actor: { kind: "user", subject: principal.subject },
    actorKey: principal.subject,
    requestId
  }))

export const userAgent = Effect.map(HttpServerRequest.HttpServerRequest, ({ headers }) => headers["user-agent"])

/** Sets the session cookie, and records that the person has used this browser. */
export const withSignIn = Effect.fnUntraced(function* (
  response: HttpServerResponse.HttpServerResponse,
  { secret, subject }: Pick<OpenSession, "secret"> & { readonly subject: string }
) {
  const devices = yield* KnownDevices
  return yield* devices.remember(yield* withSession(response, secret), subject)
})

const encodeSignedIn = HttpServerResponse.schemaJson(SignedInAnswer)

/** Creates the response to a sign-in: the person, and the session cookie. Only the cookie contains the secret. */
export const signedInResponse = Effect.fnUntraced(function* (
  opened: OpenSession & { readonly subject: string },
  status: 200 | 201
) {
  const { secret, session, subject } = opened
  const response = yield* Effect.orDie(encodeSignedIn({ subject, session }, { status }))
  return yield* withSignIn(response, { secret, subject })
})
