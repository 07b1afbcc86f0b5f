import { expect } from "bun:test"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { Sessions } from "../../../actors/access/account/Sessions.ts"
import { Users } from "../../../actors/access/account/Users.ts"
import { serviceContext } from "../../../schema/commands/Command.ts"
import { newPerson, text } from "../../support/Accounts.ts"
import { it } from "../../support/Effect.ts"
import {
  counted,
  type Installation,
  installation,
  origin,
  type Pliant,
  redirectUri,
  signIn,
  upstreamAccounts,
  verifiedPerson
} from "./support/UpstreamInstallation.ts"
import { pliantProvider, referenceProvider, throughProvider, type TokenPlan } from "./support/UpstreamIssuer.ts"

const ours = { "sec-fetch-site": "same-origin" }

/** Confirms the identity of the person whose session cookie is in the jar. */
const confirm = Effect.fnUntraced(function* (
  { visit }: Installation,
  { issuer, state }: Pliant,
  claims: Readonly<Record<string, unknown>> = { auth_time: Math.floor(Date.now() / 1000) }
) {
  const started = yield* visit("/auth/upstream/start?confirm=true&return=/account", ours)
  const asked = new URL(started.location).searchParams
  expect([asked.get("prompt"), asked.get("max_age")]).toEqual(["login", "300"])
  state.plan = { claims }
  state.nonce = asked.get("nonce") ?? ""
  const answer = new URLSearchParams({ code: "c", state: asked.get("state") ?? "", iss: issuer })
  return yield* visit(`/auth/upstream/callback?${answer.toString()}`)
})

it.live("the upstream provider signs in a person by a verified address, and links the identity", () =>
  Effect.gen(function* () {
    const users = yield* Users
    const sql = yield* SqlClient.SqlClient
    const { subject } = yield* verifiedPerson("ann")
    const { issuer } = yield* referenceProvider(redirectUri)
    const here = yield* installation(issuer)
    const before = counted.entered
    const started = yield* here.visit("/auth/upstream/start?return=/w/acme%3Ftab%3Druns")
    expect(started.status).toBe(303)
    expect(started.headers.get("set-cookie")).toMatch(
      /^__Host-svc_upstream=svcu_\w{36}; Max-Age=600; Path=\/; HttpOnly; Secure; SameSite=Lax$/
    )
    const asked = new URL(started.location).searchParams
    expect(asked.get("code_challenge_method")).toBe("S256")
    expect(asked.get("redirect_uri")).toBe(redirectUri)
    const back = yield* throughProvider(started.location, "ann")
    const done = yield* here.visit(back)
    // Starting a sign-in and completing it count as one attempt; an unsolicited response counts as another.
    expect(counted.entered - before).toBe(1)
    expect([done.status, done.location]).toEqual([303, `${origin}/w/acme?tab=runs`])
    expect(done.headers.get("referrer-policy")).toBe("no-referrer")
    expect(yield* here.whoAmI).toBe(subject)
    const [linked] = yield* sql`SELECT issuer, upstream_subject, subject, verified_email
      FROM upstream_identities`
    expect(linked).toEqual({ issuer, upstream_subject: "ann", subject, verified_email: "ann@example.com" })
    // The response works only once, and only in the browser that started the sign-in.
    expect((yield* here.visit(back)).status).toBe(400)
    expect(counted.entered - before).toBe(2)
    // Once an identity is linked, it alone determines the person. A changed address has no effect.
    yield* sql`UPDATE users SET email = 'renamed@example.com' WHERE subject = ${subject}`
    const again = yield* here.visit("/auth/upstream/start")
    expect((yield* here.visit(yield* throughProvider(again.location, "ann"))).location).toBe(`${origin}/`)
    expect(yield* here.whoAmI).toBe(subject)
    // Locked accounts and unknown people are refused.
    yield* users.setStatus(serviceContext, subject, "disabled")
    for (const login of ["ann", "mallory"]) {
      const stranger = yield* installation(issuer)
      const start = yield* stranger.visit("/auth/upstream/start")
      const refused = yield* stranger.visit(yield* throughProvider(start.location, login))
      expect(refused.status).toBe(403)
      expect(refused.headers.get("content-type")).toStartWith("text/html")
      expect(yield* stranger.whoAmI).toBeUndefined()
    }
  }).pipe(Effect.provide(upstreamAccounts))
)

