import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { StoredUser } from "./UserRow.ts"

/**
 * The address of an account, if it has been shown to belong to the person: the operator provided it, a link mailed there was
 * opened, or the upstream provider reported it as verified at the last sign-in. Read in the caller's transaction.
 */
export const verifiedAddress = Effect.fn("verifiedAddress")(function* (subject: string) {
  const sql = yield* SqlClient.SqlClient
  const [user] = yield* StoredUser.some(sql, "email")`SELECT email FROM users
    WHERE subject = ${subject} AND (email_proof IS NOT NULL OR EXISTS (SELECT 1 FROM upstream_identities i
      WHERE i.subject = users.subject AND i.verified_email = users.email))`
  return user?.email
}, Effect.orDie)
