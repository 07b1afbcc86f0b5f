import { afterAll, beforeEach, describe, expect, setDefaultTimeout } from "bun:test"
import { Context, Effect } from "effect"
import { Sessions } from "../../../actors/access/account/Sessions.ts"
import { suite } from "../../support/Effect.ts"
import { counts, database, soundServer } from "./support/OAuthCalls.ts"
import { begun, callbackOf, OAuthWorld, origin, returned, visitor } from "./support/OAuthWorld.ts"

setDefaultTimeout(60_000)

const tests = suite(OAuthWorld.layer)
afterAll(tests.dispose)
beforeEach(() => tests.runPromise(soundServer))

const world = OAuthWorld

/** Changes to the response, whether malicious or accidental, and the resulting page. */
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

describe("OAuth responses", () => {
  for (const [name, status, code, change] of attacks) {
    tests.live(`an OAuth response ${name} creates no Connection, and the state becomes void`, () =>
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
        // Only a response with the right state consumes the authorization.
        const known = answer.getAll("state").length === 1 && answer.get("state") === sound.get("state")
        expect((yield* returned(owner, "pliant", sound)).status).toBe(known ? 409 : 200)
      })
    )
  }

  tests.live("PKCE rejects an OAuth code that was issued for another authorization attempt", () =>
    Effect.gen(function* () {
      const { owner, pliant } = yield* world
      const victim = pliant.agreed((yield* begun("pliant")).authorizationUrl)
      const attacker = pliant.agreed((yield* begun("pliant")).authorizationUrl)
      attacker.set("code", victim.get("code") ?? "")
      const refused = yield* returned(owner, "pliant", attacker)
      expect([refused.status, refused.json().error.message]).toEqual([409, expect.stringContaining("invalid_grant")])
    })
  )

  tests.live("an OAuth response is accepted only once", () =>
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

  tests.live("an OAuth response is rejected after ten minutes", () =>
    Effect.gen(function* () {
      const { owner, pliant } = yield* world
      const answer = pliant.agreed((yield* begun("pliant")).authorizationUrl)
      const sql = yield* database
      yield* sql`UPDATE connection_authorizations SET expires_at = '2026-01-01T00:00:00.000Z'`
      expect((yield* returned(owner, "pliant", answer)).json().error.message).toContain("ten minutes")
      expect(pliant.state.forms).toEqual([])
    })
  )

  tests.live(
    "an OAuth response at another helper's address is treated as a mix-up, and its code is not sent to any server",
    () =>
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

  tests.live("another session cannot use an OAuth response, and the authorization remains open", () =>
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

  tests.live("an OAuth response creates nothing if the person has lost the role, Workspace or session", () =>
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
        const secret = new URL(String(added.json().link)).hash.slice(1)
        expect((yield* admin.post("/api/v1/invitations/accept", { secret })).status).toBe(200)
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

  tests.live("an OAuth error is shown only to the person who started the authorization", () =>
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
      // The page never repeats a response that lacks this session's state, because another site could have written the text
      // of that response.
      denied.delete("state")
      const forged = yield* returned(owner, "pliant", denied, "text/html")
      expect([forged.status, forged.text.includes("access_denied")]).toEqual([409, false])
    })
  )

  tests.live("the OAuth return route shows a page to a signed-out browser, and rejects a token", () =>
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

  tests.live("the OAuth return route redirects only to the Workspace's Connections", () =>
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

describe("Faulty authorization servers", () => {
  for (const misbehaves of ["lost", "redirect", "huge", "error", "plain text"] as const) {
    tests.live(`an authorization server that responds to a code with "${misbehaves}" creates no Connection`, () =>
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

  tests.live("an authorization server that issues tokens of a different type creates no Connection", () =>
    Effect.gen(function* () {
      const { owner, pliant } = yield* world
      pliant.state.tokenType = "DPoP"
      const answer = pliant.agreed((yield* begun("pliant")).authorizationUrl)
      expect((yield* returned(owner, "pliant", answer)).status).toBe(409)
    })
  )
})
