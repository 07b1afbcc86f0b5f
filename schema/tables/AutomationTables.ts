/**
 * Automations: subjects that cannot sign in. Their address is their own subject, which no real address can equal, so no lookup by
 * address finds them. `created_by` of a token is `NULL` if its subject created it.
 */
export const automationMemberColumns: ReadonlyArray<string> = [
  `ALTER TABLE users ADD COLUMN kind TEXT NOT NULL DEFAULT 'person'`,
  `ALTER TABLE access_tokens ADD COLUMN created_by TEXT`
]
