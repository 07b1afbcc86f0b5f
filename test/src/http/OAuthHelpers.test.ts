import { afterAll, beforeEach, describe, expect, setDefaultTimeout } from "bun:test"
import { Context, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Sessions } from "../../../actors/account/Sessions.ts"
import { canarySweep } from "../../support/CanarySweep.ts"
import { suite } from "../../support/Effect.ts"
import { throughProvider } from "../accounts/support/UpstreamIssuer.ts"
import { begun, callbackOf, OAuthWorld, origin, returned, visitor } from "./support/OAuthWorld.ts"

setDefaultTimeout(60_000)

const tests = suite(OAuthWorld.layer)
afterAll(tests.dispose)
beforeEach(() =>
  tests.runPromise(
    Effect.map(OAuthWorld, ({ pliant }) =>
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
  )
)

const world = OAuthWorld

const database = Effect.flatMap(world, ({ served }) =>
  Effect.succeed(Context.get(served.services, SqlClient.SqlClient))
)

/** What there is of Connections and open authorizations. */
const counts = Effect.gen(function* () {
  const sql = yield* database
  const [row] = yield* sql`SELECT (SELECT COUNT(*) FROM connections) AS connections,
    (SELECT COUNT(*) FROM connection_authorizations) AS open`
  return row
})

/** A Connection made at the pliant server. */
const connected = Effect.fnUntraced(function* (more: Readonly<Record<string, unknown>> = {}) {
  const { owner, pliant } = yield* world
  const { authorizationUrl, connectionId } = yield* begun("pliant", more)
  const answer = yield* returned(owner, "pliant", pliant.agreed(authorizationUrl))
  expect([answer.status, answer.text.slice(0, 300)]).toEqual([200, expect.stringContaining(connectionId)])
  return answer.json().connection
})

const read = Effect.fnUntraced(function* (id: string) {
  const { owner } = yield* world
  return (yield* owner.send(`/api/v1/connections/${id}`)).json().connection
})

const attention = Effect.gen(function* () {
  const { owner, workspaceId } = yield* world
  return (yield* owner.send(`/api/v1/dashboard/overview?workspaceId=${workspaceId}`)).json().attention
})

describe("helpers that the operator declares", () => {
  tests.live("are advertised, listed without a secret, and known by name", () =>
    Effect.gen(function* () {
      const { owner, pliant, workspaceId } = yield* world
      expect((yield* owner.send("/api/v1/capabilities")).json().features.oauth_helpers).toBe(true)
      const listed = yield* owner.send("/api/v1/credential-recipes")
      expect(listed.json().oauthHelpers[0]).toEqual({
        id: "pliant",
        displayName: "Pliant",
        issuer: pliant.issuer,
        scopes: ["cloud.write"],
        provider: "example.test/acme/cloud",
        kind: "provider",
        recipeId: "generic-env",
        authMode: "env",
        valueNames: ["CLOUD_TOKEN"]
      })
      expect(listed.text).not.toContain("client-secret")
      const unknown = yield* owner.post("/api/v1/connections/oauth/nobody/start", { workspaceId })
      expect(unknown.status).toBe(404)
    })
  )

  tests.live("send the browser away with state, PKCE and exactly the helper's own redirect URI", () =>
    Effect.gen(function* () {
      const { other, pliant } = yield* world
      const asked = new URL((yield* begun("pliant")).authorizationUrl)
      expect(`${asked.origin}${asked.pathname}`).toBe(`${pliant.issuer}/authorize`)
      const parameters = Object.fromEntries(asked.searchParams)
      expect(parameters).toMatchObject({
        response_type: "code",
        client_id: "svc",
        redirect_uri: `${origin}${callbackOf("pliant")}`,
        scope: "cloud.write",
        code_challenge_method: "S256",
        code_challenge: expect.stringMatching(/^[\w-]{43}$/),
        state: expect.stringMatching(/^svco_/)
      })
      const elsewhere = new URL((yield* begun("other")).authorizationUrl).searchParams
      expect([elsewhere.get("audience"), elsewhere.get("redirect_uri")]).toEqual([
        "cloud",
        `${origin}${callbackOf("other")}`
      ])
      expect([...asked.searchParams.keys()].filter((name) => name === "state")).toHaveLength(1)
      expect(other.state.forms).toEqual([])
    })
  )

  tests.live("make a Connection of the tokens, which come back nowhere", () =>
    Effect.gen(function* () {
      const { handle, owner, pliant, served, workspaceId } = yield* world
      const { authorizationUrl, connectionId } = yield* begun("pliant", {
        displayName: "Cloud",
        use: { roles: ["owner"] }
      })
      expect((yield* read(connectionId)) ?? "none").toBe("none")
      const answer = pliant.agreed(authorizationUrl)
      for (const more of ["session_state", "authuser", "hd", "prompt"]) answer.set(more, "whatever")
      const arrived = yield* returned(owner, "pliant", answer, "text/html,*/*;q=0.8")
      expect([arrived.status, arrived.headers.get("location")]).toEqual([
        303,
        `${origin}/w/${handle}/connections?connected=${connectionId}`
      ])
      const connection = yield* read(connectionId)
      expect(connection).toMatchObject({
        displayName: "Cloud",
        status: "verified",
        envNames: ["CLOUD_TOKEN"],
        version: 1,
        use: { roles: ["owner"] },
        oauth: { helperId: "pliant", scopes: ["cloud.write"], refreshable: true }
      })
      expect(connection.expiresAt).toBeUndefined()
      const form = pliant.state.forms.at(-1)
      expect(form?.get("redirect_uri")).toBe(`${origin}${callbackOf("pliant")}`)
      const audit = (yield* owner.send(`/api/v1/workspaces/${workspaceId}/activity?limit=100`)).text
      expect(audit).toContain('"connection.authorize"')
      for (const text of [JSON.stringify(connection), audit, arrived.text]) {
        expect(text).not.toMatch(/of-the-pliant-server|svco_|code_verifier/)
      }
      // The state is one of the secrets that are known by their digest; tokens and verifier are sealed.
      const state = new URL(authorizationUrl).searchParams.get("state") ?? ""
      const token = `access-token-${/\d+/.exec(String(pliant.state.forms.length))}-of-the-pliant-server`
      expect(canarySweep(served.dataDir, [state, token, answer.get("code") ?? "?", "-of-the-pliant-server"])).toEqual(
        []
      )
    })
  )

  tests.live("make Git Connections with the origins that the operator fixed", () =>
    Effect.gen(function* () {
      const { other, owner } = yield* world
      const { authorizationUrl, connectionId } = yield* begun("other")
      // A server without RFC 9207 names itself nowhere.
      const answer = other.agreed(authorizationUrl)
      answer.delete("iss")
      expect((yield* returned(owner, "other", answer)).status).toBe(200)
      expect(yield* read(connectionId)).toMatchObject({
        kind: "git_https",
        envNames: ["token", "username"],
        origins: ["https://git.example.com/team/"]
      })
      const changed = yield* owner.send(`/api/v1/connections/${connectionId}`, {
        method: "PATCH",
        body: JSON.stringify({ values: { token: "somebody-elses-token" } }),
        headers: { "content-type": "application/json" }
      })
      expect([changed.status, changed.json().error.code]).toEqual([409, "failed_precondition"])
    })
  )

  tests.live("expire with an access token that nobody can renew", () =>
    Effect.gen(function* () {
      const { owner, pliant } = yield* world
      pliant.state.refreshable = false
      const connection = yield* connected()
      expect(connection.oauth.refreshable).toBe(false)
      expect(connection.expiresAt).toBe(connection.oauth.accessTokenExpiresAt)
      const later = yield* owner.send(`/api/v1/connections/${connection.id}`, {
        method: "PATCH",
        body: JSON.stringify({ expiresAt: null }),
        headers: { "content-type": "application/json" }
      })
      expect([later.status, later.json().error.code]).toEqual([400, "invalid_request"])
      expect(
        (yield* attention).find((item: { connectionId?: string }) => item.connectionId === connection.id)
      ).toMatchObject({ kind: "connection_expiring" })
    })
  )

  tests.live("work against this service's own issuer", () =>
    Effect.gen(function* () {
      const { ours, owner } = yield* world
      const there = yield* visitor(ours, "there", "svc_session")
      const { authorizationUrl, connectionId } = yield* begun("ours")
      const asked = new URL(authorizationUrl)
      const agreed = yield* there.send(`${asked.pathname}${asked.search}`)
      const back = new URL(agreed.headers.get("location") ?? "")
      expect(`${back.origin}${back.pathname}`).toBe(`${origin}${callbackOf("ours")}`)
      expect(back.searchParams.get("iss")).toBe(ours.url)
      expect((yield* returned(owner, "ours", back.searchParams)).status).toBe(200)
      expect((yield* read(connectionId)).oauth).toMatchObject({ refreshable: true })
      yield* renewed(connectionId)
      const grants = yield* there.send("/auth/grants")
      expect(grants.text).toContain('"svc"')
      expect((yield* owner.post(`/api/v1/connections/${connectionId}/revoke`, {})).json().connection.status).toBe(
        "revoked"
      )
      expect((yield* there.send("/auth/grants")).text).not.toContain('"svc"')
    })
  )

  tests.live("work against an independent server", () =>
    Effect.gen(function* () {
      const { owner } = yield* world
      const { authorizationUrl, connectionId } = yield* begun("reference")
      const back = new URL(yield* throughProvider(authorizationUrl, "ann"))
      expect(`${back.origin}${back.pathname}`).toBe(`${origin}${callbackOf("reference")}`)
      expect((yield* returned(owner, "reference", back.searchParams)).status).toBe(200)
      expect((yield* read(connectionId)).oauth).toMatchObject({
        refreshable: true,
        scopes: ["openid", "offline_access"]
      })
      yield* renewed(connectionId)
      const sql = yield* database
      yield* owner.post(`/api/v1/connections/${connectionId}/revoke`, {})
      const [after] = yield* sql`SELECT status, sealed_values, sealed_tokens, oauth_fault FROM connections
        WHERE id = ${connectionId}`
      expect(after).toEqual({ status: "revoked", sealed_values: null, sealed_tokens: null, oauth_fault: null })
    })
  )
})

/** Lets the access token come to its end, and has the Connection tested, which renews it. */
const renewed = Effect.fnUntraced(function* (connectionId: string) {
  const { owner } = yield* world
  const sql = yield* database
  const generation = Effect.map(
    sql<{ token_generation: number }>`SELECT token_generation FROM connections WHERE id = ${connectionId}`,
    ([row]) => row?.token_generation
  )
  const before = (yield* generation) ?? 0
  for (const next of [before + 1, before + 2]) {
    yield* sql`UPDATE connections SET oauth = json_set(oauth, '$.accessTokenExpiresAt', '2026-01-01T00:00:00.000Z')
      WHERE id = ${connectionId}`
    const tested = yield* owner.post(`/api/v1/connections/${connectionId}/test`, {})
    expect([tested.status, tested.json().connection?.status]).toEqual([200, "verified"])
    expect(yield* generation).toBe(next)
    expect(tested.json().connection.version).toBe(1)
  }
})

/** What an attacker or an accident makes of the answer, and what the person hears. */
const attacks: ReadonlyArray<
  readonly [name: string, status: number, code: string, change: (answer: URLSearchParams, issuer: string) => void]
> = [
  ["without a state", 409, "failed_precondition", (answer) => answer.delete("state")],
  ["with two states", 409, "failed_precondition", (answer) => answer.append("state", answer.get("state") ?? "")],
  ["with a forged state", 409, "failed_precondition", (answer) => answer.set("state", `svco_${"a".repeat(36)}`)],
  ["from another issuer (mix-up)", 409, "failed_precondition", (answer) => answer.set("iss", "https://evil.example")],
  ["that names no issuer although the server does", 409, "failed_precondition", (answer) => answer.delete("iss")],
  ["with a code of another authorization", 409, "failed_precondition", (answer) => answer.set("code", "injected")],
  ["with two codes", 409, "failed_precondition", (answer) => answer.append("code", "another")],
  ["without a code", 409, "failed_precondition", (answer) => answer.delete("code")],
  ["of the implicit flow", 409, "failed_precondition", (answer) => answer.set("id_token", "a.b.c")]
]

describe("an answer", () => {
  for (const [name, status, code, change] of attacks) {
    tests.live(`${name} makes no Connection, and its state serves no more`, () =>
      Effect.gen(function* () {
        const { owner, pliant } = yield* world
        const { authorizationUrl } = yield* begun("pliant")
        const answer = pliant.agreed(authorizationUrl)
        const sound = new URLSearchParams(answer)
        change(answer, pliant.issuer)
        const before = yield* counts
        const refused = yield* returned(owner, "pliant", answer)
        expect([refused.status, refused.json().error.code]).toEqual([status, code])
        expect(refused.text).not.toContain(sound.get("code") ?? "?")
        expect((yield* counts)?.["connections"]).toBe(before?.["connections"])
        // Only an answer that named the state used it up.
        const known = answer.getAll("state").length === 1 && answer.get("state") === sound.get("state")
        expect((yield* returned(owner, "pliant", sound)).status).toBe(known ? 409 : 200)
      })
    )
  }

  tests.live("whose code was issued to another start is refused by PKCE", () =>
    Effect.gen(function* () {
      const { owner, pliant } = yield* world
      const victim = pliant.agreed((yield* begun("pliant")).authorizationUrl)
      const attacker = pliant.agreed((yield* begun("pliant")).authorizationUrl)
      attacker.set("code", victim.get("code") ?? "")
      const refused = yield* returned(owner, "pliant", attacker)
      expect([refused.status, refused.json().error.message]).toEqual([409, expect.stringContaining("invalid_grant")])
    })
  )

  tests.live("serves once", () =>
    Effect.gen(function* () {
      const { owner, pliant } = yield* world
      const answer = pliant.agreed((yield* begun("pliant")).authorizationUrl)
      const both = yield* Effect.all([returned(owner, "pliant", answer), returned(owner, "pliant", answer)], {
        concurrency: 2
      })
      expect(both.map(({ status }) => status).sort()).toEqual([200, 409])
      expect((yield* returned(owner, "pliant", answer)).status).toBe(409)
      expect(pliant.state.forms).toHaveLength(1)
    })
  )

  tests.live("comes too late after ten minutes", () =>
    Effect.gen(function* () {
      const { owner, pliant } = yield* world
      const answer = pliant.agreed((yield* begun("pliant")).authorizationUrl)
      const sql = yield* database
      yield* sql`UPDATE connection_authorizations SET expires_at = '2026-01-01T00:00:00.000Z'`
      expect((yield* returned(owner, "pliant", answer)).json().error.message).toContain("ten minutes")
      expect(pliant.state.forms).toEqual([])
    })
  )

  tests.live("at another helper's address is a mix-up, and its code goes to nobody", () =>
    Effect.gen(function* () {
      const { other, owner, pliant } = yield* world
      const asked = other.state.forms.length
      const answer = pliant.agreed((yield* begun("pliant")).authorizationUrl)
      const refused = yield* returned(owner, "other", answer)
      expect([refused.status, refused.json().error.code]).toEqual([403, "permission_denied"])
      expect([pliant.state.forms, other.state.forms.length]).toEqual([[], asked])
      expect((yield* returned(owner, "pliant", answer)).status).toBe(409)
    })
  )

  tests.live("in another session of the same person, or of another person, is refused and stays open", () =>
    Effect.gen(function* () {
      const { owner, pliant, served, workspaceId } = yield* world
      const answer = pliant.agreed((yield* begun("pliant")).authorizationUrl)
      const elsewhere = yield* owner.signIn
      const path = `${callbackOf("pliant")}?${answer.toString()}`
      const again = yield* owner.send(path, { headers: elsewhere })
      expect([again.status, again.json().error.code]).toEqual([403, "permission_denied"])
      const mallory = yield* visitor(served, `mallory-${crypto.randomUUID()}`, "__Host-svc_session")
      expect((yield* mallory.send(path)).status).toBe(403)
      expect((yield* mallory.post(`/api/v1/connections/oauth/pliant/start`, { workspaceId })).status).toBe(403)
      expect(pliant.state.forms).toEqual([])
      expect((yield* returned(owner, "pliant", answer)).status).toBe(200)
    })
  )

  tests.live("of somebody who lost the role, the Workspace or the session meanwhile makes nothing", () =>
    Effect.gen(function* () {
      const { owner, pliant, served, workspaceId } = yield* world
      const sql = yield* database
      const losses = [
        ["the role", (subject: string) => sql`UPDATE memberships SET role = 'member' WHERE subject = ${subject}`, 403],
        [
          "the membership",
          (subject: string) => sql`UPDATE memberships SET status = 'suspended' WHERE subject = ${subject}`,
          403
        ],
        [
          "the Workspace",
          () => sql`UPDATE workspaces SET archived_at = '2026-01-01T00:00:00.000Z' WHERE id = ${workspaceId}`,
          409
        ],
        ["the session", (subject: string) => Context.get(served.services, Sessions).revokeAll(subject), 401]
      ] as const
      for (const [what, lose, status] of losses) {
        const admin = yield* visitor(served, `admin-${crypto.randomUUID()}`, "__Host-svc_session")
        const added = yield* owner.post(`/api/v1/workspaces/${workspaceId}/members`, {
          subject: admin.subject,
          role: "admin"
        })
        expect([what, added.status]).toEqual([what, 201])
        const started = yield* admin.post("/api/v1/connections/oauth/pliant/start", { workspaceId })
        const answer = pliant.agreed(String(started.json().authorizationUrl))
        yield* lose(admin.subject)
        const before = (yield* counts)?.["connections"]
        expect([what, (yield* returned(admin, "pliant", answer)).status]).toEqual([what, status])
        expect((yield* counts)?.["connections"]).toBe(before)
        yield* sql`UPDATE workspaces SET archived_at = NULL WHERE id = ${workspaceId}`
      }
      expect(pliant.state.forms).toEqual([])
    })
  )

  tests.live("that is an error says which, to the person and nobody else", () =>
    Effect.gen(function* () {
      const { owner, pliant } = yield* world
      const denied = pliant.agreed((yield* begun("pliant")).authorizationUrl)
      denied.delete("code")
      denied.set("error", "access_denied")
      denied.set("error_description", "The person said <b>no</b>\n")
      const refused = yield* returned(owner, "pliant", denied, "text/html")
      expect([refused.status, refused.headers.get("content-type")]).toEqual([403, "text/html; charset=utf-8"])
      expect(refused.text).toContain("access_denied (The person said &lt;b&gt;no&lt;/b&gt; )")
      expect(refused.headers.get("content-security-policy")).toContain("default-src 'none'")
      // Without a state of this session nothing of it is repeated: another site could put its own words here.
      denied.delete("state")
      const forged = yield* returned(owner, "pliant", denied, "text/html")
      expect([forged.status, forged.text.includes("access_denied")]).toEqual([409, false])
    })
  )

  tests.live("finds a signed-out browser a page, and a token no way in", () =>
    Effect.gen(function* () {
      const { owner, pliant, workspaceId } = yield* world
      const answer = pliant.agreed((yield* begun("pliant")).authorizationUrl)
      const path = `${callbackOf("pliant")}?${answer.toString()}`
      const out = yield* owner.send(path, { headers: { cookie: "", accept: "text/html" } })
      expect([out.status, out.headers.get("content-type")]).toEqual([401, "text/html; charset=utf-8"])
      const made = yield* owner.post("/api/v1/account/tokens", { name: "pat", scopes: ["read", "write"] })
      const bearer = { authorization: `Bearer ${made.json().token}`, cookie: "" }
      expect((yield* owner.send(path, { headers: bearer })).status).toBe(403)
      const started = yield* owner.send("/api/v1/connections/oauth/pliant/start", {
        method: "POST",
        body: JSON.stringify({ workspaceId }),
        headers: { ...bearer, "content-type": "application/json" }
      })
      expect([started.status, started.json().error.code]).toEqual([403, "permission_denied"])
    })
  )

  tests.live("leads nowhere but to the Connections of the Workspace", () =>
    Effect.gen(function* () {
      const { handle, owner, pliant } = yield* world
      const { authorizationUrl, connectionId } = yield* begun("pliant")
      const answer = pliant.agreed(authorizationUrl)
      for (const name of ["return", "return_to", "redirect_uri", "next"]) answer.set(name, "https://evil.example/")
      const arrived = yield* returned(owner, "pliant", answer, "text/html")
      expect(arrived.headers.get("location")).toBe(`${origin}/w/${handle}/connections?connected=${connectionId}`)
    })
  )
})

describe("an authorization server", () => {
  for (const misbehaves of ["lost", "redirect", "huge", "error", "plain text"] as const) {
    tests.live(`that answers a code with "${misbehaves}" makes no Connection`, () =>
      Effect.gen(function* () {
        const { owner, pliant } = yield* world
        const answer = pliant.agreed((yield* begun("pliant")).authorizationUrl)
        pliant.state.misbehaves = misbehaves
        const before = (yield* counts)?.["connections"]
        const refused = yield* returned(owner, "pliant", answer)
        expect(refused.status).toBe(503)
        expect(refused.text).not.toMatch(/of-the-pliant-server|code-/)
        expect((yield* counts)?.["connections"]).toBe(before)
        expect(pliant.state.forms).toHaveLength(1)
      })
    )
  }

  tests.live("that gives tokens of another type makes no Connection", () =>
    Effect.gen(function* () {
      const { owner, pliant } = yield* world
      pliant.state.tokenType = "DPoP"
      const answer = pliant.agreed((yield* begun("pliant")).authorizationUrl)
      expect((yield* returned(owner, "pliant", answer)).status).toBe(409)
    })
  )
})

describe("a Connection that a helper made", () => {
  tests.live("is renewed before its access token ends, without a new version", () =>
    Effect.gen(function* () {
      const { id } = yield* connected()
      yield* renewed(id)
    })
  )

  tests.live("keeps its refresh token where the server does not rotate", () =>
    Effect.gen(function* () {
      const { pliant } = yield* world
      pliant.state.rotates = false
      const { id } = yield* connected()
      yield* renewed(id)
      const refreshes = pliant.state.forms.filter((form) => form.get("grant_type") === "refresh_token")
      expect(new Set(refreshes.map((form) => form.get("refresh_token"))).size).toBe(1)
    })
  )

  tests.live("whose renewal is refused stands in attention, and is healed by connecting it again", () =>
    Effect.gen(function* () {
      const { owner, pliant } = yield* world
      const sql = yield* database
      const { id } = yield* connected({ displayName: "Refused" })
      yield* sql`UPDATE connections SET oauth = json_set(oauth, '$.accessTokenExpiresAt', '2026-01-01T00:00:00.000Z')
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
      // It is not asked for again and again, and no test makes it whole.
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

  tests.live("gives its tokens back when it ends, and says when that fails", () =>
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
