import { expect, setDefaultTimeout } from "bun:test"
import { randomBytes } from "node:crypto"
import { Context, Duration, Effect, FileSystem, Redacted } from "effect"
import { AccessTokens } from "../../actors/access/account/AccessTokens.ts"
import { AddressChanges } from "../../actors/access/account/AddressChanges.ts"
import { SetupLinks } from "../../actors/access/account/SetupLinks.ts"
import { UpstreamSignIns } from "../../actors/access/account/UpstreamSignIns.ts"
import { Users } from "../../actors/access/account/Users.ts"
import { serviceContext } from "../../schema/commands/Command.ts"
import { Authorizations } from "../../actors/access/issuer/Authorizations.ts"
import { noClaims } from "../../actors/access/issuer/RequestedClaims.ts"
import { StaticClients } from "../../actors/access/issuer/StaticClients.ts"
import { TokenService } from "../../actors/access/issuer/TokenService.ts"
import { Pools } from "../../actors/running/agent-pool/Pools.ts"
import { it } from "../support/Effect.ts"
import { testAgent } from "../src/http/support/TestAgent.ts"
import {
  type AttackAnswer,
  type AttackBrowser,
  attackedServer,
  attempt,
  browserAt,
  fromOwnPage,
  quietPlatform,
  sessionCookie,
  signInAs
} from "./support/AttackedServer.ts"

setDefaultTimeout(120_000)

const clientSecret = "a-client-secret-of-at-least-32-characters"
const redirectUri = "https://rp.example.test/cb"
const device = "urn:ietf:params:oauth:grant-type:device_code"

const clients = {
  clients: [
    {
      client_id: "web",
      client_name: "Web",
      client_secret: clientSecret,
      redirect_uris: [redirectUri],
      pkce: "optional",
      scope: "openid profile offline_access read write",
      grant_types: ["authorization_code", "refresh_token", device]
    }
  ]
}

type Entrance = (secret: string, browser: AttackBrowser) => Promise<AttackAnswer>

const form =
  (path: string, fields: (secret: string) => Readonly<Record<string, string>>): Entrance =>
  (secret, browser) =>
    browser.form(path, fields(secret), {
      authorization: `Basic ${Buffer.from(`web:${clientSecret}`).toString("base64")}`
    })

/** Every route group that accepts a credential, and the kinds of credential that it accepts. */
const entrances = {
  "API as a bearer": {
    takes: ["personal token", "token for reading", "access token"],
    enter: (secret, browser) => browser.visit("/api/v1/workspaces", { headers: { authorization: `Bearer ${secret}` } })
  },
  "API as a cookie": {
    takes: ["session"],
    enter: (secret, browser) =>
      browser.visit("/api/v1/workspaces", { headers: { ...fromOwnPage, cookie: `${sessionCookie}=${secret}` } })
  },
  "API as a session header": {
    takes: ["session"],
    enter: (secret, browser) => browser.visit("/api/v1/workspaces", { headers: { "x-svc-account-session": secret } })
  },
  "API in the query": {
    takes: [],
    enter: (secret, browser) => browser.visit(`/api/v1/workspaces?access_token=${encodeURIComponent(secret)}`)
  },
  "the account as a bearer": {
    takes: [],
    enter: (secret, browser) => browser.visit("/auth/session", { headers: { authorization: `Bearer ${secret}` } })
  },
  "the account as a cookie": {
    takes: ["session"],
    enter: (secret, browser) =>
      browser.visit("/auth/session", { headers: { ...fromOwnPage, cookie: `${sessionCookie}=${secret}` } })
  },
  "tokens as a bearer": {
    takes: [],
    enter: (secret, browser) =>
      browser.visit("/api/v1/account/tokens", {
        headers: { authorization: `Bearer ${secret}` },
        body: { name: "minted", scopes: ["read"] }
      })
  },
  "the issuer's profile": {
    takes: ["access token"],
    enter: (secret, browser) => browser.visit("/oauth/userinfo", { headers: { authorization: `Bearer ${secret}` } })
  },
  "the code grant": {
    takes: ["authorization code"],
    enter: form("/oauth/token", (code) => ({ grant_type: "authorization_code", code, redirect_uri: redirectUri }))
  },
  "the refresh grant": {
    takes: ["refresh token"],
    enter: form("/oauth/token", (token) => ({ grant_type: "refresh_token", refresh_token: token }))
  },
  "the device grant": {
    takes: [],
    enter: form("/oauth/token", (code) => ({ grant_type: device, device_code: code }))
  },
  "the issuer's client": {
    takes: ["client secret"],
    enter: (secret, browser) =>
      browser.form(
        "/oauth/introspect",
        { token: "x" },
        { authorization: `Basic ${Buffer.from(`web:${encodeURIComponent(secret)}`).toString("base64")}` }
      )
  },
  "setup with a password": {
    takes: ["setup link"],
    enter: (secret, browser) => browser.act("/auth/setup", { secret, password: "a password of the attacker" })
  },
  "setup with a passkey": {
    takes: ["setup link"],
    enter: (secret, browser) => browser.act("/auth/setup/passkey-options", { secret })
  },
  "a look at a setup link": {
    takes: ["setup link"],
    enter: (secret, browser) => browser.act("/auth/setup/link", { secret })
  },
  "sign-up by invitation": {
    takes: ["invitation"],
    enter: (secret, browser) =>
      browser.act("/auth/invitations/sign-up", {
        secret,
        email: "attacker@example.test",
        password: "a password of the attacker"
      })
  },
  "a look at an invitation": {
    takes: ["invitation"],
    enter: (secret, browser) => browser.act("/api/v1/invitations/inspect", { secret })
  },
  "the agents' door": {
    takes: ["agent session"],
    enter: (secret, browser) =>
      browser.visit(`/agent/v1/runs/run_${"a".repeat(24)}/1/job/sha256:${"0".repeat(64)}`, {
        headers: { authorization: `Bearer ${secret}` }
      })
  },
  "a webhook": {
    takes: [],
    enter: (secret, browser) =>
      browser.visit(`/hooks/sources/src_${"a".repeat(24)}`, { headers: { "x-gitlab-token": secret }, body: {} })
  },
  "a setup ticket": {
    takes: [],
    enter: (secret, browser) => browser.act("/install/setup-tickets/redeem", { ticket: secret })
  },
  "an upstream answer": {
    takes: ["upstream sign-in"],
    enter: (secret, browser) =>
      browser.visit("/auth/upstream/callback?code=c&state=s", { headers: { cookie: `__Host-svc_upstream=${secret}` } })
  }
} satisfies Record<string, { readonly takes: ReadonlyArray<string>; readonly enter: Entrance }>

