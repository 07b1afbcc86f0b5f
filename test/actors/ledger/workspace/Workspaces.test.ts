import { expect } from "bun:test"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { Users } from "../../../../actors/access/account/Users.ts"
import { serviceContext } from "../../../../schema/commands/Command.ts"
import { automationRefusal } from "../../../../actors/ledger/workspace/StoredWorkspace.ts"
import { Members } from "../../../../actors/access/member/Members.ts"
import { Projects } from "../../../../actors/ledger/workspace/Projects.ts"
import { handleFrom } from "../../../../actors/ledger/workspace/WorkspaceCreation.ts"
import { Workspaces } from "../../../../actors/ledger/workspace/Workspaces.ts"
import { as, joinWorkspace, newPerson, newWorkspace, testAccounts } from "../../../support/Accounts.ts"
import { it } from "../../../support/Effect.ts"
import { namedWorkspace } from "../../../support/NamedIds.ts"
import { ProjectId } from "../../../../schema/records/Ids.ts"

const fresh = Effect.provide(Layer.fresh(testAccounts))

const counts = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const tables = ["workspaces", "memberships", "projects", "audit_events", "users"]
  return yield* Effect.forEach(tables, (table) =>
    Effect.map(sql<{ n: number }>`SELECT COUNT(*) AS n FROM ${sql(table)}`, ([row]) => row?.n)
  )
})

/** Creates `count` Workspaces for the person, one per second. */
const several = (subject: string, count: number) =>
  Effect.forEach(
    Array.from({ length: count }, (_, n) => n),
    (n) => Effect.tap(newWorkspace(subject, { handle: `ws-${n}` }), () => TestClock.adjust("1 second"))
  )

it.effect(
  "the first request for the list of Workspaces creates the personal Workspace once, with an owner and a default Project",
  () =>
    Effect.gen(function* () {
      const workspaces = yield* Workspaces
      const projects = yield* Projects
      const { subject } = yield* newPerson("ann")
      yield* Effect.forEach([1, 2, 3, 4], () => workspaces.ensurePersonal(as(subject), subject), {
        concurrency: "unbounded"
      })
      const { workspaces: listed } = yield* workspaces.list(subject, { limit: 100 })
      expect(listed.map(({ handle, role, type }) => ({ handle, role, type }))).toEqual([
        { handle: "ann", role: "owner", type: "personal" }
      ])
      const personal = listed[0]?.id ?? (yield* Effect.die("no Workspace"))
      expect((yield* projects.readDefault(personal)).slug).toBe("default")
      const before = yield* counts
      yield* workspaces.ensurePersonal(as(subject), subject)
      expect(yield* counts).toEqual(before)
    }).pipe(fresh)
)

it.effect("an incomplete personal Workspace is completed, but a suspended membership stays suspended", () =>
  Effect.gen(function* () {
    const workspaces = yield* Workspaces
    const sql = yield* SqlClient.SqlClient
    const { subject } = yield* newPerson("ann")
    yield* workspaces.ensurePersonal(as(subject), subject)
    const whole = yield* counts
    yield* sql`DELETE FROM memberships`
    yield* sql`DELETE FROM projects`
    yield* workspaces.ensurePersonal(as(subject), subject)
    expect(yield* counts).toEqual(whole)
    yield* sql`UPDATE memberships SET status = 'suspended'`
    yield* workspaces.ensurePersonal(as(subject), subject)
    expect((yield* workspaces.list(subject, { limit: 10 })).workspaces).toEqual([])
  }).pipe(fresh)
)

it.effect(
  "svc adds a suffix to a Workspace handle that is already taken, and can derive a handle from any email address",
  () =>
    Effect.gen(function* () {
      const workspaces = yield* Workspaces
      const bob = yield* newPerson("bob")
      yield* newWorkspace(bob.subject, { handle: "ann" })
      const ann = yield* newPerson("ann")
      yield* workspaces.ensurePersonal(as(ann.subject), ann.subject)
      expect((yield* workspaces.list(ann.subject, { limit: 10 })).workspaces[0]?.handle).toMatch(/^ann-[0-9a-f]{8}$/)
      for (const text of ["", "a", "é", "日本", "A.B+c_d", "-x-", "x".repeat(64), "--", `${"a".repeat(29)}--b`]) {
        expect(handleFrom(text)).toMatch(/^[a-z0-9][a-z0-9-]{1,29}$/)
      }
    }).pipe(fresh)
)

