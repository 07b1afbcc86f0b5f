import { afterAll, beforeEach, describe, expect, setDefaultTimeout } from "bun:test"
import { generateKeyPairSync } from "node:crypto"
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { platform } from "../../../src/composition/Platform.ts"
import { suite } from "../../support/Effect.ts"
import { type FakeApp, fakeGitHub } from "../../support/forge/FakeGitHub.ts"
import { type ForgeState, forgeState } from "../../support/forge/ForgeState.ts"
import { origin, type Person, serve, type Served, visitor } from "./support/OAuthWorld.ts"

setDefaultTimeout(60_000)

const { privateKey, publicKey } = generateKeyPairSync("rsa", {
  modulusLength: 2048,
  publicKeyEncoding: { type: "spki", format: "pem" },
  privateKeyEncoding: { type: "pkcs1", format: "pem" }
})
const webhookSecret = "canary-webhook-secret-of-the-app"
const clientSecret = "canary-client-secret-of-the-app"

/** A server whose network policy permits a fake GitHub, and the owner of a Workspace. */
class World extends Context.Service<
  World,
  {
    readonly served: Served
    readonly owner: Person
    readonly workspaceId: string
    readonly handle: string
    readonly state: ForgeState
    readonly app: FakeApp
    readonly github: string
  }
>()("test/src/http/GitHubApps/World") {
  static readonly layer = Layer.effect(
    World,
    Effect.gen(function* () {
      const state = forgeState()
      const app: FakeApp = {
        id: "12345",
        installationId: "678",
        installed: false,
        slug: "svc-team",
        publicKey,
        permissions: { contents: "read", pull_requests: "write", checks: "write", metadata: "read" },
        lifetime: 3_600_000,
        now: () => Date.now()
      }
      state.accounts.set("svc-team[bot]", { id: 9, login: "svc-team[bot]" })
      const github = yield* fakeGitHub(state, app)
      const served = yield* serve({ baseUrl: origin, gitAllowOrigins: github })
      const owner = yield* visitor(served, "owner", "__Host-svc_session")
      const [workspace] = (yield* owner.send("/api/v1/dashboard/bootstrap")).json().workspaces
      return { served, owner, workspaceId: workspace.id, handle: workspace.handle, state, app, github }
    })
  ).pipe(Layer.provideMerge(platform))
}

const tests = suite(World.layer)
afterAll(tests.dispose)
beforeEach(() =>
  tests.runPromise(
    Effect.map(World, ({ app, state }) => {
      app.installed = false
      state.createdApps.clear()
      state.calls.length = 0
      state.troubles.length = 0
    })
  )
)

const start = "/api/v1/connections/github-app/start"
const database = Effect.map(World, ({ served }) => Context.get(served.services, SqlClient.SqlClient))

/** Starts a registration and lets the person create the App on GitHub. Returns the query of GitHub's redirect to svc. */
const created = Effect.fnUntraced(function* (more: Readonly<Record<string, unknown>> = {}) {
  const { github, owner, state, workspaceId } = yield* World
  const answer = yield* owner.post(start, { workspaceId, origin: github, ...more })
  expect([answer.status, answer.text]).toEqual([200, expect.stringContaining("formUrl")])
  const started = answer.json()
  const code = `code-${crypto.randomUUID()}`
  state.createdApps.set(code, {
    id: 12_345,
    slug: "svc-team",
    pem: privateKey,
    webhook_secret: webhookSecret,
    client_id: "Iv1.client",
    client_secret: clientSecret
  })
  const query = new URLSearchParams({ code, state: new URL(started.formAction).searchParams.get("state") ?? "" })
  return { started, query }
})

const callback = (query: URLSearchParams) => `/api/v1/connections/github-app/callback?${query.toString()}`
const returned = (person: Person, query: URLSearchParams, headers: Readonly<Record<string, string>> = {}) =>
  person.send(callback(query), { headers: { accept: "application/json", "sec-fetch-site": "cross-site", ...headers } })

const connections = Effect.gen(function* () {
  const sql = yield* database
  const [row] = yield* sql<{ count: number }>`SELECT COUNT(*) AS count FROM connections`
  return row?.count
})

/** Returns all text that the server stores. */
const stored = Effect.gen(function* () {
  const sql = yield* database
  const rows = [
    yield* sql`SELECT * FROM connections`,
    yield* sql`SELECT * FROM audit_events`,
    yield* sql`SELECT * FROM connection_authorizations`
  ]
  return JSON.stringify(rows)
})

const readManifest = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Record(Schema.String, Schema.Json)))

