import { Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import type { Client } from "./Client.ts"
import { type Grant, Grants } from "./Grants.ts"
import { isRegisteredRedirect } from "./RedirectUris.ts"
import type { StaticRegistry } from "./StaticRegistry.ts"

/** Returns true if the redirect URI of a grant is still registered for its client. A device has no redirect URI. */
export const isAtRegisteredAddress = (
  { applicationType, redirectUris }: Pick<Client, "applicationType" | "redirectUris">,
  { redirectUri }: Pick<Grant, "redirectUri">
): boolean => redirectUri === undefined || isRegisteredRedirect(redirectUri, redirectUris, applicationType)

const usesDevices = ({ grantTypes }: Client) => grantTypes.includes("urn:ietf:params:oauth:grant-type:device_code")

/**
 * Revokes the grants that belong to removed clients or redirect URIs, including their codes, access tokens and refresh token
 * families. Runs in the caller's transaction. Returns the number of revoked grants.
 */
export const endRemovedRedirects = Effect.fn("endRemovedRedirects")(function* (
  before: StaticRegistry,
  after: StaticRegistry
): Effect.fn.Return<number, SqlError, Grants> {
  const grants = yield* Grants
  let ended = 0
  for (const [id, earlier] of before.clients) {
    const present = after.clients.get(id)
    if (present === undefined) {
      const revoked = yield* grants.revokeClient(id)
      ended += revoked
      continue
    }
    const removed = earlier.redirectUris.some((uri) => !present.redirectUris.includes(uri))
    if (!removed) continue
    // A client that no device uses may have grants without a redirect URI, which were created before svc recorded the URIs.
    // Such a grant may have used the removed URI.
    const revoked = yield* grants.revokeRedirects(id, (redirectUri) =>
      redirectUri === undefined ? usesDevices(earlier) : isAtRegisteredAddress(present, { redirectUri })
    )
    ended += revoked
  }
  return ended
})
