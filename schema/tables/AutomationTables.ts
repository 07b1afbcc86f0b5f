/**
 * Automation members: subjects that have no way to sign in. The address of such a member is its own subject; no real address can
 * equal it, so no lookup by address finds the member. `created_by` of a token is `NULL` if its subject created it.
 */
export const automationMemberColumns: ReadonlyArray<string> = [
  `ALTER TABLE users ADD COLUMN kind TEXT NOT NULL DEFAULT 'person'`,
  `ALTER TABLE access_tokens ADD COLUMN created_by TEXT`
]
