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
import { Runs } from "../../../actors/run/Runs.ts"
import { Sources } from "../../../actors/source/Sources.ts"
import type { ConnectionId } from "../../../schema/records/Ids.ts"
import { OAuthHelperId } from "../../../schema/records/OAuthHelper.ts"
import { platform } from "../../../src/composition/Platform.ts"
import { origins, repository } from "../../runner/git/support/RemoteFixture.ts"
import { canarySweep } from "../../support/CanarySweep.ts"
import { suite } from "../../support/Effect.ts"
import { eventually } from "../../support/Eventually.ts"
import { serveByHttpBackend } from "../../support/GitServer.ts"
import { applied, bound, demoModule, note, planned, replanned, settled } from "../../support/Journey.ts"
import { killPoints, processEnd } from "../../support/KillPoints.ts"
import { type PliantServer, pliantServer } from "../../support/PliantAuthorizationServer.ts"
import { demo, TestPlane, testPlane } from "../../support/TestPlane.ts"

setDefaultTimeout(120_000)

class Pliant extends Context.Service<Pliant, PliantServer>()("test/Pliant") {}

const points = killPoints()
// Set once the service knows where the demo provider keeps its notes.
const helpers: Array<DeclaredHelper> = []

/** A Git server that records the credentials it receives. */
class Forge extends Context.Service<Forge, Effect.Success<ReturnType<typeof serveByHttpBackend>>>()("test/Forge") {}

const tests = suite(
  Layer.unwrap(
    Effect.gen(function* () {
      const server = yield* pliantServer
      const forge = yield* serveByHttpBackend((yield* repository).gitdir)
      return testPlane({ gitOrigins: [server.issuer, forge.origin] }).pipe(
        Layer.provideMerge(Layer.mergeAll(Layer.succeed(Pliant, server), Layer.succeed(Forge, forge))),
        Layer.provideMerge(Layer.succeed(OAuthHelpers, helpers)),
        Layer.provideMerge(points.layer)
      )
    })
  ).pipe(Layer.provide(platform))
)
afterAll(tests.dispose)
beforeEach(() => points.at.clear())

const helperId = OAuthHelperId.make("pliant")
const forgeId = OAuthHelperId.make("forge")

const declare = Effect.gen(function* () {
  const { notesDir } = yield* TestPlane
  const { issuer } = yield* Pliant
  if (helpers.length > 0) return
  const server: DeclaredHelper["server"] = {
    issuer,
    metadata: "oauth2",
    endpoints: undefined,
    pkce: "advertised",
    clientId: "svc",
    clientSecret: Redacted.make("a-client-secret-of-forty-characters-0000"),
    secretMethod: undefined
  }
  const forge: DeclaredHelper = {
    helper: {
      id: forgeId,
      displayName: "Forge",
      issuer,
      scopes: ["read"],
      provider: "git",
      kind: "git_https",
      recipeId: "git-https-token",
      authMode: "token",
      valueNames: ["token"],
      origins: origins((yield* Forge).origin)
    },
    server,
    parameters: {},
    accessTokenName: "token",
    values: {}
  }
  helpers.push(forge, {
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
    server,
    parameters: {},
    accessTokenName: "DEMO_TOKEN",
    values: { DEMO_DIR: notesDir }
  })
})

