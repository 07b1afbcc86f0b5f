import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { now } from "../../base/Identity.ts"

/** Counts of the credentials that a restore revoked. */
export interface EndedCredentials {
  readonly sessions: number
  readonly tokens: number
  /** The number of links for a first account or a new password. */
  readonly links: number
}

/**
 * Revokes every session, personal access token, operator grant, link and unfinished sign-in. Runs in the caller's transaction.
 */
export const endCredentials = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const at = yield* now
  const sessions = yield* sql`UPDATE account_sessions SET revoked_at = ${at} WHERE revoked_at IS NULL RETURNING id`
  const tokens = yield* sql`UPDATE access_tokens SET revoked_at = ${at} WHERE revoked_at IS NULL RETURNING token_id`
  const links = yield* sql`DELETE FROM setup_links WHERE used_at IS NULL RETURNING id`
  yield* sql`DELETE FROM address_changes WHERE used_at IS NULL`
  // A restore must not bring back the operator role, because the role may have been revoked after the backup. `svc admin
  // operators` grants the role again.
  yield* sql`UPDATE users SET is_operator = 0 WHERE is_operator = 1`
  // Recovery codes that were used after the backup would otherwise be valid again.
  yield* sql`DELETE FROM recovery_codes`
  yield* sql`DELETE FROM action_confirmations`
  yield* sql`DELETE FROM passkey_challenges`
  yield* sql`DELETE FROM upstream_sign_ins`
  const ended: EndedCredentials = { sessions: sessions.length, tokens: tokens.length, links: links.length }
  return ended
}).pipe(Effect.orDie, Effect.withSpan("endCredentials"))
