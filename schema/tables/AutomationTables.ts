/**
 * Automations: subjects that cannot sign in. The address column contains the subject itself. No real address equals a
 * subject, so a lookup by address never finds an automation. `created_by` of a token is `NULL` if its subject created it.
 */
export const automationMemberColumns: ReadonlyArray<string> = [
  `ALTER TABLE users ADD COLUMN kind TEXT NOT NULL DEFAULT 'person'`,
  `ALTER TABLE access_tokens ADD COLUMN created_by TEXT`
]
