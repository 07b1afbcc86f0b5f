import { Effect } from "effect"
import type { RelyingParty } from "../../actors/access/account/NewPasskeys.ts"
import { ApiError } from "../../schema/errors/ApiError.ts"
import { HttpSettings } from "../http-kit/HttpSettings.ts"
import { isNamedHost } from "./SignInOffer.ts"

/**
 * Returns the WebAuthn site for which this server's passkeys are valid. Fails with `capability_not_available` if the server
 * is reachable only by an IP address.
 */
export const passkeySite = Effect.gen(function* () {
  const { baseUrl, displayName } = yield* HttpSettings
  const { hostname, origin } = new URL(baseUrl)
  if (!isNamedHost(hostname)) {
    return yield* new ApiError({
      code: "capability_not_available",
      message: "Passkeys need a host name in the base URL; this server is known by an address."
    })
  }
  return { id: hostname, origin, name: displayName } satisfies RelyingParty
})
