import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { now } from "../../base/Identity.ts"
import type { RevocationReason } from "./Grants.ts"

/**
 * Revokes every grant, and everything that was issued for the grants: codes, access tokens, refresh token families and
 * device codes. Returns the number of grants. Runs in the caller's transaction.
 */
export const endGrants = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const at = yield* now
  const reason: RevocationReason = "restored"
  const grants = yield* sql`UPDATE oidc_grants SET revoked_at = ${at}, revoked_reason = ${reason}
    WHERE revoked_at IS NULL RETURNING id`
  yield* sql`UPDATE oauth_access_tokens SET revoked_at = ${at} WHERE revoked_at IS NULL`
  yield* sql`DELETE FROM oidc_refresh_tokens WHERE used_at IS NULL`
  yield* sql`UPDATE oidc_codes SET used_at = ${at} WHERE used_at IS NULL`
  yield* sql`DELETE FROM oidc_device_codes`
  // Removes all consents, so that a restore does not bring back a consent that was withdrawn after the backup. People then
  // have to consent again.
  yield* sql`DELETE FROM oidc_consents`
  return grants.length
}).pipe(Effect.orDie, Effect.withSpan("endGrants"))