/** Walks through the server's sign-in and back, for a new Connection or an existing one. */
const connect = Effect.fnUntraced(function* (connectionId?: ConnectionId, helper = helperId) {
  yield* declare
  const { context, workspaceId } = yield* TestPlane
  const { agreed } = yield* Pliant
  const subject = context.actor.subject ?? ""
  const sessions = yield* Sessions
  const { secret } = yield* sessions.open({ subject, method: "password" })
  const { credentialId: sessionId } = yield* sessions.authenticate(secret)
  const connections = yield* Connections
  const redirectUri = `https://svc.example.com/api/v1/connections/oauth/${helper}/callback`
  const started = yield* connections.startOAuth(context, {
    helperId: helper,
    redirectUri,
    sessionId,
    request: { workspaceId, ...(connectionId === undefined ? {} : { connectionId }) }
  })
  const search = `?${agreed(started.authorizationUrl).toString()}`
  return yield* connections.finishOAuth(context, { helperId: helper, sessionId, search })
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

const row = Effect.fnUntraced(function* (id: ConnectionId) {
  const found = yield* (yield* ConnectionStore).find(id)
  return found ?? (yield* Effect.die("no Connection"))
})

const tokensOf = Effect.fnUntraced(function* (id: ConnectionId) {
  const found = yield* (yield* ConnectionTokens).read(yield* row(id))
  return Option.isSome(found) ? Redacted.value(found.value) : yield* Effect.die("no tokens")
})

const files = (name: string) => ({ "main.tf": demoModule(note(name)) })
const using = (id: ConnectionId) => ({ options: { providerBindings: [bound(id)] } })

describe.skipIf(Bun.which("terraform") === null)("the access token of a Connection", () => {
  tests.live("is renewed once before two Runs that need it, and what was reviewed remains reviewed", () =>
    Effect.gen(function* () {
      const { context, dataDir } = yield* TestPlane
      const connection = yield* connect()
      const one = yield* planned("renew-one", files("renew-one"), using(connection.id))
      const two = yield* planned("renew-two", files("renew-two"), using(connection.id))
      const before = yield* refreshes
      expect(before).toBe(0)
      const former = yield* tokensOf(connection.id)

      yield* expire(connection.id)
      // Both run concurrently: the server rotates, and would treat a reused refresh token as theft.
      const capsules = yield* Capsules
      const runs = yield* Effect.all(
        [one, two].map(({ capsuleId }) => capsules.plan(context, capsuleId, undefined)),
        { concurrency: 2 }
      )
      for (const run of runs) expect((yield* settled(run.value.id)).status).toBe("waiting_approval")
      expect(yield* refreshes).toBe(1)
      const present = yield* tokensOf(connection.id)
      expect(present.refreshToken).not.toBe(former.refreshToken)

      // Renewed between review and apply: the same authority, so the plan remains valid.
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
      // Folders of finished Runs are removed meanwhile.
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

  tests.live("serves until it expires while the server cannot renew it", () =>
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

  tests.live("renewed at the moment of a crash is renewed again, or reported as lost", () =>
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

      // A server that does not rotate accepts the refresh token again.
      state.rotates = false
      const before = yield* tokensOf(connection.id)
      yield* crashed
      expect(yield* tokensOf(connection.id)).toEqual(before)
      expect((yield* replanned(capsuleId)).status).toBe("waiting_approval")
      expect((yield* tokensOf(connection.id)).accessToken).not.toBe(before.accessToken)

      // One that rotates treats it as theft, and ends the whole grant.
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

      // Connecting again is a rotation: a new grant, perhaps for another account.
      const again = yield* connect(connection.id)
      expect([again.id, again.version, again.status]).toEqual([connection.id, 2, "verified"])
      expect((yield* replanned(capsuleId)).status).toBe("waiting_approval")
    })
  )
})

describe("the tokens of a Connection, outside Runs of the tool,", () => {
  tests.live("are renewed before a sync that reads with them", () =>
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
      // One that has expired and cannot be renewed is not sent.
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

  tests.live("are revoked again an hour after a failure, then hourly for a week, independently of each other", () =>
    Effect.gen(function* () {
      const { context } = yield* TestPlane
      const { state } = yield* Pliant
      const sql = yield* SqlClient.SqlClient
      const connections = yield* Connections
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
        sql`UPDATE connections SET oauth_fault = json_set(oauth_fault, '$.at',
          ${new Date(Date.now() - hours * 3_600_000).toISOString()}) WHERE id = ${id}`
      state.refusesRevocation = true
      for (const id of [broken, first, second]) yield* connections.revoke(context, id)
      expect(yield* fault(first)).toEqual({ code: "revocation_failed", isKept: true })
      yield* sql`UPDATE connections SET sealed_tokens = ${"x"} WHERE id = ${broken}`
      for (const id of [broken, first, second]) yield* backdate(id, 1.1)

      // Refused again: another hour starts.
      yield* renewals.revokeEnded
      state.refusesRevocation = false
      const before = state.revoked.length
      yield* renewals.revokeEnded
      expect([state.revoked.length, yield* fault(first)]).toEqual([before, { code: "revocation_failed", isKept: true }])
      yield* backdate(first, 1.1)
      yield* renewals.revokeEnded
      expect(yield* fault(first)).toEqual({ code: undefined, isKept: false })
      expect(state.revoked.length).toBe(before + 2)

      // After a week there are no more attempts, and nothing is kept.
      state.refusesRevocation = true
      yield* backdate(second, 1.1)
      yield* sql`UPDATE connections SET updated_at = ${new Date(Date.now() - 8 * 86_400_000).toISOString()} WHERE id = ${second}`
      yield* renewals.revokeEnded
      state.refusesRevocation = false
      expect(yield* fault(second)).toEqual({ code: undefined, isKept: false })
      const told = yield* sql<{ action: string }>`SELECT action FROM audit_events
        WHERE target_id IN (${first}, ${second}) AND action LIKE 'connection.tokens.%' ORDER BY rowid`
      expect(told.map(({ action }) => action)).toEqual(["connection.tokens.revoke", "connection.tokens.abandon"])
    })
  )
})
