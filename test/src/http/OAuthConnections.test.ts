import { afterAll, beforeEach, describe, expect, setDefaultTimeout } from "bun:test"
import { Effect } from "effect"
import { suite } from "../../support/Effect.ts"
import { attention, connected, database, read, renewed, soundServer } from "./support/OAuthCalls.ts"
import { begun, OAuthWorld, returned } from "./support/OAuthWorld.ts"
import { withMember } from "../../support/Dialect.ts"

setDefaultTimeout(60_000)

const tests = suite(OAuthWorld.layer)
afterAll(tests.dispose)
beforeEach(() => tests.runPromise(soundServer))

const world = OAuthWorld

describe("OAuth Connections", () => {
  tests.live("an OAuth Connection is renewed before its access token expires, without a new version", () =>
    Effect.gen(function* () {
      const { id } = yield* connected()
      yield* renewed(id)
    })
  )

  tests.live("an OAuth Connection keeps its refresh token if the server does not rotate it", () =>
    Effect.gen(function* () {
      const { pliant } = yield* world
      pliant.state.rotates = false
      const { id } = yield* connected()
      yield* renewed(id)
      const refreshes = pliant.state.forms.filter((form) => form.get("grant_type") === "refresh_token")
      expect(new Set(refreshes.map((form) => form.get("refresh_token"))).size).toBe(1)
    })
  )

  tests.live("an OAuth Connection needs attention after a renewal is refused, until the person reconnects it", () =>
    Effect.gen(function* () {
      const { owner, pliant } = yield* world
      const sql = yield* database
      const { id } = yield* connected({ displayName: "Refused" })
      yield* sql`UPDATE connections SET oauth = ${withMember(sql, "oauth", "$.accessTokenExpiresAt", "2026-01-01T00:00:00.000Z")}
        WHERE id = ${id}`
      pliant.state.refusesRefresh = true
      const tested = yield* owner.post(`/api/v1/connections/${id}/test`, {})
      expect([tested.status, tested.json().error.message]).toEqual([409, expect.stringContaining("connect it again")])
      expect((yield* read(id)).status).toBe("error")
      const items = (yield* attention) as ReadonlyArray<{ connectionId?: string; kind: string; reason?: string }>
      expect(items.find(({ connectionId }) => connectionId === id)).toMatchObject({
        kind: "connection_unrenewed",
        reason: expect.stringContaining("invalid_grant")
      })
      // svc stops retrying, and testing the Connection does not start another attempt.
      const asked = pliant.state.forms.length
      expect((yield* owner.post(`/api/v1/connections/${id}/test`, {})).status).toBe(409)
      expect(pliant.state.forms.length).toBe(asked)

      pliant.state.refusesRefresh = false
      const again = yield* begun("pliant", { connectionId: id })
      expect(again.connectionId).toBe(id)
      expect((yield* returned(owner, "pliant", pliant.agreed(again.authorizationUrl))).status).toBe(200)
      const healed = yield* read(id)
      expect(healed).toMatchObject({ status: "verified", displayName: "Refused", version: 2 })
      expect(healed.oauth.fault).toBeUndefined()
      expect((yield* begun("other")).connectionId).not.toBe(id)
      const foreign = yield* owner.post("/api/v1/connections/oauth/other/start", {
        workspaceId: (yield* world).workspaceId,
        connectionId: id
      })
      expect(foreign.status).toBe(409)
    })
  )

  tests.live("removing an OAuth Connection revokes the tokens, and reports a failed revocation", () =>
    Effect.gen(function* () {
      const { owner, pliant } = yield* world
      const { id } = yield* connected()
      pliant.state.refusesRevocation = true
      const ended = (yield* owner.post(`/api/v1/connections/${id}/revoke`, {})).json().connection
      expect(ended).toMatchObject({ status: "revoked", oauth: { fault: { code: "revocation_failed" } } })
      const items = (yield* attention) as ReadonlyArray<{ connectionId?: string; kind: string }>
      expect(items.find(({ connectionId }) => connectionId === id)?.kind).toBe("connection_unrevoked")
      pliant.state.refusesRevocation = false
      const again = (yield* owner.post(`/api/v1/connections/${id}/revoke`, {})).json().connection
      expect(again.oauth.fault).toBeUndefined()
      expect(pliant.state.revoked.map((token) => token.split("-")[0])).toEqual(["refresh", "access"])
      const removed = yield* connected()
      expect((yield* owner.send(`/api/v1/connections/${removed.id}`, { method: "DELETE" })).status).toBe(204)
      expect(pliant.state.revoked).toHaveLength(4)
      const sql = yield* database
      expect(yield* sql`SELECT id FROM connections WHERE status = 'revoked' AND sealed_tokens IS NOT NULL`).toEqual([])
    })
  )
})
