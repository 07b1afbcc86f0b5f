import { expect } from "bun:test"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { AccessTokens } from "../../../actors/access/account/AccessTokens.ts"
import { as, joinWorkspace, newPerson, newWorkspace, text } from "../../support/Accounts.ts"
import { it } from "../../support/Effect.ts"
import type { WorkspaceId } from "../../../schema/records/Ids.ts"
import { AccountServer, bearer, call, fromPage, openSession } from "./support/AccountServer.ts"

const fresh = Effect.provide(Layer.fresh(AccountServer.layer))
const api = "/api/v1/workspaces"

const person = Effect.fnUntraced(function* (name: string) {
  const { subject } = yield* newPerson(name)
  return { subject, headers: fromPage((yield* openSession(subject)).secret) }
})
const token = Effect.fnUntraced(function* (subject: string, scopes: ReadonlyArray<string>, workspaceId?: WorkspaceId) {
  const tokens = yield* AccessTokens
  return bearer((yield* tokens.create(as(subject), subject, { name: "t", scopes, workspaceId })).secret)
})
const countOf = (table: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.map(sql<{ n: number }>`SELECT COUNT(*) AS n FROM ${sql(table)}`, ([row]) => row?.n)
  )

it.effect(
  "the first request to the Workspace list creates the personal Workspace, but a request to the inventory never does",
  () =>
    Effect.gen(function* () {
      const ann = yield* person("ann")
      const before = yield* call("/api/v1/views/workspaces.v1", { headers: ann.headers })
      expect(before.json).toEqual({
        kind: "svc.account-workspace-inventory@v1",
        workspaces: [],
        total: 0,
        returned: 0,
        limit: 100,
        truncated: false
      })
      expect(yield* countOf("workspaces")).toBe(0)
      const list = yield* call(api, { headers: ann.headers })
      expect(list).toMatchObject({
        status: 200,
        json: {
          workspaces: [{ handle: "ann", type: "personal", role: "owner" }],
          returned: 1,
          limit: 100,
          truncated: false
        }
      })
      expect(list.json).not.toHaveProperty("total")
      expect(list.json).not.toHaveProperty("nextCursor")
      expect(list.json).not.toHaveProperty("pinnedWorkspaceId")
      expect((yield* call(api, { headers: ann.headers })).json).toEqual(list.json)
      expect(yield* countOf("workspaces")).toBe(1)
    }).pipe(fresh)
)

it.effect("the Workspace list supports order, pin and total, and returns at most a hundred rows", () =>
  Effect.gen(function* () {
    const ann = yield* person("ann")
    const bob = yield* person("bob")
    const foreign = yield* newWorkspace(bob.subject, { handle: "foreign" })
    const made = yield* Effect.forEach([0, 1, 2, 3], (n) => newWorkspace(ann.subject, { handle: `ws-${n}` }))
    const ask = (query: string) => call(`${api}${query}`, { headers: ann.headers })
    const first = yield* ask("?limit=2&includeTotal=true")
    expect(first.json).toMatchObject({
      returned: 2,
      limit: 2,
      truncated: true,
      total: 5,
      nextCursor: expect.any(String)
    })
    const all = yield* ask("?order=updated_desc")
    const shown = JSON.stringify(first.json)
    const outside = made.find(({ id }) => !shown.includes(id))
    const pinned = yield* ask(`?limit=2&selectedWorkspaceId=${outside?.id}`)
    expect(pinned.json).toMatchObject({ returned: 3, limit: 2, pinnedWorkspaceId: outside?.id })
    expect(all.json).toMatchObject({ returned: 5 })
    expect((yield* ask(`?selectedWorkspaceId=${foreign.id}`)).status).toBe(403)
    for (const query of [
      "?limit=101",
      "?limit=0",
      "?order=name",
      "?includeTotal=yes",
      "?foo=1",
      "?cursor=x",
      "?limit=1&limit=2"
    ]) {
      expect([query, (yield* ask(query)).status]).toEqual([query, 400])
    }
  }).pipe(fresh)
)

it.effect("the inventory accepts only limit and cursor, and rejects credentials bound to one Workspace", () =>
  Effect.gen(function* () {
    const ann = yield* person("ann")
    const made = yield* Effect.forEach([0, 1, 2], (n) => newWorkspace(ann.subject, { handle: `ws-${n}` }))
    const view = "/api/v1/views/workspaces.v1"
    const first = yield* call(`${view}?limit=2`, { headers: ann.headers })
    expect(first.json).toMatchObject({ total: 3, returned: 2, limit: 2, truncated: true })
    const cursor = /"nextCursor":"([^"]+)"/.exec(first.raw)?.[1]
    expect((yield* call(`${view}?limit=2&cursor=${cursor}`, { headers: ann.headers })).json).toMatchObject({
      total: 3,
      returned: 1,
      truncated: false
    })
    for (const query of [
      "?limit=101",
      "?includeTotal=true",
      "?order=created_asc",
      "?foo=",
      "?cursor=x",
      "?limit=1&limit=1"
    ]) {
      expect([query, (yield* call(`${view}${query}`, { headers: ann.headers })).status]).toEqual([query, 400])
    }
    const bound = yield* token(ann.subject, ["read"], made[0]?.id)
    const confined = fromPage((yield* openSession(ann.subject, made[0]?.id)).secret)
    // Only a session for the whole account can read the inventory.
    const unbound = yield* token(ann.subject, ["read", "write"])
    for (const headers of [bound, unbound, confined]) expect((yield* call(view, { headers })).status).toBe(403)
    const inHeader = (yield* openSession(ann.subject)).secret
    const asClient = yield* call(view, { headers: { "x-svc-account-session": text(inHeader) } })
    expect(asClient).toMatchObject({ status: 200, json: { total: 3 } })
    expect((yield* call(view)).status).toBe(401)
  }).pipe(fresh)
)

