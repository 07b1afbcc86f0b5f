/**
 * Invitations to a Workspace, or to the server without a Workspace (`workspace_id` is `NULL`). `stand_in` is the subject
 * that the list of members shows for the invited person; for an invitation to an email address, the subject is generated,
 * whether or not an account has that address. `proof` records how using the link proves the address. `invited_by` is `NULL`
 * for the operator.
 */
export const invitationTables: ReadonlyArray<string> = [
  `CREATE TABLE invitations (
    id TEXT PRIMARY KEY NOT NULL,
    secret_hash TEXT NOT NULL UNIQUE,
    workspace_id TEXT REFERENCES workspaces (id),
    role TEXT,
    email TEXT,
    subject TEXT REFERENCES users (subject),
    stand_in TEXT NOT NULL,
    proof TEXT,
    invited_by TEXT REFERENCES users (subject),
    status TEXT NOT NULL,
    accepted_by TEXT REFERENCES users (subject),
    created_at TEXT NOT NULL,
    expires_at TEXT NOT NULL,
    ended_at TEXT
  )`,
  `CREATE INDEX invitations_by_workspace ON invitations (workspace_id, created_at, id)`,
  `CREATE INDEX invitations_by_stand_in ON invitations (workspace_id, stand_in, status)`,
  `ALTER TABLE memberships ADD COLUMN left_at TEXT`,
  // Existing addresses count as proven by the operator, because only the operator could create accounts.
  `ALTER TABLE users ADD COLUMN email_proof TEXT`,
  `UPDATE users SET email_proof = 'operator'`
]

/** A higher role that an owner's invitation link offered to a member. Kept until an owner confirms or dismisses it. */
export const offeredRoleColumns: ReadonlyArray<string> = [`ALTER TABLE memberships ADD COLUMN offered_role TEXT`]
