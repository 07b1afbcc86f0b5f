import { expect } from "bun:test"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { AccountCleanup } from "../../../../actors/access/account/AccountCleanup.ts"
import { AccessTokens } from "../../../../actors/access/account/AccessTokens.ts"
import { Sessions } from "../../../../actors/access/account/Sessions.ts"
import { SetupLinks } from "../../../../actors/access/account/SetupLinks.ts"
import { as, newPerson, testAccounts } from "../../../support/Accounts.ts"
import { it } from "../../../support/Effect.ts"

const count = (table: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.map(sql<{ n: number }>`SELECT COUNT(*) AS n FROM ${sql(table)}`, ([row]) => row?.n)
  )

it.effect("account cleanup deletes long-expired records, and keeps records that are active or still needed", () =>
  Effect.gen(function* () {
    const cleanup = yield* AccountCleanup
    const sessions = yield* Sessions
    const tokens = yield* AccessTokens
    const links = yield* SetupLinks
    const { subject } = yield* newPerson("ann")
    const ended = yield* sessions.open({ subject, method: "password" })
    yield* sessions.open({ subject, method: "password" })
    yield* sessions.revoke(subject, ended.session.id)
    const { token } = yield* tokens.create(as(subject), subject, { name: "t", scopes: ["read"] })
    yield* tokens.revoke(as(subject), subject, token.token_id)
    yield* links.issueReset(subject)
    yield* TestClock.adjust("29 days")
    yield* cleanup.purge
    expect([yield* count("account_sessions"), yield* count("setup_links")]).toEqual([2, 1])
    yield* TestClock.adjust("2 days")
    yield* cleanup.purge
    expect([yield* count("account_sessions"), yield* count("setup_links"), yield* count("access_tokens")]).toEqual([
      1, 0, 1
    ])
    // The remaining session expired on day 30, so cleanup keeps it for another 30 days.
    yield* TestClock.adjust("30 days")
    expect(yield* count("account_sessions")).toBe(0)
  }).pipe(Effect.provide(Layer.fresh(testAccounts)))
)

it.effect("account cleanup starts soon after startup, so a server that restarts every few hours still cleans up", () =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { subject } = yield* newPerson("ann")
    yield* (yield* Sessions).open({ subject, method: "password" })
    yield* sql`UPDATE account_sessions SET expires_at = '1969-01-01T00:00:00.000Z'`
    yield* TestClock.adjust("2 minutes")
    expect(yield* count("account_sessions")).toBe(0)
  }).pipe(Effect.provide(Layer.fresh(testAccounts)))
)