it.effect(
  "the person who creates a Workspace owns it, handles are unique, and each person has one personal Workspace",
  () =>
    Effect.gen(function* () {
      const workspaces = yield* Workspaces
      const { subject } = yield* newPerson("ann")
      const created = yield* newWorkspace(subject, { handle: "acme" })
      expect(created).toMatchObject({ handle: "acme", displayName: "acme", type: "organization", role: "owner" })
      expect(created).not.toHaveProperty("archivedAt")
      expect((yield* Effect.flip(newWorkspace(subject, { handle: "acme" }))).code).toBe("failed_precondition")
      yield* newWorkspace(subject, { handle: "mine", type: "personal" })
      expect((yield* Effect.flip(newWorkspace(subject, { handle: "mine2", type: "personal" }))).code).toBe(
        "failed_precondition"
      )
      const before = yield* counts
      yield* workspaces.ensurePersonal(as(subject), subject)
      expect(yield* counts).toEqual(before)
    }).pipe(fresh)
)

it.effect("a Workspace can be renamed, archived and restored", () =>
  Effect.gen(function* () {
    const workspaces = yield* Workspaces
    const projects = yield* Projects
    const { subject } = yield* newPerson("ann")
    const bob = yield* newPerson("bob")
    const { id } = yield* newWorkspace(subject, { handle: "acme" })
    yield* TestClock.adjust("1 minute")
    const renamed = yield* workspaces.update(as(subject), subject, id, { displayName: "Acme Inc" })
    expect(renamed).toMatchObject({ displayName: "Acme Inc", updatedAt: "1970-01-01T00:01:00.000Z" })
    const archived = yield* workspaces.update(as(subject), subject, id, { archived: true })
    expect(archived.archivedAt).toBe("1970-01-01T00:01:00.000Z")
    yield* TestClock.adjust("1 minute")
    expect((yield* workspaces.update(as(subject), subject, id, { archived: true })).archivedAt).toBe(
      archived.archivedAt
    )
    const refusedMember = yield* Effect.flip(joinWorkspace(subject, id, bob.subject))
    const refusedProject = yield* Effect.flip(projects.create(as(subject), id, { name: "p" }))
    expect([refusedMember.code, refusedProject.code]).toEqual(["failed_precondition", "failed_precondition"])
    expect(yield* workspaces.update(as(subject), subject, id, { archived: false })).not.toHaveProperty("archivedAt")
    yield* joinWorkspace(subject, id, bob.subject)
    expect((yield* Effect.flip(workspaces.read(bob.subject, namedWorkspace("unknown")))).code).toBe("not_found")
  }).pipe(fresh)
)

it.effect("the list of Workspaces can be paged by creation time or latest change, without gaps or duplicates", () =>
  Effect.gen(function* () {
    const workspaces = yield* Workspaces
    const { subject } = yield* newPerson("ann")
    const made = yield* several(subject, 7)
    yield* workspaces.update(as(subject), subject, made[2]?.id ?? namedWorkspace("none"), { displayName: "touched" })
    const follow = Effect.fnUntraced(function* (order: "created_asc" | "updated_desc") {
      const seen: Array<string> = []
      let cursor: string | undefined
      do {
        const page = yield* workspaces.list(subject, { limit: 3, order, cursor })
        expect(page.truncated).toBe(page.nextCursor !== undefined)
        expect(page.total).toBeUndefined()
        seen.push(...page.workspaces.map(({ handle }) => handle))
        cursor = page.nextCursor
      } while (cursor !== undefined)
      return seen
    })
    expect(yield* follow("created_asc")).toEqual(["ws-0", "ws-1", "ws-2", "ws-3", "ws-4", "ws-5", "ws-6"])
    expect(yield* follow("updated_desc")).toEqual(["ws-2", "ws-6", "ws-5", "ws-4", "ws-3", "ws-1", "ws-0"])
    const { nextCursor } = yield* workspaces.list(subject, { limit: 3, order: "created_asc" })
    const other = yield* Effect.flip(workspaces.list(subject, { limit: 3, order: "updated_desc", cursor: nextCursor }))
    expect(other.code).toBe("invalid_request")
  }).pipe(fresh)
)

