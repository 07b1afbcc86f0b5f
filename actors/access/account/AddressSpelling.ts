import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { withStoredSpelling } from "../../../schema/records/EmailAddress.ts"
import { AddressChangeRow } from "./ProfileRows.ts"
import { UpstreamIdentityRow } from "./UpstreamIdentities.ts"
import { StoredUser } from "./UserRow.ts"

/**
 * Converts addresses that an earlier release stored with a domain in a non-ASCII script. If another account already has the
 * converted address, the old spelling is kept, and either spelling can be used to find the account. Runs with the
 * migrations, in their transaction or after it.
 */
export const respellAccountAddresses = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const users = yield* StoredUser.some(sql, "subject", "email")`SELECT subject, email FROM users
    WHERE octet_length(email) > length(email)`
  for (const { email, subject } of users) {
    const changed = StoredUser.changes(sql, { email: withStoredSpelling(email) })
    yield* sql`UPDATE users SET ${changed} WHERE subject = ${subject}
      AND NOT EXISTS (SELECT 1 FROM users o WHERE o.email = ${withStoredSpelling(email)})`
  }
  const identities = yield* UpstreamIdentityRow.some(sql, "verified_email")`SELECT DISTINCT verified_email
    FROM upstream_identities WHERE octet_length(verified_email) > length(verified_email)`
  for (const { verified_email } of identities) {
    if (verified_email === null) continue
    const changed = UpstreamIdentityRow.changes(sql, { verified_email: withStoredSpelling(verified_email) })
    yield* sql`UPDATE upstream_identities SET ${changed} WHERE verified_email = ${verified_email}`
  }
  const links = yield* AddressChangeRow.some(sql, "id", "email")`SELECT id, email FROM address_changes
    WHERE octet_length(email) > length(email)`
  for (const { email, id } of links) {
    const changed = AddressChangeRow.changes(sql, { email: withStoredSpelling(email) })
    yield* sql`UPDATE address_changes SET ${changed} WHERE id = ${id}`
  }
})
