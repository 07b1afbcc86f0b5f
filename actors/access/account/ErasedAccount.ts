import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { now } from "../../base/Identity.ts"
import { forgetNoticeMails } from "../../base/notice/NoticeMailChoices.ts"
import { StoredUser } from "./UserRow.ts"
import { markReportsOfAccount } from "../../ledger/pull-request-report/ReportMarks.ts"

/**
 * Erases the account's personal data and sign-in methods, in the caller's transaction. Keeps the row, because the operation
 * history refers to its subject. The address becomes free for another account.
 */
export const eraseAccount = Effect.fn("eraseAccount")(function* (subject: string) {
  const sql = yield* SqlClient.SqlClient
  const at = yield* now
  yield* sql`UPDATE account_sessions SET revoked_at = ${at} WHERE subject = ${subject} AND revoked_at IS NULL`
  yield* sql`UPDATE access_tokens SET revoked_at = ${at} WHERE subject = ${subject} AND revoked_at IS NULL`
  yield* sql`DELETE FROM user_passwords WHERE subject = ${subject}`
  yield* sql`DELETE FROM passkeys WHERE subject = ${subject}`
  yield* sql`DELETE FROM passkey_challenges WHERE subject = ${subject}`
  yield* sql`DELETE FROM upstream_identities WHERE subject = ${subject}`
  yield* sql`DELETE FROM upstream_sign_ins WHERE link_subject = ${subject}`
  yield* sql`DELETE FROM totp_factors WHERE subject = ${subject}`
  yield* sql`DELETE FROM recovery_codes WHERE subject = ${subject}`
  yield* sql`DELETE FROM address_changes WHERE subject = ${subject}`
  yield* sql`DELETE FROM account_notices WHERE subject = ${subject}`
  yield* forgetNoticeMails(sql, subject)
  yield* sql`DELETE FROM setup_links WHERE subject = ${subject}`
  // The domain of the addresses that replace erased ones. Real addresses never use this domain (RFC 2606).
  const gone = {
    email: `${subject}@deleted.invalid`,
    email_proof: null,
    display_name: null,
    is_operator: 0,
    updated_at: at
  } as const
  yield* sql`UPDATE users SET ${StoredUser.changes(sql, { ...gone, status: "deleted" })} WHERE subject = ${subject}`
  yield* markReportsOfAccount(sql, subject)
}, Effect.orDie)