it.live("an upstream response that fails verification does not sign anyone in", () =>
  Effect.gen(function* () {
    yield* verifiedPerson("ann")
    const provider = yield* pliantProvider
    const past = Math.floor(Date.now() / 1000) - 3600
    const wrong: ReadonlyArray<readonly [name: string, plan: TokenPlan, change?: (answer: URLSearchParams) => void]> = [
      ["nonce of another sign-in", { claims: { nonce: "other" } }],
      ["no nonce", { claims: { nonce: undefined } }],
      ["another issuer in the token", { claims: { iss: "https://evil.example" } }],
      ["another audience", { claims: { aud: "somebody-else" } }],
      ["several audiences without authorised party", { claims: { aud: ["svc", "other"] } }],
      ["expired", { claims: { exp: past } }],
      ["no subject", { claims: { sub: undefined } }],
      ["signed by another key", { foreignKey: true }],
      ["not signed", { unsigned: true }],
      ["an unknown key", { header: { kid: "unknown" } }],
      ["another issuer beside the code", {}, (answer) => answer.set("iss", "https://evil.example")],
      ["no issuer beside the code", {}, (answer) => answer.delete("iss")],
      ["the state of another browser", {}, (answer) => answer.set("state", "x".repeat(43))],
      ["no state", {}, (answer) => answer.delete("state")],
      ["a second code", {}, (answer) => answer.append("code", "d")]
    ]
    for (const [name, plan, change] of wrong) {
      const here = yield* installation(provider.issuer)
      const answer = yield* signIn(here, provider, plan, change)
      expect([name, answer.status]).toEqual([name, 401])
      expect([name, yield* here.whoAmI]).toEqual([name, undefined])
    }
    const here = yield* installation(provider.issuer)
    const cancelled = yield* signIn(here, provider, {}, (answer) => {
      answer.delete("code")
      answer.set("error", "access_denied")
    })
    expect(cancelled.status).toBe(403)
    expect((yield* signIn(here, provider)).location).toBe(`${origin}/w/acme`)
    expect(provider.state.forms.at(-1)).toContain("code_verifier=")
  }).pipe(Effect.provide(upstreamAccounts))
)

it.live("upstream sign-in recovers after the provider rotates its key or becomes reachable again", () =>
  Effect.gen(function* () {
    const { subject } = yield* verifiedPerson("ann")
    const provider = yield* pliantProvider
    provider.state.down = true
    const here = yield* installation(provider.issuer)
    expect((yield* here.visit("/auth/upstream/start")).status).toBe(503)
    provider.state.down = false
    expect((yield* signIn(here, provider)).status).toBe(303)
    // The provider replaces its key without a transition period, so svc has not yet fetched the key that signs these tokens.
    const before = provider.state.keysFetched
    provider.state.keys = [yield* provider.newKey]
    expect((yield* signIn(here, provider)).status).toBe(303)
    expect(yield* here.whoAmI).toBe(subject)
    // The provider rotates its key again and reuses the previous key's id.
    provider.state.keys = [yield* provider.renamedKey]
    expect((yield* signIn(here, provider)).status).toBe(303)
    expect(provider.state.keysFetched - before).toBe(2)
    expect((yield* signIn(here, provider)).status).toBe(303)
    expect(provider.state.keysFetched - before).toBe(2)
    // For a token signed with an unpublished key, svc fetches the keys once more, but not in a loop.
    for (const plan of [{ foreignKey: true }, { header: { kid: "unknown" } }]) {
      const asked = provider.state.keysFetched
      expect((yield* signIn(here, provider, plan)).status).toBe(401)
      expect(provider.state.keysFetched - asked).toBe(1)
    }
  }).pipe(Effect.provide(upstreamAccounts))
)

it.live(
  "a verified address neither links to nor signs in an account that claims the address without verification",
  () =>
    Effect.gen(function* () {
      const users = yield* Users
      const ann = yield* newPerson("ann")
      const provider = yield* pliantProvider
      const here = yield* installation(provider.issuer)
      expect((yield* signIn(here, provider)).status).toBe(403)
      expect(yield* here.whoAmI).toBeUndefined()
      yield* users.proveAddress(ann.subject, ann.email, "mail")
      expect((yield* signIn(here, provider)).status).toBe(303)
      expect(yield* here.whoAmI).toBe(ann.subject)
    }).pipe(Effect.provide(upstreamAccounts))
)

