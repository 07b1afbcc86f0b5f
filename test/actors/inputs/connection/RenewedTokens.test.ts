import { afterAll, beforeEach, describe, expect, setDefaultTimeout } from "bun:test"
import { Effect, Exit, Layer, Option, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { Connections } from "../../../../actors/inputs/connection/Connections.ts"
import { CredentialsInUse } from "../../../../actors/inputs/connection/CredentialsInUse.ts"
import { TokenRenewals } from "../../../../actors/inputs/connection/TokenRenewals.ts"
import { Runs } from "../../../../actors/ledger/run/Runs.ts"
import type { ConnectionId } from "../../../../schema/records/Ids.ts"
import { canarySweep } from "../../../support/CanarySweep.ts"
import { suite } from "../../../support/Effect.ts"
import { eventually } from "../../../support/Eventually.ts"
import { applied, bound, demoModule, note, planned, replanned, settled } from "../../../support/Journey.ts"
import { killPoints, processEnd } from "../../../support/KillPoints.ts"
import { TestPlane } from "../../../support/TestPlane.ts"
import { Pliant, pliantPlane, connect, expire, row, tokensOf } from "./support/PliantPlane.ts"
import { CapsuleCommands } from "../../../../schema/commands/CapsuleCommands.ts"

setDefaultTimeout(120_000)

const points = killPoints()
const tests = suite(pliantPlane.pipe(Layer.provide(points.layer)))
afterAll(tests.dispose)
beforeEach(() => points.at.clear())

const refreshes = Effect.map(
  Pliant,
  ({ state }) => state.forms.filter((form) => form.get("grant_type") === "refresh_token").length
)

const files = (name: string) => ({ "main.tf": demoModule(note(name)) })
const using = (id: ConnectionId) => ({ options: { providerBindings: [bound(id)] } })

describe.skipIf(Bun.which("terraform") === null)("Access tokens", () => {
  tests.live("a token is renewed once for two Runs that need it, and their reviewed plans remain valid", () =>
    Effect.gen(function* () {
      const { context, dataDir } = yield* TestPlane
      const connection = yield* connect()
      const one = yield* planned("renew-one", files("renew-one"), using(connection.id))
      const two = yield* planned("renew-two", files("renew-two"), using(connection.id))
      const before = yield* refreshes
      expect(before).toBe(0)
      const former = yield* tokensOf(connection.id)

      yield* expire(connection.id)
      // Both Runs start concurrently. The server rotates refresh tokens and treats a second use as theft, so only one Run may
      // renew.
      const capsules = yield* CapsuleCommands
      const runs = yield* Effect.all(
        [one, two].map(({ capsuleId }) => capsules.Plan(capsuleId, { context })),
        { concurrency: 2 }
      )
      for (const run of runs) expect((yield* settled(run.value.id)).status).toBe("waiting_approval")
      expect(yield* refreshes).toBe(1)
      const present = yield* tokensOf(connection.id)
      expect(present.refreshToken).not.toBe(former.refreshToken)

      // The token is renewed between review and apply. The authority is unchanged, so the plan remains valid.
      yield* expire(connection.id)
      const plan = yield* (yield* Runs).read(runs[0]?.value.id ?? one.plan.id)
      expect((yield* applied(plan)).status).toBe("succeeded")
      expect(yield* refreshes).toBe(2)
      const renewed = yield* (yield* Connections).read(connection.id)
      expect([renewed.version, renewed.status, renewed.oauth?.fault]).toEqual([1, "verified", undefined])

      const last = yield* tokensOf(connection.id)
      const secrets = [former, present, last].flatMap(({ accessToken, refreshToken }) => [
        accessToken,
        refreshToken ?? "-"
      ])
      // svc may already have removed the folders of finished Runs.
      const swept = yield* eventually(Effect.option(Effect.try(() => canarySweep(dataDir, secrets))), Option.isSome)
      expect(swept).toEqual(Option.some([]))
    })
  )

  tests.live("a Run hides both old and new access and refresh tokens until it ends", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const held = yield* CredentialsInUse
      const connection = yield* connect()
      const { plan } = yield* planned("hidden-tokens", files("hidden-tokens"), using(connection.id))
      const former = yield* tokensOf(connection.id)
      yield* sql`UPDATE runs SET status = 'running' WHERE id = ${plan.id}`
      yield* held.hold(plan.id, yield* row(connection.id))
      yield* expire(connection.id)
      expect((yield* (yield* TokenRenewals).renew([connection.id])).size).toBe(0)
      const present = yield* tokensOf(connection.id)
      const texts = (found: ReadonlyArray<{ readonly value: Redacted.Redacted }>) =>
        found.map(({ value }) => Redacted.value(value))
      const all = [former.accessToken, former.refreshToken, present.accessToken, present.refreshToken]
      expect(texts(yield* held.former(connection.id))).toEqual(expect.arrayContaining(all))
      expect(texts(yield* held.renewedSince(plan.id))).toEqual(expect.arrayContaining(all))
      const kept = sql`SELECT token_generation FROM former_connection_tokens WHERE connection_id = ${connection.id}`
      expect(yield* kept).toHaveLength(1)
      yield* sql`UPDATE runs SET status = 'failed' WHERE id = ${plan.id}`
      yield* held.release
      expect(yield* kept).toEqual([])
      expect(texts(yield* held.former(connection.id))).toEqual([present.accessToken, present.refreshToken ?? "none"])
    })
  )

  tests.live("a token remains usable until it expires if the server cannot renew it", () =>
    Effect.gen(function* () {
      const { state } = yield* Pliant
      const sql = yield* SqlClient.SqlClient
      const connection = yield* connect()
      const { capsuleId } = yield* planned("unreachable", files("unreachable"), using(connection.id))
      const soon = new Date(Date.now() + 5 * 60_000).toISOString()
      yield* sql`UPDATE connections SET oauth = json_set(oauth, '$.accessTokenExpiresAt', ${soon}, '$.grantedAt', '2026-01-01T00:00:00.000Z') WHERE id = ${connection.id}`
      state.misbehaves = "error"
      expect((yield* replanned(capsuleId)).status).toBe("waiting_approval")
      expect((yield* (yield* Connections).read(connection.id)).oauth?.fault?.code).toBe("refresh_failed")
      yield* expire(connection.id)
      state.refusesRefresh = true
      const refused = yield* replanned(capsuleId)
      state.refusesRefresh = false
      expect([refused.status, refused.error?.code]).toEqual(["failed", "blocked_missing_connection"])
      expect(refused.error?.message).toContain("invalid_grant")
      expect(refused.error?.message).toContain("connect it again")
    })
  )

  tests.live("after a crash, an interrupted token renewal is repeated, or the token is reported as lost", () =>
    Effect.gen(function* () {
      const { state } = yield* Pliant
      const connections = yield* Connections
      const renewals = yield* TokenRenewals
      const connection = yield* connect()
      const { capsuleId } = yield* planned("crashed", files("crashed"), using(connection.id))
      const crashed = Effect.gen(function* () {
        yield* expire(connection.id)
        points.at.set("connection.renewed", processEnd)
        expect(Exit.isFailure(yield* Effect.exit(renewals.renew([connection.id])))).toBe(true)
      })

      // A server that does not rotate refresh tokens accepts the same token again.
      state.rotates = false
      const before = yield* tokensOf(connection.id)
      yield* crashed
      expect(yield* tokensOf(connection.id)).toEqual(before)
      expect((yield* replanned(capsuleId)).status).toBe("waiting_approval")
      expect((yield* tokensOf(connection.id)).accessToken).not.toBe(before.accessToken)

      // A server that rotates refresh tokens treats their reuse as theft and revokes the whole grant.
      state.rotates = true
      yield* expire(connection.id)
      yield* renewals.renew([connection.id])
      yield* crashed
      const lost = yield* replanned(capsuleId)
      expect([lost.status, lost.error?.code]).toEqual(["failed", "blocked_missing_connection"])
      expect(lost.error?.message).toContain("interrupted before its answer was recorded")
      expect((yield* connections.read(connection.id)).status).toBe("error")
      const { workspaceId } = yield* TestPlane
      expect((yield* connections.failing(workspaceId)).map(({ id }) => id)).toContain(connection.id)

      // Connecting again counts as a rotation, because the new grant may belong to a different account.
      const again = yield* connect(connection.id)
      expect([again.id, again.version, again.status]).toEqual([connection.id, 2, "verified"])
      expect((yield* replanned(capsuleId)).status).toBe("waiting_approval")
    })
  )
})