it.effect("a selected Workspace that is not on the first page is added to that page and marked", () =>
  Effect.gen(function* () {
    const workspaces = yield* Workspaces
    const { subject } = yield* newPerson("ann")
    const stranger = yield* newPerson("stranger")
    const foreign = yield* newWorkspace(stranger.subject, { handle: "foreign" })
    const made = yield* several(subject, 5)
    const last = made[4]?.id
    const pinned = yield* workspaces.list(subject, { limit: 2, selectedWorkspaceId: last })
    expect(pinned.pinnedWorkspaceId).toBe(last)
    expect(pinned.workspaces.map(({ handle }) => handle)).toEqual(["ws-4", "ws-0", "ws-1"])
    const inside = yield* workspaces.list(subject, { limit: 2, selectedWorkspaceId: made[0]?.id })
    expect(inside.pinnedWorkspaceId).toBeUndefined()
    expect(inside.workspaces.length).toBe(2)
    const second = yield* workspaces.list(subject, { limit: 2, selectedWorkspaceId: last, cursor: pinned.nextCursor })
    expect(second.pinnedWorkspaceId).toBeUndefined()
    expect(second.workspaces.map(({ handle }) => handle)).toEqual(["ws-2", "ws-3"])
    for (const selectedWorkspaceId of [foreign.id, namedWorkspace("unknown"), "nonsense"]) {
      expect((yield* Effect.flip(workspaces.list(subject, { limit: 2, selectedWorkspaceId }))).code).toBe(
        "permission_denied"
      )
    }
  }).pipe(fresh)
)

it.effect("on request, the list of Workspaces includes a total across all pages", () =>
  Effect.gen(function* () {
    const workspaces = yield* Workspaces
    const { subject } = yield* newPerson("ann")
    yield* several(subject, 3)
    const first = yield* workspaces.list(subject, { limit: 2, includeTotal: true })
    expect(first.total).toBe(3)
    const second = yield* workspaces.list(subject, { limit: 2, includeTotal: true, cursor: first.nextCursor })
    expect(second).toMatchObject({ total: 3, truncated: false })
  }).pipe(fresh)
)

it.effect(
  "a credential bound to one Workspace can access only that Workspace, even in a request for another Workspace",
  () =>
    Effect.gen(function* () {
      const workspaces = yield* Workspaces
      const { subject } = yield* newPerson("ann")
      const [one, two] = yield* several(subject, 2)
      const bound = { limit: 10, boundWorkspaceId: two?.id, includeTotal: true }
      const page = yield* workspaces.list(subject, bound)
      expect(page).toMatchObject({ total: 1, truncated: false })
      expect(page.workspaces.map(({ handle }) => handle)).toEqual([two?.handle ?? ""])
      const refused = yield* Effect.flip(workspaces.list(subject, { ...bound, selectedWorkspaceId: one?.id }))
      expect(refused.code).toBe("permission_denied")
    }).pipe(fresh)
)

it.effect(
  "the inventory lists and counts active memberships in the order of their creation, including memberships in archived Workspaces, and writes nothing",
  () =>
    Effect.gen(function* () {
      const workspaces = yield* Workspaces
      const members = yield* Members
      const ann = yield* newPerson("ann")
      const bob = yield* newPerson("bob")
      const carl = yield* newPerson("carl")
      const made = yield* several(ann.subject, 5)
      const idOf = (n: number) => made[n]?.id ?? namedWorkspace("none")
      const scope = (n: number) => ({ workspaceId: idOf(n), acting: { subject: ann.subject } })
      for (const n of [0, 1, 2, 3]) yield* joinWorkspace(ann.subject, idOf(n), bob.subject, "viewer")
      yield* workspaces.update(as(ann.subject), ann.subject, idOf(1), { archived: true })
      yield* members.remove(as(ann.subject), scope(2), bob.subject)
      const before = yield* counts
      const first = yield* workspaces.inventory(bob.subject, { limit: 2 })
      expect(first).toMatchObject({
        kind: "svc.account-workspace-inventory@v1",
        total: 3,
        returned: 2,
        limit: 2,
        truncated: true
      })
      expect(first.workspaces.map(({ handle, role }) => [handle, role])).toEqual([
        ["ws-0", "viewer"],
        ["ws-1", "viewer"]
      ])
      expect(first.workspaces[1]?.archivedAt).toBeDefined()
      const second = yield* workspaces.inventory(bob.subject, { limit: 2, cursor: first.nextCursor })
      expect(second).toMatchObject({ total: 3, returned: 1, truncated: false })
      expect(second).not.toHaveProperty("nextCursor")
      expect((yield* workspaces.inventory(carl.subject, { limit: 100 })).total).toBe(0)
      expect(yield* counts).toEqual(before)
      const foreign = yield* Effect.flip(workspaces.inventory(ann.subject, { limit: 2, cursor: first.nextCursor }))
      expect(foreign.code).toBe("invalid_request")
    }).pipe(fresh)
)