it.live("an unverified address links no identity, but a signed-in person may link any identity", () =>
  Effect.gen(function* () {
    const ann = yield* verifiedPerson("ann")
    const bob = yield* verifiedPerson("bob")
    const sessions = yield* Sessions
    const provider = yield* pliantProvider
    const here = yield* installation(provider.issuer)
    for (const email_verified of [false, "true", undefined]) {
      expect((yield* signIn(here, provider, { claims: { email_verified } })).status).toBe(403)
    }
    const { secret } = yield* sessions.open({ subject: bob.subject, method: "password" })
    here.jar.set("__Host-svc_session", text(secret))
    const link = "/auth/upstream/start?link=true"
    for (const headers of [{}, { "sec-fetch-site": "cross-site" }, { "sec-fetch-site": "none" }]) {
      expect((yield* here.visit(link, headers)).status).toBe(403)
    }
    const started = yield* here.visit(link, { "sec-fetch-site": "same-origin" })
    const asked = new URL(started.location).searchParams
    provider.state.nonce = asked.get("nonce") ?? ""
    provider.state.plan = {}
    const query = new URLSearchParams({ code: "c", state: asked.get("state") ?? "", iss: provider.issuer })
    expect((yield* here.visit(`/auth/upstream/callback?${query.toString()}`)).status).toBe(303)
    expect(yield* here.whoAmI).toBe(bob.subject)
    // The identity belongs to Bob now, although the address is Ann's.
    const elsewhere = yield* installation(provider.issuer)
    expect((yield* signIn(elsewhere, provider)).status).toBe(303)
    expect(yield* elsewhere.whoAmI).toBe(bob.subject)
    const second = yield* installation(provider.issuer)
    const other = { claims: { sub: "second", email: "bob@example.com" } }
    expect((yield* signIn(second, provider, other)).status).toBe(409)
    expect(ann.subject).not.toBe(bob.subject)
  }).pipe(Effect.provide(upstreamAccounts))
)

it.live("an upstream sign-in redirects only to svc's own pages", () =>
  Effect.gen(function* () {
    yield* verifiedPerson("ann")
    const provider = yield* pliantProvider
    const here = yield* installation(provider.issuer)
    for (const path of [
      "//evil.example",
      "/\\evil.example",
      "/.//evil.example",
      "https://evil.example/",
      "javascript:alert(1)",
      "/\t/evil"
    ]) {
      const started = yield* here.visit(`/auth/upstream/start?return=${encodeURIComponent(path)}`)
      const asked = new URL(started.location).searchParams
      provider.state.nonce = asked.get("nonce") ?? ""
      const query = new URLSearchParams({ code: "c", state: asked.get("state") ?? "", iss: provider.issuer })
      const done = yield* here.visit(`/auth/upstream/callback?${query.toString()}`)
      expect([path, done.location]).toEqual([path, `${origin}/`])
    }
    expect((yield* here.visit("/auth/upstream/start?return=/a&return=/b")).status).toBe(400)
  }).pipe(Effect.provide(upstreamAccounts))
)

