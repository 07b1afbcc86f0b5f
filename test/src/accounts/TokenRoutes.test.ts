import { expect } from "bun:test"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { AccessTokens } from "../../../actors/access/account/AccessTokens.ts"
import { ExtensionScopes } from "../../../actors/access/account/ScopeCatalog.ts"
import { Members } from "../../../actors/access/member/Members.ts"
import { as, joinWorkspace, newPerson, newWorkspace, text } from "../../support/Accounts.ts"
import { it } from "../../support/Effect.ts"
import type { WorkspaceId } from "../../../schema/records/Ids.ts"
import { withoutTable } from "./oidc/support/CapsuleFixture.ts"
import { AccountServer, bearer, type Call, call, fromPage, openSession } from "./support/AccountServer.ts"

const fresh = Effect.provide(Layer.fresh(AccountServer.layer))
const label = { ja: "対話", en: "Chat" }
const withExtension = Effect.provide(
  Layer.fresh(AccountServer.layer).pipe(
    Layer.provide(Layer.succeed(ExtensionScopes, [{ scope: "ai.chat", label, description: label }]))
  )
)
const tokens = "/api/v1/account/tokens"

const person = Effect.fnUntraced(function* (name: string) {
  const { subject } = yield* newPerson(name)
  const { secret } = yield* openSession(subject)
  return { subject, headers: fromPage(secret), secret }
})
const newToken = Effect.fnUntraced(function* (
  subject: string,
  scopes: ReadonlyArray<string>,
  workspaceId?: WorkspaceId
) {
  return yield* Effect.flatMap(AccessTokens, (of) =>
    of.create(as(subject), subject, { name: "t", scopes, workspaceId })
  )
})
const dump = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const names = ["access_tokens", "account_sessions", "audit_events", "workspaces", "memberships", "projects", "users"]
  return JSON.stringify(yield* Effect.forEach(names, (table) => sql`SELECT * FROM ${sql(table)} ORDER BY 1`))
})

it.effect(
  "creating a token shows its secret once, and the secret works as a bearer token until the token is revoked",
  () =>
    Effect.gen(function* () {
      const ann = yield* person("ann")
      const created = yield* call(tokens, { body: { name: "ci", scopes: ["read", "write"] }, headers: ann.headers })
      expect(created).toMatchObject({
        status: 201,
        json: {
          token: expect.stringMatching(/^svcp_[0-9A-Za-z]{36}$/),
          token_record: {
            subject: ann.subject,
            name: "ci",
            scopes: ["read", "write"],
            workspace_id: null,
            revoked_at: null
          }
        }
      })
      const [secret = "", id = ""] = [/svcp_\w+/.exec(created.raw)?.[0], /pat_\w+/.exec(created.raw)?.[0]]
      const current = yield* call(`${tokens}/current`, { headers: bearer(secret) })
      expect(current).toMatchObject({
        status: 200,
        json: { kind: "svc.account-pat-authority@v1", token_id: id, workspace_role: null }
      })
      expect((yield* call("/api/v1/workspaces", { headers: bearer(secret) })).status).toBe(200)
      for (const path of [tokens, `${tokens}/inventory.v1`]) {
        expect((yield* call(path, { headers: ann.headers })).raw).not.toContain(secret)
      }
      const revoked = yield* call(`${tokens}/${id}/revoke`, { body: {}, headers: ann.headers })
      expect(revoked).toMatchObject({
        status: 200,
        json: { token_record: { token_id: id, revoked_at: expect.any(String) } }
      })
      expect((yield* call("/api/v1/workspaces", { headers: bearer(secret) })).json).toMatchObject({
        error: { code: "invalid_token" }
      })
      expect((yield* call(`${tokens}/current`, { headers: bearer(secret) })).status).toBe(401)
    }).pipe(fresh)
)

it.effect("responses of token routes are never cacheable, regardless of their status", () =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const ann = yield* person("ann")
    const { secret } = yield* newToken(ann.subject, ["read"])
    const calls: ReadonlyArray<readonly [status: number, path: string, options?: Call]> = [
      [200, tokens, { headers: ann.headers }],
      [200, `${tokens}/scopes`, { headers: ann.headers }],
      [200, `${tokens}/inventory.v1`, { headers: ann.headers }],
      [200, `${tokens}/current`, { headers: bearer(secret) }],
      [201, tokens, { body: { name: "x", scopes: ["read"] }, headers: ann.headers }],
      [400, tokens, { body: { name: "x" }, headers: ann.headers }],
      [400, tokens, { body: { name: "x", scopes: ["admin"] }, headers: ann.headers }],
      [400, `${tokens}/inventory.v1?limit=0`, { headers: ann.headers }],
      [400, `${tokens}/inventory.v1?cursor=x`, { headers: ann.headers }],
      [401, tokens],
      [401, `${tokens}/current`],
      [401, `${tokens}/current`, { headers: bearer("svcp_x") }],
      [403, tokens, { headers: bearer(secret) }],
      [404, `${tokens}/pat_${"a".repeat(24)}/revoke`, { body: {}, headers: ann.headers }],
      [404, `${tokens}/unknown/route`, { headers: ann.headers }],
      [405, tokens, { method: "DELETE", headers: ann.headers }],
      [405, `${tokens}/current`, { body: {}, headers: bearer(secret) }],
      [413, tokens, { body: { name: "x".repeat(2_000_000), scopes: ["read"] }, headers: ann.headers }],
      [415, tokens, { body: "a=b", headers: { ...ann.headers, "content-type": "text/plain" } }]
    ]
    const check = Effect.fnUntraced(function* (status: number, path: string, options?: Call) {
      const answer = yield* call(path, options)
      expect([path, answer.status]).toEqual([path, status])
      expect([answer.headers.get("cache-control"), answer.headers.get("pragma")]).toEqual(["no-store", "no-cache"])
    })
    for (const [status, path, options] of calls) yield* check(status, path, options)
    yield* sql`UPDATE access_tokens SET scopes = 'not json'`
    yield* check(500, `${tokens}/inventory.v1`, { headers: ann.headers })
  }).pipe(fresh)
)