it.effect("a bound credential lists and reads its Workspace, but cannot create or see another Workspace", () =>
  Effect.gen(function* () {
    const ann = yield* person("ann")
    const one = yield* newWorkspace(ann.subject, { handle: "one" })
    const two = yield* newWorkspace(ann.subject, { handle: "two" })
    const headers = yield* token(ann.subject, ["read", "write"], one.id)
    const list = yield* call(api, { headers })
    expect(list.json).toMatchObject({ workspaces: [{ id: one.id }], returned: 1 })
    expect(yield* countOf("workspaces")).toBe(2)
    expect((yield* call(`${api}/${one.id}`, { headers })).status).toBe(200)
    expect((yield* call(`${api}/${two.id}`, { headers })).status).toBe(403)
    expect((yield* call(api, { body: { handle: "three" }, headers })).status).toBe(403)
  }).pipe(fresh)
)

it.effect("a Workspace can be created and changed", () =>
  Effect.gen(function* () {
    const ann = yield* person("ann")
    const created = yield* call(api, { body: { handle: "acme", displayName: "Acme" }, headers: ann.headers })
    expect(created).toMatchObject({
      status: 201,
      json: { workspace: { handle: "acme", displayName: "Acme", type: "organization", role: "owner" } }
    })
    const id = /ws_\w+/.exec(created.raw)?.[0]
    expect((yield* call(api, { body: { handle: "acme" }, headers: ann.headers })).json).toMatchObject({
      error: { code: "failed_precondition" }
    })
    for (const handle of ["A", "a", "-ab", "has space", "a".repeat(40), "ä-b", ""]) {
      expect([handle, (yield* call(api, { body: { handle }, headers: ann.headers })).status]).toEqual([handle, 400])
    }
    const patch = (body: unknown) => call(`${api}/${id}`, { method: "PATCH", body, headers: ann.headers })
    expect((yield* patch({ archived: true })).json).toMatchObject({ workspace: { archivedAt: expect.any(String) } })
    expect((yield* patch({ displayName: "New", archived: false })).json).toMatchObject({
      workspace: { displayName: "New" }
    })
    expect((yield* patch({ handle: "other" })).status).toBe(400)
    const readOnly = yield* token(ann.subject, ["read"])
    const refused = yield* call(api, { body: { handle: "more" }, headers: readOnly })
    expect(refused).toMatchObject({ status: 403, json: { error: { code: "insufficient_scope" } } })
  }).pipe(fresh)
)

it.effect("members can be added, changed and removed within the permissions of each role", () =>
  Effect.gen(function* () {
    const owner = yield* person("owner")
    const ann = yield* person("ann")
    const { id } = yield* newWorkspace(owner.subject, { handle: "acme" })
    const members = `${api}/${id}/members`
    expect((yield* call(members, { headers: ann.headers })).status).toBe(403)
    const added = yield* call(members, { body: { subject: ann.subject, role: "admin" }, headers: owner.headers })
    expect(added).toMatchObject({
      status: 201,
      json: { member: { subject: ann.subject, role: "admin", status: "invited" } }
    })
    expect((yield* call(members, { headers: ann.headers })).status).toBe(403)
    const secret = /#(\w+)/.exec(added.raw)?.[1]
    const accepted = yield* call("/api/v1/invitations/accept", { body: { secret }, headers: ann.headers })
    expect(accepted).toMatchObject({ status: 200, json: { invitation: { status: "accepted", role: "admin" } } })
    expect((yield* call(members, { headers: ann.headers })).json).toMatchObject({ members: [{}, {}] })
    const change = (subject: string, body: unknown, headers: Record<string, string>) =>
      call(`${members}/${subject}`, { method: "PATCH", body, headers })
    expect((yield* change(ann.subject, { role: "owner" }, ann.headers)).status).toBe(403)
    expect((yield* change(owner.subject, { role: "viewer" }, owner.headers)).status).toBe(409)
    expect((yield* call(`${members}/${owner.subject}`, { method: "DELETE", headers: owner.headers })).status).toBe(409)
    expect((yield* change(ann.subject, { role: "viewer" }, owner.headers)).json).toMatchObject({
      member: { role: "viewer" }
    })
    expect((yield* call(members, { body: { email: "x@example.com" }, headers: ann.headers })).status).toBe(403)
    const removed = yield* call(`${members}/${ann.subject}`, { method: "DELETE", headers: owner.headers })
    expect([removed.status, removed.raw]).toEqual([204, ""])
    for (const path of [members, `${api}/${id}`, `${api}/${id}/projects`, `${api}/${id}/activity`]) {
      expect([path, (yield* call(path, { headers: ann.headers })).status]).toEqual([path, 403])
    }
  }).pipe(fresh)
)

