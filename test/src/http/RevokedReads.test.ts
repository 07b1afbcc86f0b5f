import { DatabaseSync } from "node:sqlite"
import { afterAll, expect } from "bun:test"
import { Clock, Context, Duration, Effect, Fiber, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { AccessTokens } from "../../../actors/access/account/AccessTokens.ts"
import { sessionLifetime, Sessions } from "../../../actors/access/account/Sessions.ts"
import { serviceContext } from "../../../schema/commands/Command.ts"
import { lifetimes } from "../../../actors/access/issuer/Lifetimes.ts"
import { DataFolder } from "../../../src/database/DataFolder.ts"
import { suite } from "../../support/Effect.ts"
import { hasPostgres, otherSession } from "../../support/PostgresTests.ts"
import { matrixApplication } from "./support/MatrixApplication.ts"
import { type Route, routes, verdictOf } from "./support/RouteRequests.ts"
import { granted } from "./support/Principals.ts"
import { world } from "./support/World.ts"

/** The application's clock, which a test may advance. */
class MovedTime extends Context.Service<MovedTime, { readonly by: (millis: number) => void }>()(
  "test/http/MovedTime"
) {}

const movedClock = Layer.effectContext(
  Effect.map(Clock.Clock, (clock) => {
    let moved = 0
    const shifted: Clock.Clock = {
      sleep: (duration) => clock.sleep(duration),
      currentTimeNanosUnsafe: () => clock.currentTimeNanosUnsafe(),
      currentTimeNanos: clock.currentTimeNanos,
      monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe(),
      monotonicTimeNanos: clock.monotonicTimeNanos,
      currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe() + moved,
      currentTimeMillis: Effect.map(clock.currentTimeMillis, (millis) => millis + moved)
    }
    return Context.make(Clock.Clock, shifted).pipe(
      Context.add(MovedTime, {
        by: (millis) => {
          moved += millis
        }
      })
    )
  })
)

const tests = suite(matrixApplication.pipe(Layer.provideMerge(movedClock)))
afterAll(tests.dispose)

type Headers = Readonly<Record<string, string>>

const reads = routes.filter(({ method, rule }) => method === "GET" && rule.kind !== "public")

const wantsSession = ({ rule }: Route) =>
  (rule.kind === "account" && rule.credential === "session") ||
  (rule.kind === "workspace" && (rule.session === true || rule.confirmed === true))

const isForAdmins = ({ rule }: Route) => rule.kind === "workspace" && rule.role === "admin"
const isForOwners = ({ rule }: Route) => rule.kind === "workspace" && rule.role === "owner"

/** Routes with the rule `token` accept only personal tokens. */
const takesOAuth = (route: Route) => !wantsSession(route) && route.rule.kind !== "token"

/** Returns the credential to use for the route: a token where tokens are accepted, otherwise a session. */
const credentialOf = Effect.fnUntraced(function* (route: Route) {
  if (wantsSession(route)) {
    const { secret } = yield* (yield* Sessions).open({ subject: world.ada, method: "password" })
    const headers: Headers = { cookie: `svc_session=${Redacted.value(secret)}`, "sec-fetch-site": "same-origin" }
    return headers
  }
  const { secret } = yield* (yield* AccessTokens).create(serviceContext, world.ada, { name: "n", scopes: ["read"] })
  const headers: Headers = { authorization: `Bearer ${Redacted.value(secret)}` }
  return headers
})

/** Obtains an access token from the issuer, used for routes that accept tokens. */
const oauthCredential = Effect.map(granted(world.ada, ["read"]), ({ accessToken }) => {
  const headers: Headers = {
    authorization: `Bearer ${typeof accessToken === "string" ? accessToken : Redacted.value(accessToken)}`
  }
  return headers
})

/** Returns one credential of each kind, which is created when it is first needed and shared by all routes in a test. */
const sharedCredentials = (isOAuth: boolean) => {
  const kinds = new Map<boolean, Headers>()
  return Effect.fnUntraced(function* (route: Route) {
    const kind = wantsSession(route)
    const held = kinds.get(kind) ?? (yield* isOAuth ? oauthCredential : credentialOf(route))
    kinds.set(kind, held)
    return held
  })
}

const isLetIn = (route: Route, headers: Headers) =>
  Effect.map(verdictOf(route, "sound", headers), ({ verdict }) => verdict === "ok")

const isRefused = (route: Route, headers: Headers) =>
  Effect.map(verdictOf(route, "sound", headers), ({ status }) => status === 401 || status === 403 || status === 404)

/** Commits a change as another process would. */
const elsewhere = Effect.gen(function* () {
  const folder = yield* DataFolder
  if (hasPostgres) return yield* otherSession(folder.path)
  const database = yield* Effect.acquireRelease(
    Effect.sync(() => new DatabaseSync(folder.databaseFile, { timeout: 5000 })),
    (opened) => Effect.sync(() => opened.close())
  )
  return (statement: string) => Effect.sync(() => database.exec(statement))
})

const past = "2026-01-01T00:00:00.000Z"

interface Ending {
  readonly name: string
  readonly end: string
  readonly undo: string
  /** True if the change invalidates the issuer's tokens instead of the service's own credentials. */
  readonly isOAuth?: boolean
  readonly of: (route: Route) => boolean
}

const endings: ReadonlyArray<Ending> = [
  {
    name: "tokens are revoked",
    end: `UPDATE access_tokens SET revoked_at = '${past}' WHERE revoked_at IS NULL`,
    undo: `UPDATE access_tokens SET revoked_at = NULL WHERE revoked_at = '${past}'`,
    of: (route) => !wantsSession(route)
  },
  {
    name: "tokens expire",
    end: `UPDATE access_tokens SET expires_at = '${past}'`,
    undo: "UPDATE access_tokens SET expires_at = '9999-01-01T00:00:00.000Z'",
    of: (route) => !wantsSession(route)
  },
  {
    name: "sessions are ended",
    end: `UPDATE account_sessions SET revoked_at = '${past}' WHERE revoked_at IS NULL`,
    undo: `UPDATE account_sessions SET revoked_at = NULL WHERE revoked_at = '${past}'`,
    of: wantsSession
  },
  {
    name: "the account is locked",
    end: `UPDATE users SET status = 'disabled' WHERE subject = '${world.ada}'`,
    undo: `UPDATE users SET status = 'active' WHERE subject = '${world.ada}'`,
    of: () => true
  },
  {
    name: "the membership is suspended",
    end: `UPDATE memberships SET status = 'suspended' WHERE subject = '${world.ada}'`,
    undo: `UPDATE memberships SET status = 'active' WHERE subject = '${world.ada}'`,
    of: ({ rule }) => rule.kind === "workspace"
  },
  {
    name: "an owner is lowered",
    end: `UPDATE memberships SET role = 'admin' WHERE subject = '${world.ada}'`,
    undo: `UPDATE memberships SET role = 'owner' WHERE subject = '${world.ada}'`,
    of: isForOwners
  },
  {
    name: "an owner becomes a member",
    end: `UPDATE memberships SET role = 'member' WHERE subject = '${world.ada}'`,
    undo: `UPDATE memberships SET role = 'owner' WHERE subject = '${world.ada}'`,
    of: (route) => isForOwners(route) || isForAdmins(route)
  },
  {
    name: "the token loses its scope",
    end: `UPDATE access_tokens SET scopes = '["write"]'`,
    undo: `UPDATE access_tokens SET scopes = '["read"]'`,
    of: (route) => !wantsSession(route) && route.rule.kind !== "token"
  },
  {
    name: "OAuth tokens are revoked",
    end: `UPDATE oauth_access_tokens SET revoked_at = '${past}' WHERE revoked_at IS NULL`,
    undo: `UPDATE oauth_access_tokens SET revoked_at = NULL WHERE revoked_at = '${past}'`,
    isOAuth: true,
    of: takesOAuth
  },
  {
    name: "OAuth tokens expire",
    end: `UPDATE oauth_access_tokens SET expires_at = '${past}'`,
    undo: "UPDATE oauth_access_tokens SET expires_at = '9999-01-01T00:00:00.000Z'",
    isOAuth: true,
    of: takesOAuth
  },
  {
    name: "grants are revoked",
    end: `UPDATE oidc_grants SET revoked_at = '${past}' WHERE revoked_at IS NULL`,
    undo: `UPDATE oidc_grants SET revoked_at = NULL WHERE revoked_at = '${past}'`,
    isOAuth: true,
    of: takesOAuth
  },
  {
    name: "the account behind an OAuth token is locked",
    end: `UPDATE users SET status = 'disabled' WHERE subject = '${world.ada}'`,
    undo: `UPDATE users SET status = 'active' WHERE subject = '${world.ada}'`,
    isOAuth: true,
    of: takesOAuth
  },
  {
    name: "the membership behind an OAuth token is suspended",
    end: `UPDATE memberships SET status = 'suspended' WHERE subject = '${world.ada}'`,
    undo: `UPDATE memberships SET status = 'active' WHERE subject = '${world.ada}'`,
    isOAuth: true,
    of: (route) => takesOAuth(route) && route.rule.kind === "workspace"
  },
  {
    name: "the OAuth token loses its scope",
    end: `UPDATE oauth_access_tokens SET scopes = '["write"]'`,
    undo: `UPDATE oauth_access_tokens SET scopes = '["read"]'`,
    isOAuth: true,
    of: takesOAuth
  }
]

tests.live("the revocation checks cover reads of every kind", () =>
  Effect.sync(() => {
    expect(reads.length).toBeGreaterThan(45)
    expect(new Set(reads.map(({ rule }) => rule.kind))).toEqual(new Set(["workspace", "account", "token"]))
    // A demoted member can still use every read except reads for admins and owners. List each exception in `endings`.
    const roles = reads.flatMap(({ rule }) => (rule.kind === "workspace" ? [rule.role] : []))
    expect(new Set(roles)).toEqual(new Set(["viewer", "admin", "owner"]))
  })
)

for (const { end, isOAuth = false, name, of, undo } of endings) {
  tests.live(`if ${name}, in this process or another, the next read is refused on every route`, () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const other = yield* elsewhere
      const credentialFor = sharedCredentials(isOAuth)
      for (const route of reads.filter(of)) {
        const headers = yield* credentialFor(route)
        for (const commit of [Effect.asVoid(sql.unsafe(end)), other(end)]) {
          const before = [yield* isLetIn(route, headers), yield* isLetIn(route, headers)]
          const meanwhile = yield* Effect.acquireUseRelease(
            commit,
            () => isRefused(route, headers),
            () => Effect.orDie(sql.unsafe(undo))
          )
          expect([route.name, ...before, meanwhile, yield* isLetIn(route, headers)]).toEqual([
            route.name,
            true,
            true,
            true,
            true
          ])
        }
      }
    })
  )

  tests.live(`when ${name} during a read of a route, every later request is refused`, () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const other = yield* elsewhere
      const credentialFor = sharedCredentials(isOAuth)
      for (const route of reads.filter(of)) {
        const headers = yield* credentialFor(route)
        expect([route.name, yield* isLetIn(route, headers)]).toEqual([route.name, true])
        const asked = Array.from({ length: 4 }, () => isRefused(route, headers))
        // Requests sent before the commit may succeed or fail, and may still be in progress when the later requests are sent.
        const together = Effect.all(asked, { concurrency: "unbounded" })
        const earlier = yield* Effect.forkChild(together, { startImmediately: true })
        yield* other(end)
        const after = yield* together
        yield* Fiber.join(earlier)
        yield* sql.unsafe(undo)
        expect([route.name, ...after]).toEqual([route.name, true, true, true, true])
      }
    })
  )
}