/** Credentials that belong to a person or grant access to the account. */
const ofPerson = new Set([
  "session",
  "personal token",
  "token for reading",
  "access token",
  "refresh token",
  "authorization code",
  "setup link"
])

const isRefusal = (status: number) => status >= 400 && status < 500 && status !== 429

it.live("each kind of credential works only on its own routes, and stops working once its owner is locked out", () =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const folder = yield* files.makeTempDirectoryScoped({ prefix: "svc-matrix-" })
    const oidcClientsFile = `${folder}/clients.json`
    yield* files.writeFileString(oidcClientsFile, JSON.stringify(clients), { mode: 0o600 })
    const server = yield* attackedServer({ oidcClientsFile })
    const { services } = server
    const ann = yield* server.person("ann", { operator: true })
    const subject = (yield* Context.get(services, Users).findByEmail("ann@example.test")).pipe(
      (found) => (found._tag === "Some" ? found.value.subject : undefined),
      (found) => found ?? ann
    )
    const owner = browserAt(server.url)
    yield* attempt(() => signInAs(owner, "ann"))
    const made = yield* attempt(() =>
      owner.visit("/api/v1/workspaces", {
        headers: { ...fromOwnPage, "idempotency-key": "matrix" },
        body: { handle: "acme", displayName: "Acme" }
      })
    )
    const workspaceId: string = JSON.parse(made.text).workspace.id
    const invited = yield* attempt(() =>
      owner.visit(`/api/v1/workspaces/${workspaceId}/invitations`, {
        headers: { ...fromOwnPage, "idempotency-key": "matrix" },
        body: { role: "member" }
      })
    )

    const tokens = Context.get(services, AccessTokens)
    const pools = Context.get(services, Pools)
    const client = Context.get(services, StaticClients).clients.get("web") ?? (yield* Effect.die("no client"))
    const [session] = yield* server.sql`SELECT id FROM account_sessions WHERE subject = ${ann} AND revoked_at IS NULL`
    const codeFor = Context.get(services, Authorizations).authorize({
      client,
      decider: { subject, sessionId: String(session?.["id"]), authTime: 0 },
      grant: {
        scopes: ["openid", "offline_access", "read", "write"],
        claims: noClaims,
        workspaceId: undefined,
        resource: undefined
      },
      code: { redirectUri, codeChallenge: undefined, nonce: undefined },
      requestId: "req_matrix"
    })
    const granted = yield* Context.get(services, TokenService).exchangeCode(
      client,
      { code: yield* codeFor, redirectUri, verifier: undefined },
      undefined
    )
    const pat = (scopes: ReadonlyArray<string>) =>
      Effect.map(tokens.create(serviceContext, subject, { name: "matrix", scopes }), ({ secret }) => secret)
    yield* pools.create("far", {})
    const enrolment = () => pools.token("far", { uses: 1, lifetime: Duration.hours(1) })
    const agent = yield* testAgent(server.url, (yield* enrolment()).secret, { version: "0.1.0" })
    yield* agent.hello()
    const begun = yield* attempt(() =>
      owner.form("/oauth/device_authorization", { client_id: "web", client_secret: clientSecret, scope: "openid" }, {})
    )
    const { device_code, user_code } = JSON.parse(begun.text)
    const plain = (secret: Redacted.Redacted | string) => (typeof secret === "string" ? secret : Redacted.value(secret))
    const credentials: Readonly<Record<string, string>> = {
      session: owner.jar.get(sessionCookie) ?? "",
      "personal token": plain(yield* pat(["read", "write"])),
      "token for reading": plain(yield* pat(["read"])),
      "access token": plain(granted.accessToken),
      "refresh token": plain(granted.refreshToken ?? ""),
      "ID token": plain(granted.idToken ?? ""),
      "authorization code": plain(yield* codeFor),
      "device code": device_code,
      "user code": user_code,
      "client secret": clientSecret,
      "setup link": plain((yield* Context.get(services, SetupLinks).issueReset(subject)).secret),
      invitation: new URL(JSON.parse(invited.text).link).hash.slice(1),
      "address link": plain(
        (yield* Context.get(services, AddressChanges).issue(subject, "new@example.test", "operator")).secret
      ),
      "upstream sign-in": plain((yield* Context.get(services, UpstreamSignIns).begin({ returnPath: "/" })).secret),
      "enrolment token": plain((yield* enrolment()).secret),
      "agent session": yield* agent.token,
      "known device": owner.jar.get("__Host-svc_device") ?? "",
      "id of the session": String(session?.["id"]),
      "subject of the person": ann,
      "a hook secret": randomBytes(32).toString("base64url")
    }
    for (const [kind, secret] of Object.entries(credentials)) expect([kind, secret.length > 5]).toEqual([kind, true])

    const before = yield* server.sql`SELECT
      (SELECT count(*) FROM users) AS users, (SELECT count(*) FROM access_tokens) AS tokens,
      (SELECT count(*) FROM account_sessions) AS sessions, (SELECT count(*) FROM agents) AS agents`
    let attempts = 0
    for (const [entrance, { enter, takes }] of Object.entries(entrances)) {
      for (const [kind, secret] of Object.entries(credentials)) {
        if ((takes as ReadonlyArray<string>).includes(kind)) continue
        attempts += 1
        const browser = browserAt(server.url)
        const { status } = yield* attempt(() => enter(secret, browser))
        expect([entrance, kind, status, isRefusal(status)]).toEqual([entrance, kind, status, true])
        expect([entrance, kind, browser.jar.has(sessionCookie)]).toEqual([entrance, kind, false])
      }
    }
    // The agent protocol rejects every message without the agent's session, with an error that only this protocol uses.
    for (const [kind, secret] of Object.entries(credentials)) {
      attempts += 2
      const headers = { authorization: `Bearer ${secret}` }
      const next = yield* agent.unchecked("Start", { runId: `run_${"a".repeat(24)}`, fence: 1 }, headers)
      if (kind !== "agent session") expect([kind, next.text]).toEqual([kind, expect.stringContaining("Unauthorised")])
      const { facts, keys } = agent
      const enrol = yield* agent.unchecked("Enrol", { token: secret, name: "evil", keys, facts }, headers)
      if (kind !== "enrolment token")
        expect([kind, enrol.text]).toEqual([kind, expect.stringContaining("Unauthorised")])
    }
    const after = yield* server.sql`SELECT
      (SELECT count(*) FROM users) AS users, (SELECT count(*) FROM access_tokens) AS tokens,
      (SELECT count(*) FROM account_sessions) AS sessions, (SELECT count(*) FROM agents) AS agents`
    expect(after).toEqual(before)
    expect(attempts).toBeGreaterThan(400)

    // Each route group accepts the right credential, so every refusal is caused by the credential.
    const own = (name: keyof typeof entrances, kind: string) =>
      attempt(() => entrances[name].enter(credentials[kind] ?? "", browserAt(server.url)))
    expect((yield* own("API as a bearer", "personal token")).status).toBe(200)
    expect((yield* own("API as a bearer", "access token")).status).toBe(200)
    expect((yield* own("API as a cookie", "session")).status).toBe(200)
    expect((yield* own("the issuer's profile", "access token")).status).toBe(200)
    expect((yield* own("a look at a setup link", "setup link")).text).toContain('"live"')

    // Locking the account invalidates every credential of the person.
    yield* Context.get(services, Users).setStatus(serviceContext, subject, "disabled")
    for (const [entrance, { enter, takes }] of Object.entries(entrances)) {
      for (const kind of takes as ReadonlyArray<string>) {
        if (!ofPerson.has(kind)) continue
        const { status } = yield* attempt(() => enter(credentials[kind] ?? "", browserAt(server.url)))
        expect([entrance, kind, status, isRefusal(status)]).toEqual([entrance, kind, status, true])
      }
    }
  }).pipe(Effect.provide(quietPlatform))
)
