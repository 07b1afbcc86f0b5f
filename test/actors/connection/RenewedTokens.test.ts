import { afterAll, beforeEach, describe, expect, setDefaultTimeout } from "bun:test"
import { Context, Effect, Exit, Layer, Option, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { Sessions } from "../../../actors/account/Sessions.ts"
import { Capsules } from "../../../actors/capsule/Capsules.ts"
import { Connections } from "../../../actors/connection/Connections.ts"
import { ConnectionStore } from "../../../actors/connection/ConnectionStore.ts"
import { ConnectionTokens } from "../../../actors/connection/ConnectionTokens.ts"
import { HeldValues } from "../../../actors/connection/HeldValues.ts"
import { type DeclaredHelper, OAuthHelpers } from "../../../actors/connection/OAuthHelpers.ts"
import { TokenRenewals } from "../../../actors/connection/TokenRenewals.ts"
import { KillPoint, type KillPointName } from "../../../actors/run/KillPoint.ts"
import { Runs } from "../../../actors/run/Runs.ts"
import type { ConnectionId } from "../../../schema/records/Ids.ts"
import { OAuthHelperId } from "../../../schema/records/OAuthHelper.ts"
import { canarySweep } from "../../support/CanarySweep.ts"
import { suite } from "../../support/Effect.ts"
import { eventually } from "../../support/Eventually.ts"
import { applied, bound, demoModule, note, planned, replanned, settled } from "../../support/Journey.ts"
import { type PliantServer, pliantServer } from "../../support/PliantAuthorizationServer.ts"
import { demo, TestPlane, testPlane } from "../../support/TestPlane.ts"

setDefaultTimeout(120_000)

class Pliant extends Context.Service<Pliant, PliantServer>()("test/Pliant") {}

const crash = new Set<KillPointName>()
const points = Layer.succeed(KillPoint, (name) =>
  Effect.suspend(() => (crash.delete(name) ? Effect.die(new Error("the process ended here")) : Effect.void))
)
// Filled once the plane knows where the demo provider keeps its notes.
const helpers: Array<DeclaredHelper> = []

const tests = suite(
  Layer.unwrap(
    Effect.map(pliantServer, (server) =>
      testPlane({ gitOrigins: [server.issuer] }).pipe(
        Layer.provideMerge(Layer.succeed(Pliant, server)),
        Layer.provideMerge(Layer.succeed(OAuthHelpers, helpers)),
        Layer.provideMerge(points)
      )
    )
  )
)
afterAll(tests.dispose)
beforeEach(() => crash.clear())

const helperId = OAuthHelperId.make("pliant")

const declare = Effect.gen(function* () {
  const { notesDir } = yield* TestPlane
  const { issuer } = yield* Pliant
  if (helpers.length > 0) return
  helpers.push({
    helper: {
      id: helperId,
      displayName: "Pliant",
      issuer,
      scopes: ["notes"],
      provider: demo,
      kind: "provider",
      recipeId: "generic-env",
      authMode: "env",
      valueNames: ["DEMO_DIR", "DEMO_TOKEN"]
    },
    server: {
      issuer,
      metadata: "oauth2",
      endpoints: undefined,
      pkce: "advertised",
      clientId: "svc",
      clientSecret: Redacted.make("a-client-secret-of-forty-characters-0000"),
      secretMethod: undefined
    },
    parameters: {},
    accessTokenName: "DEMO_TOKEN",
    values: { DEMO_DIR: notesDir }
  })
})

/** Goes to the server and back, for a new Connection or one that is there. */
const connect = Effect.fnUntraced(function* (connectionId?: ConnectionId) {
  yield* declare
  const { context, workspaceId } = yield* TestPlane
  const { agreed } = yield* Pliant
  const subject = context.actor.subject ?? ""
  const sessions = yield* Sessions
  const { secret } = yield* sessions.open({ subject, method: "password" })
  const { credentialId: sessionId } = yield* sessions.authenticate(secret)
  const connections = yield* Connections
  const redirectUri = "https://svc.example.com/api/v1/connections/oauth/pliant/callback"
  const started = yield* connections.startOAuth(context, {
    helperId,
    redirectUri,
    sessionId,
    request: { workspaceId, ...(connectionId === undefined ? {} : { connectionId }) }
  })
  const search = `?${agreed(started.authorizationUrl).toString()}`
  return yield* connections.finishOAuth(context, { helperId, sessionId, search })
})

const expire = (id: string) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`UPDATE connections SET oauth = json_set(oauth, '$.accessTokenExpiresAt', '2026-01-01T00:00:00.000Z')
      WHERE id = ${id}`
  )