it.effect("only a session for the whole account can manage tokens", () =>
  Effect.gen(function* () {
    const ann = yield* person("ann")
    const workspace = yield* newWorkspace(ann.subject, { handle: "acme" })
    const { secret } = yield* newToken(ann.subject, ["read", "write"])
    const confined = fromPage((yield* openSession(ann.subject, workspace.id)).secret)
    for (const headers of [bearer(secret), confined]) {
      for (const options of [{ headers }, { headers, body: { name: "x", scopes: ["read"] } }]) {
        expect((yield* call(tokens, options)).status).toBe(403)
      }
      expect((yield* call(`${tokens}/inventory.v1`, { headers })).status).toBe(403)
    }
    const crossSite = yield* call(tokens, {
      body: { name: "x", scopes: ["read"] },
      headers: { ...ann.headers, "sec-fetch-site": "cross-site" }
    })
    expect(crossSite).toMatchObject({ status: 403, json: { error: { code: "csrf_failed" } } })
  }).pipe(fresh)
)

it.effect("another account's token can be neither found nor revoked", () =>
  Effect.gen(function* () {
    const ann = yield* person("ann")
    const bob = yield* person("bob")
    const { secret, token } = yield* newToken(ann.subject, ["read"])
    expect((yield* call(`${tokens}/${token.token_id}/revoke`, { body: {}, headers: bob.headers })).status).toBe(404)
    expect((yield* call(tokens, { headers: bob.headers })).json).toEqual({ tokens: [] })
    expect((yield* call(`${tokens}/current`, { headers: bearer(secret) })).status).toBe(200)
  }).pipe(fresh)
)

it.effect("the token inventory accepts only limit and cursor, once each", () =>
  Effect.gen(function* () {
    const ann = yield* person("ann")
    for (let n = 0; n < 3; n++) yield* newToken(ann.subject, ["read"])
    const ask = (query: string) => call(`${tokens}/inventory.v1${query}`, { headers: ann.headers })
    expect(yield* ask("")).toMatchObject({
      status: 200,
      json: { total: 3, returned: 3, limit: 50, truncated: false, next_cursor: null }
    })
    const first = yield* ask("?limit=2")
    expect(first).toMatchObject({ status: 200, json: { total: 3, returned: 2, limit: 2, truncated: true } })
    const cursor = /"next_cursor":"([^"]+)"/.exec(first.raw)?.[1]
    expect((yield* ask(`?limit=2&cursor=${cursor}`)).json).toMatchObject({ total: 3, returned: 1, next_cursor: null })
    const wrong = [
      "?limit=0",
      "?limit=101",
      "?limit=-1",
      "?limit=1e1",
      "?limit=0x10",
      "?limit=%201",
      "?limit=",
      "?limit=1&limit=2"
    ]
    for (const query of [
      ...wrong,
      "?foo=1",
      "?subject=x",
      `?cursor=${cursor}&cursor=${cursor}`,
      "?cursor=",
      "?cursor=%00"
    ]) {
      expect([query, (yield* ask(query)).status]).toEqual([query, 400])
    }
  }).pipe(fresh)
)

it.effect("the scope catalogue matches the published contract", () =>
  Effect.gen(function* () {
    const ann = yield* person("ann")
    const { json } = yield* call(`${tokens}/scopes`, { headers: ann.headers })
    expect(json).toMatchObject({
      kind: "svc.account-pat-scope-catalog@v1",
      scopes: [
        { scope: "read", selfService: true, workspaceBinding: "optional", label: { ja: "読み取り", en: "Read" } },
        { scope: "write", selfService: true, workspaceBinding: "optional" }
      ]
    })
  }).pipe(fresh)
)

