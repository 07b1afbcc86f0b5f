import { expect } from "bun:test"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { reportExpiring } from "../../../../actors/inputs/connection/ConnectionNotices.ts"
import { testAccounts } from "../../../support/Accounts.ts"
import { it } from "../../../support/Effect.ts"
import { add, emptyWorld } from "../../upkeep/retention/support/RetainedWorld.ts"

it.effect("a Connection that expires within its notice period is reported once for each expiry date", () =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* emptyWorld
    yield* add("notice_endpoints", { kinds: JSON.stringify(["connection.expiring"]) })
    const expires = (at: string | null) =>
      sql`UPDATE connections SET expires_at = ${at}, status = 'verified', removed_at = NULL, oauth = NULL`
    const reported = Effect.map(sql`SELECT id FROM notices WHERE kind = 'connection.expiring'`, (rows) => rows.length)
    yield* expires("1980-01-01T00:00:00.000Z")
    yield* reportExpiring
    expect(yield* reported).toBe(0)
    yield* expires("1970-01-02T00:00:00.000Z")
    yield* reportExpiring
    yield* reportExpiring
    const each = yield* reported
    expect(each).toBeGreaterThan(0)
    yield* expires("1970-01-03T00:00:00.000Z")
    yield* reportExpiring
    expect(yield* reported).toBe(2 * each)
    yield* sql`UPDATE connections SET status = 'revoked', expires_at = '1970-01-04T00:00:00.000Z'`
    yield* reportExpiring
    expect(yield* reported).toBe(2 * each)
  }).pipe(Effect.provide(Layer.fresh(testAccounts)))
)
