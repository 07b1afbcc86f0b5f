import { afterAll, describe, expect } from "bun:test"
import { Effect, Layer, Redacted, Result } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { EndpointPolicy } from "../../../../actors/inputs/delivery/EndpointPolicy.ts"
import { Endpoints } from "../../../../actors/inputs/delivery/Endpoints.ts"
import { Handoffs } from "../../../../actors/commands/handoff/Handoffs.ts"
import { SetupTickets } from "../../../../actors/commands/handoff/SetupTickets.ts"
import { suite } from "../../../support/Effect.ts"
import { as, newPerson, newWorkspace, testAccounts } from "../../../support/Accounts.ts"
import { namedCapsule, namedRun } from "../../../support/NamedIds.ts"

const assigned = {
  workspace: "assigned",
  capsule: "assigned",
  environment: "test",
  url: "https://assigned.example.com"
}
const layer = Handoffs.layer.pipe(
  Layer.provideMerge(SetupTickets.layer),
  Layer.provideMerge(Endpoints.layer),
  Layer.provideMerge(testAccounts),
  Layer.provide(Layer.succeed(EndpointPolicy, { endpoints: [assigned] }))
)
const tests = suite(layer)
afterAll(tests.dispose)

const target = { product: "acme.app", returnUri: "acme-app://connected" }
const service = "https://svc.example.test"
const at = "2026-01-01T00:00:00.000Z"
const id = (prefix: string, name: string) => `${prefix}_${name.padEnd(24, "a")}`

/** A Workspace with an applied Capsule and the other records that a hand-off needs. */
const world = Effect.fnUntraced(function* (name: string, more: { endpoint?: string | null; status?: string } = {}) {
  const sql = yield* SqlClient.SqlClient
  const owner = yield* newPerson(`${name}-owner`)
  const workspace = yield* newWorkspace(owner.subject, { handle: name })
  const [project] = yield* sql<{ id: string }>`SELECT id FROM projects WHERE workspace_id = ${workspace.id}`
  const source = id("src", name)
  const config = id("icfg", name)
  const capsule = namedCapsule(name)
  const run = namedRun(name)
  const owned = { workspace_id: workspace.id, created_at: at }
  yield* sql`INSERT INTO sources ${sql.insert({ ...owned, id: source, name, url: "https://g", default_ref: "HEAD", default_path: ".", auto_sync: 0, status: "active", hook_secret: "", updated_at: at })}`
  yield* sql`INSERT INTO install_configs ${sql.insert({ ...owned, id: config, origin: "generic", module_path: ".", contract_digest: "", digest: "", config: "{}" })}`
  yield* sql`INSERT INTO capsules ${sql.insert({
    ...owned,
    id: capsule,
    project_id: project?.id ?? "",
    name,
    slug: name,
    environment: "test",
    source_id: source,
    module_path: ".",
    install_config_id: config,
    status: "active",
    runtime_safety: "safe",
    current_state_generation: 1,
    execution_authority_epoch: 1,
    tracked_ref: "HEAD",
    tracked_path: ".",
    auto_update_enabled: 0,
    auto_update_apply: 0,
    drift_status: "none",
    public_endpoint: more.endpoint === undefined ? "https://app.example.com" : more.endpoint,
    updated_at: at
  })}`
  yield* sql`INSERT INTO runs ${sql.insert({ ...owned, id: run, type: "apply", status: more.status ?? "succeeded", capsule_id: capsule, requires_approval: 0, trigger_kind: "user", attempt: 1, spec: "{}", evidence: "{}", queued_at: at })}`
  const handoffs = yield* Handoffs
  const complete = (subject: string, to = target) => handoffs.complete(as(subject), subject, run, to, service)
  return { owner: owner.subject, workspaceId: workspace.id, capsule, run, complete }
})

