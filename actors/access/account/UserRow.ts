import { Effect, Schema } from "effect"
import { Subject } from "../../../schema/records/Ids.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { AddressProof } from "../../../schema/records/Invitation.ts"
import { SubjectKind } from "../../../schema/records/Workspace.ts"
import { SubjectsJson } from "./PeopleBehind.ts"
import { Flag, type RowOf, table } from "../../base/database/Table.ts"
import { SqlClient } from "effect/sql"

/** Accounts of people, and the automation members of Workspaces. */
export const StoredUser = table(
  "users",
  {
    subject: Subject,
    email: Schema.String,
    display_name: Schema.NullOr(Schema.String),
    email_proof: Schema.NullOr(AddressProof),
    is_operator: Flag,
    status: Schema.String,
    created_at: Timestamp,
    updated_at: Timestamp,
    kind: SubjectKind,
    /** The people who created an automation; `NULL` for a person. */
    made_by: Schema.NullOr(SubjectsJson)
  },
  ["kind"]
)
export type StoredUser = RowOf<typeof StoredUser.columns>

/** Hashed passwords of accounts. */
export const PasswordRow = table("user_passwords", {
  subject: Subject,
  password_hash: Schema.String,
  updated_at: Timestamp
})
export type PasswordRow = RowOf<typeof PasswordRow.columns>

/**
 * Returns the account's address if it has been verified: the operator entered it, somebody opened a link that was mailed to it,
 * or the upstream provider reported it as verified at the last sign-in. Reads the database in the caller's transaction.
 */
export const verifiedAddress = Effect.fn("verifiedAddress")(function* (subject: string) {
  const sql = yield* SqlClient.SqlClient
  const [user] = yield* StoredUser.some(sql, "email")`SELECT email FROM users
    WHERE subject = ${subject} AND (email_proof IS NOT NULL OR EXISTS (SELECT 1 FROM upstream_identities i
      WHERE i.subject = users.subject AND i.verified_email = users.email))`
  return user?.email
}, Effect.orDie)
