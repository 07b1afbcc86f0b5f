import { afterAll, describe, expect, setDefaultTimeout } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TokenRenewals } from "../../../../actors/inputs/connection/TokenRenewals.ts"
import { Sources } from "../../../../actors/ledger/source/Sources.ts"
import { suite } from "../../../support/Effect.ts"
import { settled } from "../../../support/Journey.ts"
import { TestPlane } from "../../../support/TestPlane.ts"
import { Pliant, Forge, pliantPlane, forgeId, connect, expire, tokensOf } from "./support/PliantPlane.ts"
import { ConnectionCommands } from "../../../../schema/commands/ConnectionCommands.ts"
import { withMember } from "../../../support/Dialect.ts"

setDefaultTimeout(120_000)

const tests = suite(pliantPlane)
afterAll(tests.dispose)

describe("Token renewals", () => {
  tests.live("a sync renews its Connection's tokens before it uses them", () =>
    Effect.gen(function* () {
      const { context, workspaceId } = yield* TestPlane
      const sources = yield* Sources
      const forge = yield* Forge
      const connection = yield* connect(undefined, forgeId)
      const { source } = yield* sources.create(context, {
        workspaceId,
        name: "forge",
        url: forge.url,
        authConnectionId: connection.id
      })
      const before = yield* tokensOf(connection.id)
      yield* expire(connection.id)
      forge.authorizations.length = 0
      expect((yield* settled((yield* sources.sync(context, source.id, {})).id)).status).toBe("succeeded")
      const { accessToken } = yield* tokensOf(connection.id)
      expect(accessToken).not.toBe(before.accessToken)
      const sent = new Set(forge.authorizations.filter((header) => header !== undefined))
      expect([...sent].map((header) => atob(header.slice("Basic ".length)).split(":")[1])).toEqual([accessToken])
      // svc does not send an expired token that it cannot renew.
      const { state } = yield* Pliant
      yield* expire(connection.id)
      state.refusesRefresh = true
      forge.authorizations.length = 0
      const refused = yield* settled((yield* sources.sync(context, source.id, {})).id)
      state.refusesRefresh = false
      expect(refused).toMatchObject({ status: "failed", error: { code: "source_authentication_failed" } })
      expect(refused.error?.message).toContain("connect it again")
      expect(forge.authorizations).toEqual([])
    })
  )

  tests.live("a failed token revocation is retried hourly for a week, without affecting other revocations", () =>
    Effect.gen(function* () {
      const { context } = yield* TestPlane
      const { state } = yield* Pliant
      const sql = yield* SqlClient.SqlClient
      const connectionCommands = yield* ConnectionCommands
      const renewals = yield* TokenRenewals
      const made = yield* Effect.all([connect(), connect(), connect()])
      const [broken, first, second] = made.map(({ id }) => id).toSorted()
      if (broken === undefined || first === undefined || second === undefined) return yield* Effect.die("none")
      const fault = Effect.fnUntraced(function* (id: string) {
        const [found] = yield* sql<{ oauth_fault: string | null; sealed_tokens: string | null }>`
          SELECT oauth_fault, sealed_tokens FROM connections WHERE id = ${id}`
        return { code: found?.oauth_fault?.match(/revocation_failed/)?.[0], isKept: found?.sealed_tokens !== null }
      })
      const backdate = (id: string, hours: number) =>
        sql`UPDATE connections SET oauth_fault = ${withMember(sql, "oauth_fault", "$.at", new Date(Date.now() - hours * 3_600_000).toISOString())} WHERE id = ${id}`
      state.refusesRevocation = true
      for (const id of [broken, first, second]) yield* connectionCommands.Revoke(id, { context })
      expect(yield* fault(first)).toEqual({ code: "revocation_failed", isKept: true })
      yield* sql`UPDATE connections SET sealed_tokens = ${"x"} WHERE id = ${broken}`
      for (const id of [broken, first, second]) yield* backdate(id, 1.1)

      // The server rejects the revocation again, so the next attempt is an hour later.
      yield* renewals.revokeEnded
      state.refusesRevocation = false
      const before = state.revoked.length
      yield* renewals.revokeEnded
      expect([state.revoked.length, yield* fault(first)]).toEqual([before, { code: "revocation_failed", isKept: true }])
      yield* backdate(first, 1.1)
      yield* renewals.revokeEnded
      expect(yield* fault(first)).toEqual({ code: undefined, isKept: false })
      expect(state.revoked.length).toBe(before + 2)

      // After a week svc stops trying and deletes the token.
      state.refusesRevocation = true
      yield* backdate(second, 1.1)
      yield* sql`UPDATE connections SET updated_at = ${new Date(Date.now() - 8 * 86_400_000).toISOString()} WHERE id = ${second}`
      yield* renewals.revokeEnded
      state.refusesRevocation = false
      expect(yield* fault(second)).toEqual({ code: undefined, isKept: false })
      const told = yield* sql<{ action: string }>`SELECT action FROM audit_events
        WHERE target_id IN (${first}, ${second}) AND action LIKE 'connection.tokens.%' ORDER BY created_at, position`
      expect(told.map(({ action }) => action)).toEqual(["connection.tokens.revoke", "connection.tokens.abandon"])
    })
  )
})