describe("a hand-off", () => {
  tests.live("a hand-off redirects to the client with the created records and a single-use ticket", () =>
    Effect.gen(function* () {
      const { capsule, complete, owner, run, workspaceId } = yield* world("returns")
      const location = new URL(Redacted.value(yield* complete(owner)))
      const { setup_ticket: ticket = "", ...fields } = Object.fromEntries(location.searchParams)
      expect(location.href.startsWith("acme-app://connected?")).toBe(true)
      expect(fields).toEqual({
        host_url: "https://app.example.com",
        product: "acme.app",
        run_id: run,
        capsule_id: capsule
      })
      const sql = yield* SqlClient.SqlClient
      expect(JSON.stringify(yield* sql`SELECT * FROM setup_tickets`)).not.toContain(ticket)
      expect(JSON.stringify(yield* sql`SELECT * FROM audit_events`)).not.toContain(ticket)
      const tickets = yield* SetupTickets
      expect(yield* tickets.redeem(Redacted.make(ticket), "r1")).toEqual({
        product: "acme.app",
        workspaceId,
        capsuleId: capsule,
        runId: run,
        subject: owner
      })
      expect((yield* Effect.flip(tickets.redeem(Redacted.make(ticket), "r2"))).code).toBe("invalid_token")
      expect((yield* Effect.flip(tickets.redeem(Redacted.make("svch_other"), "r3"))).code).toBe("invalid_token")
    })
  )

  tests.live(
    "a hand-off uses the assigned endpoint if no Output is an address, and succeeds even if no endpoint is assigned",
    () =>
      Effect.gen(function* () {
        const fields = (location: Redacted.Redacted<string>) => new URL(Redacted.value(location)).searchParams
        const own = yield* world("assigned", { endpoint: null })
        expect(fields(yield* own.complete(own.owner)).get("host_url")).toBe("https://assigned.example.com")
        const dark = yield* world("dark", { endpoint: null })
        const found = fields(yield* dark.complete(dark.owner))
        expect([found.has("host_url"), found.get("capsule_id"), found.has("setup_ticket")]).toEqual([
          false,
          dark.capsule,
          true
        ])
      })
  )

  const ticketOf = (location: Redacted.Redacted<string>) =>
    Redacted.make(new URL(Redacted.value(location)).searchParams.get("setup_ticket") ?? "")

  tests.live("a hand-off ticket expires exactly ten minutes after it was issued", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(Date.parse("2026-02-03T04:05:06.000Z"))
      const { complete, owner } = yield* world("expires")
      const tickets = yield* SetupTickets
      const first = ticketOf(yield* complete(owner))
      yield* TestClock.adjust("599999 millis")
      expect((yield* tickets.redeem(first, "r")).subject).toBe(owner)
      const second = ticketOf(yield* complete(owner))
      yield* TestClock.adjust("10 minutes")
      expect((yield* Effect.flip(tickets.redeem(second, "r"))).code).toBe("invalid_token")
    }).pipe(Effect.provide(TestClock.layer()))
  )

  tests.live("a repeated hand-off returns a new ticket and voids the earlier ticket", () =>
    Effect.gen(function* () {
      const { complete, owner, workspaceId } = yield* world("again")
      const tickets = yield* SetupTickets
      const lost = ticketOf(yield* complete(owner))
      const other = ticketOf(yield* complete(owner, { ...target, product: "acme.other" }))
      const newest = ticketOf(yield* complete(owner))
      expect((yield* Effect.flip(tickets.redeem(lost, "r"))).code).toBe("invalid_token")
      expect((yield* tickets.redeem(newest, "r")).workspaceId).toBe(workspaceId)
      // Tickets for different products are independent, and a used ticket can be replaced.
      expect((yield* tickets.redeem(other, "r")).product).toBe("acme.other")
      const afterUse = ticketOf(yield* complete(owner))
      expect((yield* tickets.redeem(afterUse, "r")).product).toBe("acme.app")
    })
  )

  tests.live(
    "anyone who may start an apply can complete a hand-off, and each ticket identifies the person who completed it (R4)",
    () =>
      Effect.gen(function* () {
        const { complete, owner, workspaceId } = yield* world("finisher")
        const sql = yield* SqlClient.SqlClient
        const tickets = yield* SetupTickets
        const people: Array<string> = []
        for (const role of ["admin", "member"]) {
          const { subject } = yield* newPerson(`finisher-${role}`)
          yield* sql`INSERT INTO memberships ${sql.insert({ id: id("mbr", `finisher-${role}`), workspace_id: workspaceId, subject, role, status: "active", created_at: at, updated_at: at })}`
          people.push(subject)
        }
        const [admin = "", member = ""] = people
        const ofOwner = ticketOf(yield* complete(owner))
        const ofAdmin = ticketOf(yield* complete(admin))
        expect((yield* Effect.flip(complete(member))).code).toBe("permission_denied")
        expect((yield* tickets.redeem(ofAdmin, "r")).subject).toBe(admin)
        expect((yield* tickets.redeem(ofOwner, "r")).subject).toBe(owner)
        // svc rejects a return address that was changed after the original link was validated.
        const tampered = { ...target, returnUri: "https://app.example.com@evil.example/x" }
        expect((yield* Effect.flip(complete(owner, tampered))).code).toBe("invalid_request")
      })
  )

  tests.live("a hand-off ticket redeemed many times concurrently is accepted exactly once", () =>
    Effect.gen(function* () {
      const { complete, owner } = yield* world("race")
      const tickets = yield* SetupTickets
      const ticket = ticketOf(yield* complete(owner))
      const outcomes = yield* Effect.all(
        Array.from({ length: 20 }, () => Effect.result(tickets.redeem(ticket, "r"))),
        { concurrency: "unbounded" }
      )
      expect(outcomes.filter(Result.isSuccess)).toHaveLength(1)
    })
  )

  tests.live(
    "svc rejects a hand-off if the person is outside the Workspace, the apply has not finished, or the link is invalid",
    () =>
      Effect.gen(function* () {
        const stranger = yield* newPerson("stranger")
        const good = yield* world("refused")
        const failed = yield* world("unfinished", { status: "failed" })
        const code = <A>(asked: Effect.Effect<A, { readonly code: string }>) =>
          Effect.map(Effect.flip(asked), (error) => error.code)
        expect(yield* code(good.complete(stranger.subject))).toBe("permission_denied")
        expect(yield* code(failed.complete(failed.owner))).toBe("failed_precondition")
        for (const bad of [
          { ...target, product: "Not A Key" },
          { ...target, returnUri: "javascript://x" },
          { ...target, returnUri: `${service}/auth` },
          { ...target, returnUri: "https://a.example.com/?x=1" }
        ]) {
          expect(yield* code(good.complete(good.owner, bad))).toBe("invalid_request")
        }
      })
  )
})