const refreshes = Effect.map(
  Pliant,
  ({ state }) => state.forms.filter((form) => form.get("grant_type") === "refresh_token").length
)

const row = Effect.fnUntraced(function* (id: string) {
  const found = yield* (yield* ConnectionStore).find(id)
  return found ?? (yield* Effect.die("no Connection"))
})

const tokensOf = Effect.fnUntraced(function* (id: string) {
  const found = yield* (yield* ConnectionTokens).read(yield* row(id))
  return Option.isSome(found) ? Redacted.value(found.value) : yield* Effect.die("no tokens")
})

const files = (name: string) => ({ "main.tf": demoModule(note(name)) })
const using = (id: ConnectionId) => ({ options: { providerBindings: [bound(id)] } })

describe.skipIf(Bun.which("terraform") === null)("the access token of a Connection", () => {
  tests.live("is renewed once before two Runs that need it, and what was reviewed stays reviewed", () =>
    Effect.gen(function* () {
      const { context, dataDir } = yield* TestPlane
      const connection = yield* connect()
      const one = yield* planned("renew-one", files("renew-one"), using(connection.id))
      const two = yield* planned("renew-two", files("renew-two"), using(connection.id))
      const before = yield* refreshes
      expect(before).toBe(0)
      const former = yield* tokensOf(connection.id)

      yield* expire(connection.id)
      // Both at once: the server rotates, and would take a second use of the refresh token for a theft.
      const capsules = yield* Capsules
      const runs = yield* Effect.all(
        [one, two].map(({ capsuleId }) => capsules.plan(context, capsuleId, undefined)),
        { concurrency: 2 }
      )
      for (const run of runs) expect((yield* settled(run.value.id)).status).toBe("waiting_approval")
      expect(yield* refreshes).toBe(1)
      const present = yield* tokensOf(connection.id)
      expect(present.refreshToken).not.toBe(former.refreshToken)

      // Renewed between review and apply: the same authority, so the plan stands.
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
      // Folders of Runs that are over go away meanwhile.
      const swept = yield* eventually(Effect.option(Effect.try(() => canarySweep(dataDir, secrets))), Option.isSome)
      expect(swept).toEqual(Option.some([]))
    })
  )

  tests.live("hides old and new tokens, of both kinds, for as long as a Run holds them", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const held = yield* HeldValues
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

  tests.live("serves until its end while the server cannot renew it", () =>
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

  tests.live("that was renewed in the moment of a crash is renewed again, or said to be lost", () =>
    Effect.gen(function* () {
      const { state } = yield* Pliant
      const connections = yield* Connections
      const renewals = yield* TokenRenewals
      const connection = yield* connect()
      const { capsuleId } = yield* planned("crashed", files("crashed"), using(connection.id))
      const crashed = Effect.gen(function* () {
        yield* expire(connection.id)
        crash.add("connection.renewed")
        expect(Exit.isFailure(yield* Effect.exit(renewals.renew([connection.id])))).toBe(true)
      })

      // A server that does not rotate takes the refresh token again.
      state.rotates = false
      const before = yield* tokensOf(connection.id)
      yield* crashed
      expect(yield* tokensOf(connection.id)).toEqual(before)
      expect((yield* replanned(capsuleId)).status).toBe("waiting_approval")
      expect((yield* tokensOf(connection.id)).accessToken).not.toBe(before.accessToken)

      // One that does takes it for a theft, and ends the whole grant.
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

      // Connecting again is a rotation: another grant, perhaps of another account.
      const again = yield* connect(connection.id)
      expect([again.id, again.version, again.status]).toEqual([connection.id, 2, "verified"])
      expect((yield* replanned(capsuleId)).status).toBe("waiting_approval")
    })
  )
})
