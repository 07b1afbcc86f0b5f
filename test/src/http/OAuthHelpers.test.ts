import { afterAll, beforeEach, describe, expect, setDefaultTimeout } from "bun:test"
import { Effect } from "effect"
import { canarySweep } from "../../support/CanarySweep.ts"
import { suite } from "../../support/Effect.ts"
import { throughProvider } from "../accounts/support/UpstreamIssuer.ts"
import { attention, connected, database, read, renewed, soundServer } from "./support/OAuthCalls.ts"
import { begun, callbackOf, OAuthWorld, origin, returned, visitor } from "./support/OAuthWorld.ts"

setDefaultTimeout(60_000)

const tests = suite(OAuthWorld.layer)
afterAll(tests.dispose)
beforeEach(() => tests.runPromise(soundServer))

const world = OAuthWorld

describe("OAuth helpers", () => {
  tests.live("OAuth helpers are advertised, identified by name, and listed without their secret", () =>
    Effect.gen(function* () {
      const { owner, pliant, workspaceId } = yield* world
      const { extensions } = (yield* owner.send("/api/v1/extensions")).json()
      expect(extensions).toContainEqual(expect.objectContaining({ name: "oauth-helpers", enabled: true }))
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

  tests.live("an OAuth helper redirects the browser with state, PKCE and exactly its own redirect URI", () =>
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

  tests.live("an OAuth helper creates a Connection from the tokens, and never returns the tokens", () =>
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
      // svc stores only a digest of the state, and stores the tokens and the verifier sealed.
      const state = new URL(authorizationUrl).searchParams.get("state") ?? ""
      const token = `access-token-${/\d+/.exec(String(pliant.state.forms.length))}-of-the-pliant-server`
      expect(canarySweep(served.dataDir, [state, token, answer.get("code") ?? "?", "-of-the-pliant-server"])).toEqual(
        []
      )
    })
  )

  tests.live("an OAuth helper creates Git Connections with the operator's fixed origins", () =>
    Effect.gen(function* () {
      const { other, owner } = yield* world
      const { authorizationUrl, connectionId } = yield* begun("other")
      // A server without RFC 9207 sends no `iss`.
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

  tests.live("an OAuth Connection expires with an access token that cannot be renewed", () =>
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

  tests.live("an OAuth helper works with svc as the issuer", () =>
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

  tests.live("an OAuth helper works with an independent server", () =>
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
