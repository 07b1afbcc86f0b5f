/**
 * What a person does with their own account. `confirmed_at` is when the person of a session last showed who they are,
 * `confirm_session` the session that a sign-in at the upstream provider is to confirm.
 */
export const profileTables: ReadonlyArray<string> = [
  `ALTER TABLE account_sessions ADD COLUMN confirmed_at TEXT`,
  `ALTER TABLE upstream_sign_ins ADD COLUMN confirm_session TEXT`
]