tests.live("every route refuses an expired credential, even if nothing was committed since its last use", () =>
  Effect.gen(function* () {
    const { by } = yield* MovedTime
    for (const route of reads) {
      const headers = yield* credentialOf(route)
      expect([route.name, yield* isLetIn(route, headers)]).toEqual([route.name, true])
      const life = wantsSession(route) ? Duration.toMillis(sessionLifetime) : Duration.toMillis("90 days")
      by(life - 60_000)
      // Each use of a session extends the session, which requires a commit. Therefore, just before the expiry, the test uses
      // only credentials that svc never extends.
      if (!wantsSession(route)) expect([route.name, yield* isLetIn(route, headers)]).toEqual([route.name, true])
      by(120_000)
      expect([route.name, yield* isRefused(route, headers)]).toEqual([route.name, true])
    }
  })
)

tests.live("every route refuses expired OAuth tokens, even if nothing was committed since their last use", () =>
  Effect.gen(function* () {
    const { by } = yield* MovedTime
    for (const route of reads.filter(takesOAuth)) {
      const headers = yield* oauthCredential
      expect([route.name, yield* isLetIn(route, headers)]).toEqual([route.name, true])
      by(Duration.toMillis(lifetimes.accessToken) - 60_000)
      expect([route.name, yield* isLetIn(route, headers)]).toEqual([route.name, true])
      by(120_000)
      expect([route.name, yield* isRefused(route, headers)]).toEqual([route.name, true])
    }
  })
)

tests.live("every route can still read an archived Workspace", () =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const credentialFor = sharedCredentials(false)
    for (const route of reads) {
      const headers = yield* credentialFor(route)
      const meanwhile = yield* Effect.acquireUseRelease(
        sql`UPDATE workspaces SET archived_at = ${past}`,
        () => isLetIn(route, headers),
        () => Effect.orDie(sql`UPDATE workspaces SET archived_at = NULL`)
      )
      expect([route.name, meanwhile]).toEqual([route.name, true])
    }
  })
)
