import { expect } from "bun:test"
import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Departure } from "../../../schema/records/Departure.ts"
import { AccountToken } from "../../../schema/records/AccountToken.ts"
import { ProjectId, type WorkspaceId } from "../../../schema/records/Ids.ts"
import { Member, type Role } from "../../../schema/records/Workspace.ts"
import { AccessTokens } from "../../../actors/access/account/AccessTokens.ts"
import { as, joinWorkspace, newPerson, newWorkspace } from "../../support/Accounts.ts"
import { it } from "../../support/Effect.ts"
import { AccountServer, bearer, call, fromPage, openSession } from "./support/AccountServer.ts"

const fresh = Effect.provide(Layer.fresh(AccountServer.layer))
const farEnough = "1970-02-01T00:00:00.000Z"

const person = Effect.fnUntraced(function* (name: string) {
  const { subject } = yield* newPerson(name)
  const { secret } = yield* openSession(subject)
  return { subject, headers: fromPage(secret) }
})

const team = Effect.gen(function* () {
  const owner = yield* person("owner")
  const { id } = yield* newWorkspace(owner.subject, { handle: "acme" })
  const join = Effect.fnUntraced(function* (name: string, role: Role) {
    const joined = yield* person(name)
    yield* joinWorkspace(owner.subject, id, joined.subject, role)
    return joined
  })
  return { id, owner, admin: yield* join("admin", "admin"), member: yield* join("member", "member") }
})

type Headers = Readonly<Record<string, string>>
const membersOf = (id: WorkspaceId) => `/api/v1/workspaces/${id}/members`

const Added = Schema.Struct({ member: Member, link: Schema.optionalKey(Schema.String) })
const newAutomation = Effect.fnUntraced(function* (id: WorkspaceId, headers: Headers) {
  const made = yield* call(membersOf(id), { body: { automation: "deploy", role: "member" }, headers })
  expect(made.status).toBe(201)
  const { link, member } = yield* Schema.decodeUnknownEffect(Added)(made.json)
  expect([member.kind, link]).toEqual(["automation", undefined])
  return member.subject
})

const Created = Schema.Struct({ token: Schema.String, tokenRecord: AccountToken })
const newToken = Effect.fnUntraced(function* (path: string, headers: Headers, ...limits: ReadonlyArray<string>) {
  const body = { name: "ci", scopes: ["read", "write", ...limits], expiresAt: farEnough }
  const made = yield* call(path, { body, headers })
  expect(made.status).toBe(201)
  return yield* Schema.decodeUnknownEffect(Created)(made.json)
})

it.effect("an automation's token is shown once, works only in its Workspace, and stops working when revoked", () =>
  Effect.gen(function* () {
    const { admin, id, owner } = yield* team
    const subject = yield* newAutomation(id, admin.headers)
    const path = `${membersOf(id)}/${subject}/tokens`
    const { token, tokenRecord } = yield* newToken(path, admin.headers)
    expect(tokenRecord).toMatchObject({ subject, workspace_id: id, expires_at: farEnough, last_used_at: null })

    expect((yield* call(`/api/v1/workspaces/${id}`, { headers: bearer(token) })).json).toMatchObject({
      workspace: { role: "member" }
    })
    const elsewhere = yield* newWorkspace(owner.subject, { handle: "other" })
    const answers = yield* Effect.forEach(
      [
        call(`/api/v1/workspaces/${elsewhere.id}`, { headers: bearer(token) }),
        call("/api/v1/workspaces", { body: { handle: "mine" }, headers: bearer(token) }),
        call("/api/v1/account/tokens", { headers: bearer(token) }),
        call("/api/v1/invitations/accept", { body: { secret: "x" }, headers: bearer(token) }),
        call(path, { body: { name: "x", scopes: ["read"], expiresAt: farEnough }, headers: bearer(token) }),
        call("/auth/session", { headers: { "x-svc-account-session": token } })
      ],
      Effect.map(({ status }) => status)
    )
    expect(answers).toEqual([403, 403, 403, 403, 403, 401])

    const listed = yield* call(path, { headers: owner.headers })
    expect(listed.json).toMatchObject({ tokens: [{ token_id: tokenRecord.token_id, revoked_at: null }] })
    expect(listed.raw).not.toContain(token)
    const revoke = `${path}/${tokenRecord.token_id}/revoke`
    expect((yield* call(revoke, { body: {}, headers: owner.headers })).status).toBe(200)
    expect((yield* call(`/api/v1/workspaces/${id}`, { headers: bearer(token) })).status).toBe(401)
    expect((yield* call(revoke, { body: {}, headers: owner.headers })).status).toBe(200)
  }).pipe(fresh)
)