it.live("people see linked identities, and can unlink all but their last sign-in method", () =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const users = yield* Users
    const sessions = yield* Sessions
    const ann = yield* verifiedPerson("ann")
    const bob = yield* verifiedPerson("bob")
    const provider = yield* pliantProvider
    const here = yield* installation(provider.issuer)
    const identities = "/auth/upstream/identities"
    expect((yield* here.visit(identities)).status).toBe(401)
    expect((yield* signIn(here, provider)).status).toBe(303)
    expect(yield* here.whoAmI).toBe(ann.subject)
    const listed = yield* here.visit(identities)
    expect([listed.status, listed.headers.get("cache-control")]).toEqual([200, "no-store"])
    const [identity, ...more] = JSON.parse(listed.body).identities
    expect(more).toEqual([])
    expect(identity.id).toMatch(/^uid_[0-9a-f]{32}$/)
    expect(identity.issuer).toBe(provider.issuer)
    // The page must not show the name that the provider sends for the person.
    expect(Object.keys(identity).toSorted()).toEqual(["createdAt", "id", "issuer", "lastUsedAt"])
    const unlink = (headers: Record<string, string> = ours) =>
      here.visit(`${identities}/${identity.id}`, headers, "DELETE")
    expect((yield* unlink({})).status).toBe(403)
    // The provider may keep people signed in for days, so an existing session at the provider does not confirm the person's
    // identity.
    expect(JSON.parse((yield* unlink()).body).error.code).toBe("reauthentication_required")
    // Passwords are off here, so a stored password is not a sign-in method. An identity at another provider is not a sign-in
    // method either.
    yield* users.setPassword(serviceContext, ann.subject, "hash")
    here.jar.set(
      "__Host-svc_session",
      text((yield* sessions.open({ subject: ann.subject, method: "password" })).secret)
    )
    const at = "2026-01-01T00:00:00.000Z"
    yield* sql`INSERT INTO upstream_identities (issuer, upstream_subject, subject, created_at, last_used_at) VALUES ('https://old.example', 'ann', ${ann.subject}, ${at}, ${at})`
    const last = yield* unlink()
    expect([last.status, JSON.parse(last.body).error.code]).toEqual([409, "failed_precondition"])
    expect((yield* signIn(here, provider)).status).toBe(303)
    yield* sql`INSERT INTO passkeys (id, subject, credential_id, public_key, counter, transports, device_type, backed_up,
      name, created_at) VALUES ('pky_a', ${ann.subject}, 'c', 'k', 0, '[]', 'singleDevice', 0, 'key', ${at})`
    expect((yield* confirm(here, provider)).location).toBe(`${origin}/account`)
    const stranger = yield* installation(provider.issuer)
    stranger.jar.set(
      "__Host-svc_session",
      text((yield* sessions.open({ subject: bob.subject, method: "password" })).secret)
    )
    expect((yield* stranger.visit(`${identities}/${identity.id}`, ours, "DELETE")).status).toBe(404)
    expect((yield* unlink()).status).toBe(204)
    expect((yield* unlink()).status).toBe(404)
    const [old] = JSON.parse((yield* here.visit(identities)).body).identities
    expect(old.issuer).toBe("https://old.example")
  }).pipe(Effect.provide(upstreamAccounts))
)

it.live("a confirmation requires a fresh sign-in at the provider as the same person", () =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const sessions = yield* Sessions
    const ann = yield* verifiedPerson("ann")
    const bob = yield* verifiedPerson("bob")
    const provider = yield* pliantProvider
    const here = yield* installation(provider.issuer)
    expect((yield* signIn(here, provider)).status).toBe(303)
    const session = here.jar.get("__Host-svc_session")
    const confirmed = Effect.map(
      sessions.authenticate(Redacted.make(session ?? "")),
      (principal) => principal.confirmedAt !== undefined
    )
    const recently = Math.floor(Date.now() / 1000)
    // If `auth_time` is missing, svc cannot verify when the person signed in. A sign-in six minutes ago is too old.
    for (const claims of [{}, { auth_time: recently - 360 }]) {
      const refused = yield* confirm(here, provider, claims)
      expect(refused.status).toBe(403)
      expect(refused.body).toContain(
        "did not confirm that you have just signed in there, so nothing was confirmed here."
      )
    }
    expect(yield* confirmed).toBe(false)
    // Somebody else signs in at the provider in Ann's browser.
    yield* sql`INSERT INTO upstream_identities (issuer, upstream_subject, subject, created_at, last_used_at)
      VALUES (${provider.issuer}, 'bob-upstream', ${bob.subject}, '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z')`
    for (const sub of ["bob-upstream", "nobody"]) {
      expect((yield* confirm(here, provider, { auth_time: recently, sub })).status).toBeGreaterThanOrEqual(401)
    }
    expect(yield* confirmed).toBe(false)
    const done = yield* confirm(here, provider, { auth_time: recently })
    expect([done.status, done.location]).toEqual([303, `${origin}/account`])
    expect(yield* confirmed).toBe(true)
    // The session is confirmed, not replaced.
    expect(here.jar.get("__Host-svc_session")).toBe(session ?? "")
    expect(yield* here.whoAmI).toBe(ann.subject)
    for (const headers of [{}, { "sec-fetch-site": "cross-site" }]) {
      expect((yield* here.visit("/auth/upstream/start?confirm=true", headers)).status).toBe(403)
    }
  }).pipe(Effect.provide(upstreamAccounts))
)
