const counted = "UPDATE authority_changes SET count = count + 1"

/** Creates a trigger that fires once per row whose authority may have been reduced. */
const trigger = (table: string, event: string, name: string) =>
  `CREATE TRIGGER authority_${table}_${name} AFTER ${event} ON ${table} BEGIN ${counted}; END`

/**
 * Counts the changes to accounts, sessions, tokens, grants and memberships that may end the access of a live stream. Only
 * triggers write the counter, so that no revocation is missed. svc reads the counter after each commit.
 */
export const authorityTables: ReadonlyArray<string> = [
  `CREATE TABLE authority_changes (
    id INTEGER PRIMARY KEY NOT NULL CHECK (id = 1),
    count INTEGER NOT NULL
  )`,
  `INSERT INTO authority_changes (id, count) VALUES (1, 0)`,
  trigger("users", "UPDATE OF status", "changed"),
  trigger("users", "DELETE", "deleted"),
  trigger("account_sessions", "UPDATE OF revoked_at, workspace_id", "changed"),
  trigger("account_sessions", "DELETE", "deleted"),
  trigger("access_tokens", "UPDATE OF revoked_at, expires_at, scopes, workspace_id", "changed"),
  trigger("access_tokens", "DELETE", "deleted"),
  trigger("oauth_access_tokens", "UPDATE OF revoked_at, expires_at, scopes, workspace_id", "changed"),
  trigger("oauth_access_tokens", "DELETE", "deleted"),
  trigger("oidc_grants", "UPDATE OF revoked_at, scopes", "changed"),
  trigger("oidc_grants", "DELETE", "deleted"),
  trigger("memberships", "UPDATE OF role, status", "changed"),
  trigger("memberships", "DELETE", "deleted"),
  trigger("workspaces", "UPDATE OF archived_at", "changed"),
  trigger("workspaces", "DELETE", "deleted")
]

/** Triggers for changes that may end an agent's file transfer. */
export const agentAuthorityTriggers: ReadonlyArray<string> = [
  trigger("agents", "UPDATE OF sign_key, revoked_at", "changed"),
  trigger("agents", "DELETE", "deleted")
]