it.effect("a locked account gets no personal Workspace", () =>
  Effect.gen(function* () {
    const workspaces = yield* Workspaces
    const users = yield* Users
    const { subject } = yield* newPerson("ann")
    yield* users.setStatus(serviceContext, subject, "disabled")
    yield* workspaces.ensurePersonal(as(subject), subject)
    expect((yield* counts)[0]).toBe(0)
  }).pipe(fresh)
)

it.effect("Project slugs are unique within their Workspace, and generated if omitted", () =>
  Effect.gen(function* () {
    const projects = yield* Projects
    const { subject } = yield* newPerson("ann")
    const one = yield* newWorkspace(subject, { handle: "one" })
    const two = yield* newWorkspace(subject, { handle: "two" })
    const web = yield* projects.create(as(subject), one.id, { name: "Web Shop" })
    expect(web).toMatchObject({ workspaceId: one.id, name: "Web Shop", slug: "web-shop" })
    expect((yield* projects.create(as(subject), one.id, { name: "web shop" })).slug).toMatch(/^web-shop-[a-z0-9]{8}$/)
    expect((yield* projects.create(as(subject), one.id, { name: "ウェブ" })).slug).toBe("project")
    expect((yield* projects.create(as(subject), two.id, { name: "x", slug: "web-shop" })).slug).toBe("web-shop")
    expect((yield* Effect.flip(projects.create(as(subject), one.id, { name: "x", slug: "web-shop" }))).code).toBe(
      "failed_precondition"
    )
    expect(yield* projects.read(web.id)).toEqual(web)
    expect((yield* Effect.flip(projects.read(ProjectId.make("prj_aaaaaaaaaaaaaaaaaaaaaaaa")))).code).toBe("not_found")
    const first = yield* projects.list(one.id, subject, { limit: 3 })
    const rest = yield* projects.list(one.id, subject, { limit: 3, cursor: first.nextCursor })
    expect([...first.items, ...rest.items].map(({ name }) => name).toSorted()).toEqual([
      "Default",
      "Web Shop",
      "web shop",
      "ウェブ"
    ])
    expect((yield* Effect.flip(projects.list(two.id, subject, { limit: 3, cursor: first.nextCursor }))).code).toBe(
      "invalid_request"
    )
  }).pipe(fresh)
)

it.effect(
  "one switch pauses all automation in a Workspace, and shows the person and reason until someone resumes it",
  () =>
    Effect.gen(function* () {
      const workspaces = yield* Workspaces
      const { subject } = yield* newPerson("ann")
      const paused = yield* newWorkspace(subject, { handle: "paused" })
      const other = yield* newWorkspace(subject, { handle: "other" })
      expect(yield* automationRefusal(paused.id)).toBeUndefined()
      expect(paused.automationPause).toBeUndefined()
      const pause = (reason: string) =>
        workspaces.setAutomation(as(subject), subject, paused.id, { paused: true, reason })
      const first = (yield* pause("incident 7")).automationPause
      expect(first).toMatchObject({ by: subject, reason: "incident 7" })
      expect(yield* automationRefusal(other.id)).toBeUndefined()
      expect(yield* automationRefusal(paused.id)).toContain("incident 7")
      // A second pause does not change the time, person or reason of the first pause.
      yield* TestClock.adjust("1 minute")
      expect((yield* pause("another reason")).automationPause).toEqual(first)

      yield* workspaces.update(as(subject), subject, paused.id, { archived: true })
      expect(
        (yield* Effect.flip(workspaces.setAutomation(as(subject), subject, paused.id, { paused: false }))).code
      ).toBe("failed_precondition")
      yield* workspaces.update(as(subject), subject, paused.id, { archived: false })
      const resumed = yield* workspaces.setAutomation(as(subject), subject, paused.id, { paused: false })
      expect(resumed.automationPause).toBeUndefined()
      expect(yield* automationRefusal(paused.id)).toBeUndefined()
      expect(yield* automationRefusal(namedWorkspace("unknown"))).toContain("archived")
      const sql = yield* SqlClient.SqlClient
      const events = yield* sql<{ action: string }>`SELECT action FROM audit_events WHERE workspace_id = ${paused.id}
      AND action LIKE 'workspace.automation.%' ORDER BY created_at, id`
      expect(events.map(({ action }) => action)).toEqual(["workspace.automation.pause", "workspace.automation.resume"])
    }).pipe(fresh)
)
