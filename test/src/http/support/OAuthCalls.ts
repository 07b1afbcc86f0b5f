import { expect } from "bun:test"
import { Context, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { begun, OAuthWorld, returned } from "./OAuthWorld.ts"
import { withMember } from "../../../support/Dialect.ts"

const world = OAuthWorld

/** Resets the configurable test server to its default behaviour. */
export const soundServer = Effect.map(OAuthWorld, ({ pliant }) =>
  Object.assign(pliant.state, {
    metadata: {},
    misbehaves: undefined,
    refusesRefresh: false,
    refusesRevocation: false,
    rotates: true,
    expiresIn: 3600,
    refreshable: true,
    tokenType: "Bearer",
    forms: [],
    revoked: []
  })
)

export const database = Effect.flatMap(world, ({ served }) =>
  Effect.succeed(Context.get(served.services, SqlClient.SqlClient))
)

/** Counts the Connections and open authorizations. */
export const counts = Effect.gen(function* () {
  const sql = yield* database
  const [row] = yield* sql`SELECT (SELECT COUNT(*) FROM connections) AS connections,
    (SELECT COUNT(*) FROM connection_authorizations) AS open`
  return row
})

/** Creates a Connection through the configurable test server. */
export const connected = Effect.fnUntraced(function* (more: Readonly<Record<string, unknown>> = {}) {
  const { owner, pliant } = yield* world
  const { authorizationUrl, connectionId } = yield* begun("pliant", more)
  const answer = yield* returned(owner, "pliant", pliant.agreed(authorizationUrl))
  expect([answer.status, answer.text.slice(0, 300)]).toEqual([200, expect.stringContaining(connectionId)])
  return answer.json().connection
})

export const read = Effect.fnUntraced(function* (id: string) {
  const { owner } = yield* world
  return (yield* owner.send(`/api/v1/connections/${id}`)).json().connection
})

export const attention = Effect.gen(function* () {
  const { owner, workspaceId } = yield* world
  return (yield* owner.send(`/api/v1/dashboard/overview?workspaceId=${workspaceId}`)).json().attention
})

/** Expires the access token and tests the Connection, which renews the token. */
export const renewed = Effect.fnUntraced(function* (connectionId: string) {
  const { owner } = yield* world
  const sql = yield* database
  const generation = Effect.map(
    sql<{ token_generation: number }>`SELECT token_generation FROM connections WHERE id = ${connectionId}`,
    ([row]) => row?.token_generation
  )
  const before = (yield* generation) ?? 0
  for (const next of [before + 1, before + 2]) {
    yield* sql`UPDATE connections SET oauth = ${withMember(sql, "oauth", "$.accessTokenExpiresAt", "2026-01-01T00:00:00.000Z")}
      WHERE id = ${connectionId}`
    const tested = yield* owner.post(`/api/v1/connections/${connectionId}/test`, {})
    expect([tested.status, tested.json().connection?.status]).toEqual([200, "verified"])
    expect(yield* generation).toBe(next)
    expect(tested.json().connection.version).toBe(1)
  }
})
