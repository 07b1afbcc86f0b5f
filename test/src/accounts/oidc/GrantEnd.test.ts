import { afterAll, expect } from "bun:test"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { Sessions } from "../../../../actors/access/account/Sessions.ts"
import { SetupLinks } from "../../../../actors/access/account/SetupLinks.ts"
import { Users } from "../../../../actors/access/account/Users.ts"
import { serviceContext } from "../../../../schema/commands/Command.ts"
import { newPerson, newWorkspace } from "../../../support/Accounts.ts"
import { suite } from "../../../support/Effect.ts"
import {
  authorization,
  codeOf,
  exchange,
  json,
  press,
  query,
  refresh,
  send,
  signInTo,
  userInfo,
  visit
} from "./support/Browser.ts"
import { issuerLayer, signIn } from "./support/IssuerFixture.ts"

const tests = suite(issuerLayer())
afterAll(tests.dispose)

const offline = { scope: "openid offline_access" }
const secretOf = (cookie: string) => Redacted.make(cookie.slice(cookie.indexOf("=") + 1))

let people = 0

/**
 * Creates a person's browser with three authorizations: an application with offline access, an application without offline
 * access, and an unredeemed code.
 */
const connected = Effect.gen(function* () {
  const { subject } = yield* newPerson(`connected-${people++}`)
  const cookie = yield* signIn(subject)
  const sessions = yield* Sessions
  const { credentialId } = yield* sessions.authenticate(secretOf(cookie))
  const staying = yield* signInTo(offline, cookie)
  const passing = yield* signInTo({}, cookie)
  const code = yield* codeOf(authorization(), cookie)
  const state = Effect.gen(function* () {
    const renewed = yield* refresh(staying.refresh_token ?? "")
    return {
      passing: (yield* userInfo(passing.access_token)).status,
      staying: (yield* userInfo(staying.access_token)).status,
      refresh: renewed.status,
      code: (yield* exchange(code)).status
    }
  })
  return { subject, cookie, sessionId: credentialId, state }
})

const signedOut = { passing: 401, staying: 200, refresh: 200, code: 400 }
const ended = { passing: 401, staying: 401, refresh: 400, code: 400 }
const untouched = { passing: 200, staying: 200, refresh: 200, code: 200 }

tests.live("signing out or revoking a session ends every grant without offline access", () =>
  Effect.gen(function* () {
    const sessions = yield* Sessions
    const { sessionId, state, subject } = yield* connected
    const bystander = yield* connected
    yield* sessions.revoke(subject, sessionId)
    expect(yield* state).toEqual(signedOut)
    expect(yield* bystander.state).toEqual(untouched)
  })
)

tests.live("revoking the other sessions keeps the current session", () =>
  Effect.gen(function* () {
    const sessions = yield* Sessions
    const here = yield* connected
    const elsewhere = yield* signIn(here.subject)
    const passing = yield* signInTo({}, elsewhere)
    yield* sessions.revokeAll(here.subject, here.sessionId)
    expect((yield* userInfo(passing.access_token)).status).toBe(401)
    expect(yield* here.state).toEqual(untouched)
  })
)

tests.live("signing out everywhere revokes every application", () =>
  Effect.gen(function* () {
    const sessions = yield* Sessions
    const { state, subject } = yield* connected
    const bystander = yield* connected
    yield* sessions.revokeAll(subject)
    expect(yield* state).toEqual(ended)
    expect(yield* bystander.state).toEqual(untouched)
  })
)

tests.live("a new password, a reset by link, or locking the account revokes every application", () =>
  Effect.gen(function* () {
    const users = yield* Users
    const links = yield* SetupLinks
    const changed = yield* connected
    yield* users.setPassword(serviceContext, changed.subject, "hash")
    expect(yield* changed.state).toEqual(ended)
    const reset = yield* connected
    const { secret } = yield* links.issueReset(reset.subject)
    yield* links.redeem({ secret, password: Redacted.make("a long enough password") })
    expect(yield* reset.state).toEqual(ended)
    const locked = yield* connected
    yield* users.setStatus(serviceContext, locked.subject, "disabled")
    // Unlocking the account does not restore revoked grants.
    yield* users.setStatus(serviceContext, locked.subject, "active")
    expect(yield* locked.state).toEqual(ended)
  })
)

tests.live(
  "signing in again in the same browser keeps the person's grants, but another person's sign-in does not",
  () =>
    Effect.gen(function* () {
      const sessions = yield* Sessions
      const anew = ({ cookie, subject }: Effect.Success<typeof connected>) =>
        sessions.open({ subject, method: "password", replaces: secretOf(cookie) })
      const same = yield* connected
      yield* anew(same)
      expect(yield* same.state).toEqual(untouched)
      // After signing in again, the grant depends on the new session: revoking that session revokes the grant.
      const left = yield* connected
      const { session } = yield* anew(left)
      yield* sessions.revoke(left.subject, session.id)
      expect(yield* left.state).toEqual(signedOut)

      const shared = yield* connected
      const other = yield* newPerson(`other-${people++}`)
      yield* sessions.open({ subject: other.subject, method: "password", replaces: secretOf(shared.cookie) })
      expect(yield* shared.state).toEqual(signedOut)
    })
)

tests.live("people see the applications that act on their behalf, and can revoke each of them", () =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { subject } = yield* newPerson(`owner-${people++}`)
    const cookie = yield* signIn(subject)
    const { id: workspace_id } = yield* newWorkspace(subject, { handle: `apps-${people}` })
    const staying = yield* signInTo({ ...offline, workspace_id }, cookie)
    const passing = yield* signInTo({}, cookie)
    yield* codeOf(authorization(), cookie)
    const mine = yield* visit("/auth/grants", cookie)
    expect([mine.status, mine.headers.get("cache-control")]).toEqual([200, "no-store"])
    const { grants } = yield* json(mine)
    // An application is listed only after it has redeemed its code.
    expect(grants).toMatchObject([
      { clientId: "basic", clientName: "Basic", scopes: ["openid"], offline: false },
      { clientId: "basic", workspaceId: workspace_id, scopes: ["openid", "offline_access"], offline: true }
    ])
    const [row] = yield* sql<{ id: string }>`SELECT id FROM oidc_grants WHERE workspace_id = ${workspace_id}`
    const path = `/auth/grants/${row?.id ?? ""}/revoke`
    const stranger = yield* connected
    expect((yield* press(path, {}, stranger.cookie)).status).toBe(404)
    const crossSite = { cookie, "sec-fetch-site": "cross-site" }
    expect((yield* send(path, { method: "POST", headers: crossSite })).status).toBe(403)
    expect((yield* visit("/auth/grants")).status).toBe(401)
    expect((yield* userInfo(staying.access_token)).status).toBe(200)
    expect((yield* press(path, {}, cookie)).status).toBe(204)
    expect((yield* userInfo(staying.access_token)).status).toBe(401)
    expect((yield* refresh(staying.refresh_token ?? "")).status).toBe(400)
    expect((yield* userInfo(passing.access_token)).status).toBe(200)
    const left = yield* json(yield* visit(`/auth/grants?${query({ ignored: "1" })}`, cookie))
    expect(left["grants"]).toHaveLength(1)
  })
)
