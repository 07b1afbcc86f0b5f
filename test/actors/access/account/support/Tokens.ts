import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { AccessTokens, type NewAccessToken } from "../../../../../actors/access/account/AccessTokens.ts"
import { as, testAccounts } from "../../../../support/Accounts.ts"

/** Creates separate accounts and Workspaces for the test. */
export const fresh = Effect.provide(Layer.fresh(testAccounts))

export const newToken = Effect.fnUntraced(function* (subject: string, request: Partial<NewAccessToken> = {}) {
  const tokens = yield* AccessTokens
  return yield* tokens.create(as(subject), subject, { name: "ci", scopes: ["read"], ...request })
})

const tables = [
  "access_tokens",
  "account_sessions",
  "oauth_access_tokens",
  "audit_events",
  "workspaces",
  "memberships",
  "projects",
  "users"
]
/** Dumps all rows as text. Tests compare dumps to check that no row changed and no secret was stored. */
export const dump = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return JSON.stringify(yield* Effect.forEach(tables, (table) => sql`SELECT * FROM ${sql(table)} ORDER BY 1`))
})
