import { Context, Effect, Redacted } from "effect"
import type { AuthorizationServer } from "../../../runner/oauth/AuthorizationServer.ts"
import { ApiError, notFound } from "../../../schema/errors/ApiError.ts"
import type { OAuthHelper } from "../../../schema/records/OAuthHelper.ts"

/** A helper from the operator's policy, with its client at the authorization server. */
export interface DeclaredHelper {
  readonly helper: OAuthHelper
  readonly server: AuthorizationServer
  /** Additional parameters for the authorization request. */
  readonly parameters: Readonly<Record<string, string>>
  /** The recipe value that receives the access token. */
  readonly accessTokenName: string
  /** Additional recipe values that are the same for everybody. */
  readonly values: Readonly<Record<string, string>>
}

/** The helpers of this installation; empty if the operator declares none. */
export const OAuthHelpers = Context.Reference<ReadonlyArray<DeclaredHelper>>(
  "svc/actors/inputs/connection/OAuthHelpers",
  {
    defaultValue: () => []
  }
)

/** Returns the values of a Connection that this helper creates. */
export const valuesOf = ({ accessTokenName, values }: DeclaredHelper, accessToken: Redacted.Redacted) => ({
  ...values,
  [accessTokenName]: Redacted.value(accessToken)
})

/**
 * Finds a helper. Fails with `capability_not_available` if no helper is declared, and with `not_found` if this helper is
 * unknown.
 */
export const findHelper = Effect.fn("findHelper")(function* (helperId: string) {
  const helpers = yield* OAuthHelpers
  if (helpers.length === 0) {
    return yield* new ApiError({
      code: "capability_not_available",
      message:
        "The operator of this server declares no OAuth helper (`oauth-helpers` at /api/v1/extensions is not enabled). Create the Connection with the credential itself."
    })
  }
  const found = helpers.find(({ helper }) => helper.id === helperId)
  return found === undefined ? yield* notFound("OAuth helper") : found
})
