import { Context, Effect, Redacted } from "effect"
import type { AuthorizationServer } from "../../../runner/oauth/AuthorizationServer.ts"
import { ApiError, notFound } from "../../../schema/errors/ApiError.ts"
import type { OAuthHelper } from "../../../schema/records/OAuthHelper.ts"

/** A helper as the operator declared it, with its identity at the authorization server. */
export interface DeclaredHelper {
  readonly helper: OAuthHelper
  readonly server: AuthorizationServer
  /** Additional parameters that this server expects in an authorization request. */
  readonly parameters: Readonly<Record<string, string>>
  /** The value of the recipe that the access token becomes. */
  readonly accessTokenName: string
  /** Additional values of the recipe, the same for everybody. */
  readonly values: Readonly<Record<string, string>>
}

/** The helpers of this installation; empty if the operator has declared none. */
export const OAuthHelpers = Context.Reference<ReadonlyArray<DeclaredHelper>>(
  "svc/actors/inputs/connection/OAuthHelpers",
  {
    defaultValue: () => []
  }
)

/** The values of a Connection that the helper creates. */
export const valuesOf = ({ accessTokenName, values }: DeclaredHelper, accessToken: Redacted.Redacted) => ({
  ...values,
  [accessTokenName]: Redacted.value(accessToken)
})

/** Fails with `capability_not_available` when no helper is declared, and with `not_found` for an unknown helper. */
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