it.effect(
  "automation tokens need an expiry and scopes from the catalogue, and have the same limits as other tokens",
  () =>
    Effect.gen(function* () {
      const { id, owner } = yield* team
      const path = `${membersOf(id)}/${yield* newAutomation(id, owner.headers)}/tokens`
      const nowhere = ProjectId.make(`prj_${"z".repeat(24)}`)
      const refused = [
        { name: "x", scopes: ["read"] },
        { name: "x", scopes: ["read"], expiresAt: "1971-02-01T00:00:00.000Z" },
        { name: "x", scopes: ["read"], expiresAt: "1969-02-01T00:00:00.000Z" },
        { name: "x", scopes: ["admin"], expiresAt: farEnough },
        { name: "x", scopes: ["environment:production"], expiresAt: farEnough },
        { name: "x", scopes: ["read", "environment:Not Valid"], expiresAt: farEnough },
        { name: "x", scopes: ["read", "project:everything"], expiresAt: farEnough },
        { name: "x", scopes: ["read", `project:${nowhere}`], expiresAt: farEnough }
      ]
      const statuses = yield* Effect.forEach(refused, (body) =>
        Effect.map(call(path, { body, headers: owner.headers }), ({ status }) => status)
      )
      expect(new Set(statuses)).toEqual(new Set([400]))
      // The same rules apply to a person's limited tokens, which must also be bound to a Workspace.
      const own = (body: object) => call("/api/v1/account/tokens", { body, headers: owner.headers })
      const scopes = ["read", "environment:production"]
      expect((yield* own({ name: "x", scopes })).status).toBe(400)
      const bound = yield* own({ name: "x", scopes, workspace_id: id })
      expect(bound).toMatchObject({ status: 201, json: { token_record: { scopes } } })
    }).pipe(fresh)
)

it.effect("only owners and admins can create and revoke automation tokens, and only in their own Workspace", () =>
  Effect.gen(function* () {
    const { id, member, owner } = yield* team
    const subject = yield* newAutomation(id, owner.headers)
    const path = `${membersOf(id)}/${subject}/tokens`
    const body = { name: "x", scopes: ["read"], expiresAt: farEnough }
    expect((yield* call(path, { body, headers: member.headers })).status).toBe(403)
    const { tokenRecord } = yield* newToken(path, owner.headers)
    const revoke = `${path}/${tokenRecord.token_id}/revoke`
    expect((yield* call(revoke, { body: {}, headers: member.headers })).status).toBe(403)
    // Other people cannot see a person's tokens.
    for (const of of [member.subject, owner.subject, "usr_unknown"]) {
      expect((yield* call(`${membersOf(id)}/${of}/tokens`, { body, headers: owner.headers })).status).toBe(404)
      expect((yield* call(`${membersOf(id)}/${of}/tokens`, { headers: owner.headers })).status).toBe(404)
    }
    const elsewhere = yield* newWorkspace(member.subject, { handle: "other" })
    const foreign = `${membersOf(elsewhere.id)}/${subject}/tokens`
    expect((yield* call(foreign, { body, headers: member.headers })).status).toBe(404)
    expect(
      (yield* call(`${foreign}/${tokenRecord.token_id}/revoke`, { body: {}, headers: member.headers })).status
    ).toBe(404)
  }).pipe(fresh)
)

it.effect("suspending an automation disables its tokens at once, and reactivating it enables them again", () =>
  Effect.gen(function* () {
    const { id, owner } = yield* team
    const subject = yield* newAutomation(id, owner.headers)
    const path = `${membersOf(id)}/${subject}/tokens`
    const { token } = yield* newToken(path, owner.headers)
    const set = (status: string) =>
      call(`${membersOf(id)}/${subject}`, { method: "PATCH", body: { status }, headers: owner.headers })
    const use = Effect.map(call(`/api/v1/workspaces/${id}`, { headers: bearer(token) }), ({ status }) => status)
    expect(yield* use).toBe(200)
    yield* set("suspended")
    expect(yield* use).toBe(403)
    const body = { name: "x", scopes: ["read"], expiresAt: farEnough }
    expect((yield* call(path, { body, headers: owner.headers })).status).toBe(403)
    yield* set("active")
    expect(yield* use).toBe(200)
    yield* call(`${membersOf(id)}/${subject}`, { method: "DELETE", headers: owner.headers })
    yield* set("active")
    expect(yield* use).toBe(401)
  }).pipe(fresh)
)