it.effect("the current-authority route reads only the Authorization header, and changes nothing", () =>
  Effect.gen(function* () {
    const ann = yield* person("ann")
    const { secret } = yield* newToken(ann.subject, ["read"])
    const session = text(ann.secret)
    const before = yield* dump
    const nobody: ReadonlyArray<Call> = [
      { headers: ann.headers },
      { headers: { "x-svc-account-session": session } },
      { headers: { ...ann.headers, "x-svc-account-session": session } },
      { headers: bearer(ann.secret) },
      { headers: { authorization: `Bearer ${text(secret)}, Bearer ${text(secret)}` } },
      { headers: { authorization: `Basic ${btoa(`x:${text(secret)}`)}` } },
      { headers: { authorization: `Bearer  ${text(secret)}` } },
      { headers: { authorization: text(secret) } },
      { headers: { authorization: `Bearer ${"a".repeat(8192)}` } }
    ]
    const query = `?access_token=${text(secret)}&token=${text(secret)}&access_token=x`
    for (const options of [{}, ...nobody]) {
      for (const path of [`${tokens}/current`, `${tokens}/current${query}`]) {
        const answer = yield* call(path, options)
        expect(answer).toMatchObject({ status: 401, json: { error: { code: "invalid_token" } } })
        expect(answer.headers.get("www-authenticate")).toBe('Bearer realm="svc", error="invalid_token"')
      }
    }
    expect((yield* call(`${tokens}/current?access_token=x`, { headers: bearer(secret) })).status).toBe(200)
    // If the request has a bearer token, svc ignores its cookies, even invalid cookies.
    const beside = { ...bearer(secret), cookie: "svc_session=bad", "x-svc-account-session": "bad" }
    expect((yield* call(`${tokens}/current`, { headers: beside })).status).toBe(200)
    expect(yield* dump).toBe(before)
  }).pipe(fresh)
)

it.effect("a bound token shows its Workspace and current role, and gets 403 once the membership ends", () =>
  Effect.gen(function* () {
    const members = yield* Members
    const owner = yield* person("owner")
    const ann = yield* person("ann")
    const workspace = yield* newWorkspace(owner.subject, { handle: "acme" })
    const scope = { workspaceId: workspace.id, acting: { subject: owner.subject } }
    yield* joinWorkspace(owner.subject, workspace.id, ann.subject)
    const { secret } = yield* newToken(ann.subject, ["read"], workspace.id)
    const current = call(`${tokens}/current`, { headers: bearer(secret) })
    expect((yield* current).json).toMatchObject({ workspace_id: workspace.id, workspace_role: "member" })
    expect((yield* call(`/api/v1/workspaces/${workspace.id}`, { headers: bearer(secret) })).status).toBe(200)
    yield* members.remove(as(owner.subject), scope, ann.subject)
    expect(yield* current).toMatchObject({ status: 403, json: { error: { code: "workspace_membership_inactive" } } })
    expect((yield* call(`/api/v1/workspaces/${workspace.id}`, { headers: bearer(secret) })).status).toBe(403)
  }).pipe(fresh)
)

it.effect("a request gets 503 if its token's authority cannot be read, and the token remains valid", () =>
  Effect.gen(function* () {
    const ann = yield* person("ann")
    const workspace = yield* newWorkspace(ann.subject, { handle: "acme" })
    const { secret } = yield* newToken(ann.subject, ["read"], workspace.id)
    const unreadable = yield* withoutTable("memberships", call(`${tokens}/current`, { headers: bearer(secret) }))
    expect(unreadable).toMatchObject({ status: 503, json: { error: { code: "verification_unavailable" } } })
    expect([unreadable.headers.get("cache-control"), unreadable.headers.get("pragma")]).toEqual([
      "no-store",
      "no-cache"
    ])
    expect((yield* call(`${tokens}/current`, { headers: bearer(secret) })).status).toBe(200)
  }).pipe(fresh)
)

it.effect("an extension's scope can be granted, and gives access to no core route", () =>
  Effect.gen(function* () {
    const ann = yield* person("ann")
    const workspace = yield* newWorkspace(ann.subject, { handle: "acme" })
    const { json } = yield* call(`${tokens}/scopes`, { headers: ann.headers })
    expect(json).toMatchObject({
      scopes: [{ scope: "read" }, { scope: "write" }, { scope: "ai.chat", workspaceBinding: "required" }]
    })
    const create = (body: object) => call(tokens, { headers: ann.headers, body: { name: "t", ...body } })
    expect((yield* create({ scopes: ["ai.chat"] })).status).toBe(400)
    const created = yield* create({ scopes: ["ai.chat"], workspace_id: workspace.id })
    const [secret = ""] = /svcp_\w+/.exec(created.raw) ?? []
    const current = yield* call(`${tokens}/current`, { headers: bearer(secret) })
    expect(current).toMatchObject({ status: 200, json: { scopes: ["ai.chat"], workspace_role: "owner" } })
    const refused = yield* call(`/api/v1/workspaces/${workspace.id}`, { headers: bearer(secret) })
    expect(refused).toMatchObject({ status: 403, json: { error: { code: "insufficient_scope" } } })
    expect(refused.headers.get("www-authenticate")).toBe('Bearer realm="svc", error="insufficient_scope"')
  }).pipe(withExtension)
)