it.effect("a removed member's request is refused as soon as the response to the removal is sent", () =>
  Effect.gen(function* () {
    const owner = yield* person("owner")
    const ann = yield* person("ann")
    const { id } = yield* newWorkspace(owner.subject, { handle: "acme" })
    yield* joinWorkspace(owner.subject, id, ann.subject, "admin")
    const post = (n: number) => call(`${api}/${id}/projects`, { body: { name: `p${n}` }, headers: ann.headers })
    const remove = call(`${api}/${id}/members/${ann.subject}`, { method: "DELETE", headers: owner.headers })
    const [, removal] = yield* Effect.all(
      [
        Effect.forEach(
          Array.from({ length: 20 }, (_, n) => n),
          post,
          { concurrency: "unbounded" }
        ),
        remove
      ],
      { concurrency: "unbounded" }
    )
    expect(removal.status).toBe(204)
    const after = yield* Effect.forEach([101, 102, 103, 104, 105], post, { concurrency: "unbounded" })
    expect(after.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403])
  }).pipe(fresh)
)

it.effect("a Workspace serves its Projects, graph and history", () =>
  Effect.gen(function* () {
    const ann = yield* person("ann")
    const bob = yield* person("bob")
    const { id } = yield* newWorkspace(ann.subject, { handle: "acme" })
    yield* TestClock.adjust("1 second")
    const created = yield* call(`${api}/${id}/projects`, { body: { name: "Web Shop" }, headers: ann.headers })
    expect(created).toMatchObject({ status: 201, json: { project: { workspaceId: id, slug: "web-shop" } } })
    const projectId = /prj_\w+/.exec(created.raw)?.[0]
    expect((yield* call(`/api/v1/projects/${projectId}`, { headers: ann.headers })).json).toEqual(created.json)
    expect((yield* call(`/api/v1/projects/${projectId}`, { headers: bob.headers })).status).toBe(403)
    expect((yield* call(`/api/v1/projects/prj_${"a".repeat(24)}`, { headers: bob.headers })).status).toBe(404)
    expect((yield* call(`${api}/${id}/projects`, { headers: ann.headers })).json).toMatchObject({
      projects: [{ slug: "default" }, {}]
    })
    expect((yield* call(`${api}/${id}/graph`, { headers: ann.headers })).json).toEqual({ nodes: [], edges: [] })
    expect((yield* call(`${api}/${id}/billing`, { headers: ann.headers })).json).toEqual({
      billing: { mode: "disabled" }
    })
    const history = yield* call(`${api}/${id}/activity?action=project.create`, { headers: ann.headers })
    expect(history.json).toMatchObject({
      events: [
        {
          action: "project.create",
          actor: { kind: "user", subject: ann.subject },
          requestId: expect.stringMatching(/^req_/)
        }
      ]
    })
    const surfaces = yield* call(`${api}/${id}/ui-surfaces`, { headers: ann.headers })
    expect(surfaces).toMatchObject({ status: 200, json: { interfaces: [] } })
  }).pipe(fresh)
)

it.effect(
  "a request for ui-surfaces may narrow the list to one Capsule, and a page limit above 100 is reduced to 100",
  () =>
    Effect.gen(function* () {
      const ann = yield* person("ann")
      const bob = yield* person("bob")
      const { id } = yield* newWorkspace(ann.subject, { handle: "acme" })
      const ask = (query: string, headers: Record<string, string> = ann.headers) =>
        call(`${api}/${id}/ui-surfaces${query}`, { headers })
      const asked = (query: string) => Effect.map(ask(query), ({ json }) => json)
      const capsule = `cap_${"b".repeat(24)}`
      const page = (rest: string) => ({ interfaces: [], nextCursor: `${id} ${ann.subject} ${rest}` })
      expect(yield* asked("")).toEqual(page("any 100 start"))
      expect(yield* asked("?limit=7")).toEqual(page("any 7 start"))
      for (const limit of ["101", "5000"]) expect(yield* asked(`?limit=${limit}`)).toEqual(page("any 100 start"))
      expect(yield* asked(`?capsuleId=${capsule}&cursor=next`)).toEqual(page(`${capsule} 100 next`))
      for (const query of ["?limit=0", "?limit=x", "?limit=1&limit=2", "?subject=x", `?capsuleId=a&capsuleId=b`]) {
        expect([query, (yield* ask(query)).status]).toEqual([query, 400])
      }
      expect((yield* ask("", bob.headers)).status).toBe(403)
      expect((yield* ask("", yield* token(ann.subject, ["read", "write"]))).status).toBe(403)
    }).pipe(fresh)
)