describe("registration of a GitHub App", () => {
  tests.live(
    "a GitHub App is registered with the fewest permissions, and its Connection works after the installation",
    () =>
      Effect.gen(function* () {
        const { app, github, handle, owner } = yield* World
        const { query, started } = yield* created({ displayName: "Comments" })
        expect(started).toMatchObject({
          formAction: `${github}/settings/apps/new?state=${query.get("state")}`,
          manifest: {
            name: `svc-${handle}`.slice(0, 34),
            url: origin,
            redirect_url: `${origin}/api/v1/connections/github-app/callback`,
            public: false,
            default_permissions: { contents: "read", pull_requests: "write", checks: "write", metadata: "read" },
            default_events: []
          }
        })
        const landed = yield* returned(owner, query, { accept: "text/html" })
        expect([landed.status, landed.headers.get("location")]).toEqual([
          303,
          `${origin}/w/${handle}/connections?connected=${started.connectionId}`
        ])
        const path = `/api/v1/connections/${started.connectionId}`
        expect((yield* owner.send(path)).json().connection).toMatchObject({
          kind: "forge",
          provider: "github",
          authMode: "app",
          displayName: "Comments",
          status: "pending",
          origins: [github],
          envNames: ["app_id"],
          fileNames: ["private-key.pem"]
        })
        const early = yield* owner.post(`${path}/test`, {})
        expect([early.status, early.json().error.message]).toEqual([
          409,
          expect.stringContaining("Install it at GitHub")
        ])
        app.installed = true
        const tested = yield* owner.post(`${path}/test`, {})
        expect([tested.status, tested.json().connection?.status, tested.json().tested]).toEqual([
          200,
          "verified",
          "forge"
        ])
      })
  )

  tests.live("no response, stored row or audit event contains a secret of the new App in clear text", () =>
    Effect.gen(function* () {
      const { owner, workspaceId } = yield* World
      const { query, started } = yield* created()
      const answer = yield* returned(owner, query)
      expect(answer.status).toBe(200)
      const listed = yield* owner.send(`/api/v1/connections?workspaceId=${workspaceId}`)
      const seen = [answer.text, listed.text, yield* stored].join("\n")
      expect(seen).toContain(started.connectionId)
      const keyLine = privateKey.split("\n")[3] ?? "?"
      for (const secret of [webhookSecret, clientSecret, keyLine, "PRIVATE KEY", query.get("code") ?? "?"]) {
        expect(seen).not.toContain(secret)
      }
      const sql = yield* database
      const events = yield* sql`SELECT action FROM audit_events WHERE target_id = ${started.connectionId} ORDER BY id`
      expect(events.map(({ action }) => action)).toEqual(["connection.authorize", "connection.create"])
    })
  )

  tests.live("the page with the form for a GitHub App can submit the form only to the configured GitHub server", () =>
    Effect.gen(function* () {
      const { github, owner } = yield* World
      const { started } = yield* created({ organization: "acme" })
      expect(started.formAction).toStartWith(`${github}/organizations/acme/settings/apps/new?state=`)
      const { pathname, search } = new URL(started.formUrl)
      const form = `${pathname}${search}`
      const shown = yield* owner.send(form, { headers: { accept: "text/html" } })
      expect(shown.status).toBe(200)
      expect(shown.headers.get("content-security-policy")).toContain(`form-action ${github};`)
      expect(shown.headers.get("referrer-policy")).toBe("strict-origin")
      expect(shown.text).toContain(`action="${started.formAction}"`)
      const [, manifest = ""] = /name="manifest" value="([^"]*)"/.exec(shown.text) ?? []
      expect(readManifest(manifest.replaceAll("&quot;", '"'))).toEqual(started.manifest)
      const { formAction, manifest: asked } = started
      expect((yield* owner.send(form)).json()).toEqual({ formAction, manifest: asked })
      const elsewhere = yield* owner.signIn
      expect((yield* owner.send(form, { headers: elsewhere })).status).toBe(403)
      const unknown = yield* owner.send(`${pathname}?state=svco_unknown`, { headers: { accept: "text/html" } })
      expect([unknown.status, unknown.text.includes("ten minutes")]).toEqual([409, true])
    })
  )

  tests.live("a GitHub App registration accepts the response from GitHub only once", () =>
    Effect.gen(function* () {
      const { owner, state } = yield* World
      const { query } = yield* created()
      const both = yield* Effect.all([returned(owner, query), returned(owner, query)], { concurrency: 2 })
      expect(both.map(({ status }) => status).sort()).toEqual([200, 409])
      expect((yield* returned(owner, query)).status).toBe(409)
      expect(state.calls.filter((call) => call.includes("/app-manifests/"))).toHaveLength(1)
    })
  )

  tests.live("a GitHub App registration rejects its form and the response from GitHub after ten minutes", () =>
    Effect.gen(function* () {
      const { owner, state } = yield* World
      const { query, started } = yield* created()
      const sql = yield* database
      yield* sql`UPDATE connection_authorizations SET expires_at = '2026-01-01T00:00:00.000Z'`
      const late = yield* returned(owner, query)
      expect([late.status, late.json().error.message]).toEqual([409, expect.stringContaining("ten minutes")])
      const { pathname, search } = new URL(started.formUrl)
      expect((yield* owner.send(`${pathname}${search}`)).status).toBe(409)
      expect(state.calls).toEqual([])
    })
  )

  tests.live(
    "another session or person cannot use the response for a GitHub App, and the registration remains open",
    () =>
      Effect.gen(function* () {
        const { github, owner, served, state, workspaceId } = yield* World
        const { query } = yield* created()
        const again = yield* returned(owner, query, yield* owner.signIn)
        expect([again.status, again.json().error.code]).toEqual([403, "permission_denied"])
        const mallory = yield* visitor(served, `mallory-${crypto.randomUUID()}`, "__Host-svc_session")
        expect((yield* returned(mallory, query)).status).toBe(403)
        expect((yield* mallory.post(start, { workspaceId, origin: github })).status).toBe(403)
        expect(state.calls).toEqual([])
        expect((yield* returned(owner, query)).status).toBe(200)
      })
  )

  tests.live("a response from GitHub creates nothing if the person has lost the required role", () =>
    Effect.gen(function* () {
      const { owner, state, workspaceId } = yield* World
      const sql = yield* database
      const before = yield* connections
      const role = (name: string) =>
        sql`UPDATE memberships SET role = ${name} WHERE workspace_id = ${workspaceId} AND subject = ${owner.subject}`
      const demoted = yield* created()
      yield* role("member")
      expect((yield* returned(owner, demoted.query)).status).toBe(403)
      yield* role("owner")
      expect((yield* returned(owner, demoted.query)).status).toBe(409)
      expect([yield* connections, state.calls]).toEqual([before, []])
    })
  )

  const answers: ReadonlyArray<
    readonly [name: string, status: number, change: (state: ForgeState, code: string) => void]
  > = [
    ["that does not know the code", 409, (state, code) => void state.createdApps.delete(code)],
    ["with an internal error", 503, (state) => void state.troubles.push({ kind: "status", status: 502 })],
    ["that limits requests", 503, (state) => void state.troubles.push({ kind: "secondary limit", seconds: 60 })],
    ["with a page instead of JSON", 409, (state) => void state.troubles.push({ kind: "plain text" })],
    ["that gets lost", 503, (state) => void state.troubles.push({ kind: "lost answer" })],
    ["without a key", 409, (state, code) => void state.createdApps.set(code, { id: 1 })],
    ["with a broken key", 409, (state, code) => void state.createdApps.set(code, { id: 1, pem: "no key" })]
  ]
  for (const [name, status, change] of answers) {
    tests.live(`a response from GitHub ${name} creates nothing and uses up the state`, () =>
      Effect.gen(function* () {
        const { owner, state } = yield* World
        const before = yield* connections
        const { query } = yield* created()
        const code = query.get("code") ?? ""
        change(state, code)
        const refused = yield* returned(owner, query)
        expect([refused.status, refused.json().error.message]).toEqual([
          status,
          expect.stringContaining("No Connection was made")
        ])
        expect(refused.text).not.toContain(code)
        expect((yield* returned(owner, query)).status).toBe(409)
        expect(yield* connections).toBe(before)
        expect(yield* stored).not.toContain(code)
      })
    )
  }

  tests.live("svc sends no code to GitHub if a GitHub App response has no code, two codes or a path as code", () =>
    Effect.gen(function* () {
      const { owner, state } = yield* World
      for (const codes of [[], ["a", "b"], ["../app"]]) {
        const { query } = yield* created()
        query.delete("code")
        for (const code of codes) query.append("code", code)
        expect((yield* returned(owner, query)).status).toBe(409)
      }
      expect(state.calls).toEqual([])
    })
  )

  tests.live("svc refuses to register a GitHub App at an address outside the policy, before the browser leaves", () =>
    Effect.gen(function* () {
      const { github, owner, state, workspaceId } = yield* World
      const sql = yield* database
      const open = sql`SELECT state_hash FROM connection_authorizations`
      const before = (yield* open).length
      for (const body of [
        { origin: "http://127.0.0.1:1" },
        { origin: "https://10.0.0.1" },
        { origin: "ssh://git@github.com" },
        { origin: github, organization: "../evil" },
        { origin: github, organization: "a?b" }
      ]) {
        const refused = yield* owner.post(start, { workspaceId, ...body })
        expect([refused.status, refused.json().error.code]).toEqual([400, "invalid_request"])
      }
      expect([(yield* open).length, state.calls]).toEqual([before, []])
    })
  )

  tests.live("the response to an OAuth helper cannot complete a GitHub App registration", () =>
    Effect.gen(function* () {
      const { owner, state } = yield* World
      const { query } = yield* created()
      const sql = yield* database
      yield* sql`UPDATE connection_authorizations SET helper_id = 'helper'`
      expect((yield* returned(owner, query)).status).toBe(409)
      expect(state.calls).toEqual([])
    })
  )
})