it.effect("the effects of a member's departure can be previewed, and the history records them", () =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { admin, id, member, owner } = yield* team
    const subject = yield* newAutomation(id, owner.headers)
    const kept = yield* newToken(`${membersOf(id)}/${subject}/tokens`, admin.headers)
    const tokens = yield* AccessTokens
    const own = (name: string, workspaceId?: WorkspaceId) =>
      tokens.create(as(admin.subject), admin.subject, { name, scopes: ["read"], workspaceId })
    const bound = yield* own("bound", id)
    const whole = yield* own("whole account")
    const gone = yield* own("revoked", id)
    yield* tokens.revoke(as(admin.subject), admin.subject, gone.token.token_id)
    const elsewhere = yield* newWorkspace(admin.subject, { handle: "other" })
    yield* own("elsewhere", elsewhere.id)
    const connectionId = `conn_${"a".repeat(24)}`
    const times = { created_at: "1970-01-01T00:00:00.000Z", updated_at: "1970-01-01T00:00:00.000Z" }
    yield* sql`INSERT INTO connections ${sql.insert({ id: connectionId, workspace_id: id, scope: "workspace", provider: "git", kind: "git_https", recipe_id: "git-https", auth_mode: "basic", display_name: "forge", status: "verified", env_names: "[]", file_names: "[]", provider_config: "{}", module_input_defaults: "{}", ...times })}`
    const source = {
      workspace_id: id,
      url: "https://git.example.test/app.git",
      default_ref: "HEAD",
      default_path: ".",
      auto_sync: 0,
      status: "active",
      hook_secret: "sealed",
      auth_connection_id: connectionId,
      ...times
    }
    yield* sql`INSERT INTO sources ${sql.insert({ ...source, id: `src_${"a".repeat(24)}`, name: "app", auth_connection_by: admin.subject })}`
    yield* sql`INSERT INTO sources ${sql.insert({ ...source, id: `src_${"b".repeat(24)}`, name: "lib", auth_connection_by: owner.subject })}`

    const path = `${membersOf(id)}/${admin.subject}/departure`
    const read = yield* call(path, { headers: owner.headers })
    expect(read.status).toBe(200)
    const { departure } = yield* Schema.decodeUnknownEffect(Schema.Struct({ departure: Departure }))(read.json)
    expect(departure.tokens.map((token) => `${token.name} ${token.id} ${token.bound}`).toSorted()).toEqual([
      `bound ${bound.token.token_id} true`,
      `whole account ${whole.token.token_id} false`
    ])
    expect(departure).toMatchObject({
      connections: [
        { connectionId, displayName: "forge", use: "sync", sourceId: `src_${"a".repeat(24)}`, name: "app" }
      ],
      keptTokens: [{ id: kept.tokenRecord.token_id, name: "ci", subject, automation: "deploy" }]
    })
    expect([departure.connections.length, departure.keptTokens.length]).toEqual([1, 1])
    // Every member can read the effects of their own departure. Only admins can read the effects of other members' departures.
    expect((yield* call(path, { headers: admin.headers })).status).toBe(200)
    expect((yield* call(path, { headers: member.headers })).status).toBe(403)

    yield* call(`${membersOf(id)}/${admin.subject}`, { method: "DELETE", headers: owner.headers })
    const history = yield* call(`/api/v1/workspaces/${id}/activity?action=member.remove`, { headers: owner.headers })
    expect(history.json).toMatchObject({
      events: [
        { data: { stoppedConnections: [connectionId], keptTokens: [kept.tokenRecord.token_id], status: "suspended" } }
      ]
    })
    expect(history.raw).toContain(bound.token.token_id)
    expect(history.raw).toContain(whole.token.token_id)
    expect(history.raw).not.toContain(gone.token.token_id)
  }).pipe(fresh)
)

it.effect("removing an automation while a token is created for it leaves no usable token", () =>
  Effect.gen(function* () {
    const { id, owner } = yield* team
    const sql = yield* SqlClient.SqlClient
    const subject = yield* newAutomation(id, owner.headers)
    const path = `${membersOf(id)}/${subject}/tokens`
    const body = { name: "x", scopes: ["read"], expiresAt: farEnough }
    const removal = call(`${membersOf(id)}/${subject}`, { method: "DELETE", headers: owner.headers })
    const making = call(path, { body, headers: owner.headers })
    yield* Effect.all([making, removal, making, making], { concurrency: "unbounded" })
    expect(yield* sql`SELECT token_id FROM access_tokens WHERE subject = ${subject} AND revoked_at IS NULL`).toEqual([])
  }).pipe(fresh)
)
