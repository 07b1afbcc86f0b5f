import { Effect, Schema } from "effect"
import { isSqlError, type SqlError } from "effect/sql/SqlError"

/**
 * All OAuth error codes of the issuer, each with the HTTP status that a direct response has. A redirect contains only the
 * code.
 */
export const oauthErrorStatuses = {
  invalid_request: 400,
  invalid_client: 401,
  invalid_grant: 400,
  invalid_scope: 400,
  invalid_target: 400,
  invalid_token: 401,
  insufficient_scope: 403,
  unauthorized_client: 400,
  unsupported_grant_type: 400,
  unsupported_response_type: 400,
  unsupported_token_type: 400,
  access_denied: 400,
  authorization_pending: 400,
  slow_down: 400,
  expired_token: 400,
  login_required: 400,
  consent_required: 400,
  account_selection_required: 400,
  request_not_supported: 400,
  request_uri_not_supported: 400,
  registration_not_supported: 400,
  temporarily_unavailable: 503
} as const
export type OAuthErrorCode = keyof typeof oauthErrorStatuses

const codes = Schema.Literals([
  "invalid_request",
  "invalid_client",
  "invalid_grant",
  "invalid_scope",
  "invalid_target",
  "invalid_token",
  "insufficient_scope",
  "unauthorized_client",
  "unsupported_grant_type",
  "unsupported_response_type",
  "unsupported_token_type",
  "access_denied",
  "authorization_pending",
  "slow_down",
  "expired_token",
  "login_required",
  "consent_required",
  "account_selection_required",
  "request_not_supported",
  "request_uri_not_supported",
  "registration_not_supported",
  "temporarily_unavailable"
])

/** An expected refusal by the issuer. `description` is written for client developers and never contains a secret. */
export class OAuthError extends Schema.TaggedError<OAuthError>()("OAuthError", {
  error: codes,
  description: Schema.String
}) {
  get status(): number {
    return oauthErrorStatuses[this.error]
  }
}

export const refuse = (error: OAuthErrorCode, description: string) => new OAuthError({ error, description })

const unavailable = refuse(
  "temporarily_unavailable",
  "The authority behind this request could not be verified just now. Nothing was used up; try again."
)

const isOwnFailure = <E>(error: E): error is Exclude<E, SqlError> => !isSqlError(error)

/**
 * Fails closed: if the database does not respond, nobody is admitted. The caller's transaction is rolled back, so the presented
 * token remains valid.
 */
export const failClosed = <A, E, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, Exclude<E, SqlError> | OAuthError, R> =>
  Effect.catch(
    effect,
    (error): Effect.Effect<never, Exclude<E, SqlError> | OAuthError> =>
      isOwnFailure(error)
        ? Effect.fail(error)
        : Effect.andThen(Effect.logError("The issuer could not verify an authority", error), Effect.fail(unavailable))
  )
