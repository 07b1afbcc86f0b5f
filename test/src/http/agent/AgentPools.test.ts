import { afterAll, expect } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { AgentMonitor } from "../../../../actors/running/agent/AgentMonitor.ts"
import { AgentReleases } from "../../../../actors/running/agent/AgentReleases.ts"
import { Agents } from "../../../../actors/running/agent-pool/Agents.ts"
import { WorkspacePools } from "../../../../actors/running/agent-pool/WorkspacePools.ts"
import { RunLifecycle } from "../../../../actors/ledger/run/RunLifecycle.ts"
import { Runs, RunStreams } from "../../../../actors/ledger/run/Runs.ts"
import { ReleaseCommands } from "../../../../src/operator/ReleaseCommands.ts"
import { type RunId, WorkspaceId } from "../../../../schema/records/Ids.ts"
import { suite } from "../../../support/Effect.ts"
import { eventually } from "../../../support/Eventually.ts"
import { settled } from "../../../support/Journey.ts"
import { TestPlane } from "../../../support/TestPlane.ts"
import { after, applyingOn, begun, farPlane, offerTo, renewal, world } from "../support/FarPlane.ts"
import type { TestAgent } from "../support/TestAgent.ts"
import { RunCommands } from "../../../../schema/commands/RunCommands.ts"

const plane = suite(farPlane)
afterAll(plane.dispose)

/** Returns the plan of an install once it waits for an agent. */
const waiting = Effect.fnUntraced(function* (branch: string) {
  const id = yield* begun(branch)
  const sql = yield* SqlClient.SqlClient
  const plan = sql<{
    id: RunId
  }>`SELECT id FROM runs WHERE type = 'plan' AND status = 'queued' AND coordinator_id = ${id}`
  const [row] = yield* eventually(plan, (rows) => rows.length > 0)
  return row === undefined ? yield* Effect.die("unreachable") : row.id
})

const queueOf = (id: RunId) =>
  Effect.gen(function* () {
    return (yield* (yield* Runs).read(id)).queue
  })

const withdraw = Effect.fnUntraced(function* (id: RunId) {
  const { context } = yield* TestPlane
  yield* (yield* RunCommands).Cancel(id, { context })
})

const revoked = Effect.fnUntraced(function* (...all: ReadonlyArray<TestAgent>) {
  const agents = yield* Agents
  yield* Effect.forEach(all, ({ agentId }) => agents.revoke(agentId), { discard: true })
})

plane.live(
  "the check for expired leases reads nothing until an agent connects, and then reads open claims through an index",
  () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const monitor = yield* AgentMonitor
      yield* sql`ALTER TABLE agent_runs RENAME TO hidden_agent_runs`
      yield* monitor.look
      yield* sql`ALTER TABLE hidden_agent_runs RENAME TO agent_runs`
      const plan = yield* sql<{ detail: string }>`EXPLAIN QUERY PLAN
      SELECT * FROM agent_runs WHERE ended_at IS NULL AND result IS NULL`
      expect(plan.map(({ detail }) => detail)).toEqual(["SCAN agent_runs USING INDEX agent_runs_open"])
    })
)

plane.live(
  "a Run that waits in a pool reports which property no agent has, or that all agents are busy",
  () =>
    Effect.gen(function* () {
      const { enrolled, pools } = yield* world
      const { workspaceId } = yield* TestPlane
      const id = yield* waiting("reasons")
      expect(yield* queueOf(id)).toMatchObject({ reason: "no_agent", pool: "agents", missing: [{ property: "agent" }] })
      yield* pools.unassign("far", workspaceId)
      expect(yield* queueOf(id)).toMatchObject({ reason: "no_agent", missing: [{ property: "assignment" }] })
      yield* pools.assign("far", workspaceId)
      const toolless = yield* enrolled({ tools: [] })
      expect(yield* queueOf(id)).toMatchObject({
        reason: "no_agent",
        missing: [{ property: "tool", needed: "a tool" }]
      })
      const full = yield* enrolled({ disk: { freeBytes: 1, totalBytes: 2, low: true } })
      expect(yield* queueOf(id)).toMatchObject({ reason: "no_agent", missing: [{ property: "disk" }] })
      yield* revoked(full)
      const one = yield* enrolled({ places: 1 })
      expect(yield* queueOf(id)).toMatchObject({ reason: "turn" })
      const { offer } = yield* offerTo(one)
      expect(offer.runId).toBe(id)
      const next = yield* waiting("busy")
      expect(yield* queueOf(next)).toMatchObject({ reason: "places_taken", limit: 1 })
      yield* (yield* Agents).drain(one.agentId, true)
      expect(yield* queueOf(next)).toMatchObject({ reason: "no_agent", missing: [{ property: "undrained" }] })
      yield* (yield* RunLifecycle).requestCancel(id, {})
      yield* one.as(one.client.Decline({ runId: id, fence: offer.fence, reason: "no" }))
      yield* withdraw(next)
      yield* revoked(toolless, one)
    }),
  120_000
)

plane.live("a Workspace can see exactly the pools and agents assigned to it", () =>
  Effect.gen(function* () {
    const { enrolled } = yield* world
    const { workspaceId } = yield* TestPlane
    const pools = yield* WorkspacePools
    const [one, two] = [yield* enrolled({ labels: { zone: "a" } }), yield* enrolled({ places: 3 })]
    const page = yield* pools.pools(workspaceId, { limit: 10 })
    expect(page.items).toMatchObject([
      {
        name: "far",
        leaseSeconds: 2700,
        agents: { connected: 2, draining: 0, silent: 0 },
        places: 7,
        runs: 0,
        queued: 0
      }
    ])
    expect(page.items[0]).not.toHaveProperty("workspaces")
    const first = yield* pools.agents(workspaceId, "far", { limit: 1 })
    const second = yield* pools.agents(workspaceId, "far", { limit: 1, cursor: first.nextCursor })
    expect(second.nextCursor).toBeUndefined()
    const both = [...first.items, ...second.items]
    expect(both.map(({ id }) => id).toSorted()).toEqual([one.agentId, two.agentId].toSorted())
    expect(both.find(({ id }) => id === one.agentId)).toMatchObject({
      status: "connected",
      labels: { zone: "a" },
      places: 4,
      disk: { low: false }
    })
    const refused = yield* Effect.flip(pools.agents(workspaceId, undefined, { limit: 1, cursor: first.nextCursor }))
    expect(refused.code).toBe("invalid_request")
    const stranger = WorkspaceId.make("ws_00000000000000000000000000")
    expect(yield* pools.pools(stranger, { limit: 10 })).toEqual({ items: [] })
    expect(yield* pools.agents(stranger, undefined, { limit: 10 })).toEqual({ items: [] })
    yield* (yield* Agents).drain(one.agentId, true)
    yield* revoked(two)
    expect((yield* pools.pools(workspaceId, { limit: 10 })).items).toMatchObject([
      { agents: { connected: 0, draining: 1, silent: 0 }, places: 0 }
    ])
    yield* revoked(one)
  })
)

const agentEvents = Effect.fnUntraced(function* (id: RunId) {
  const page = yield* (yield* RunStreams).events(id, 0, 1000)
  return page.items.filter(({ kind }) => kind.startsWith("agent.")).map(({ kind }) => kind)
})

plane.live(
  "a Run reports that its agent is silent, shows the saved state, and is released only with its current fence",
  () =>
    Effect.gen(function* () {
      const { enrolled } = yield* world
      const { context, workspaceId } = yield* TestPlane
      const agent = yield* enrolled()
      const { capsuleId, claim } = yield* applyingOn(agent, "released")
      const runs = yield* Runs
      const monitor = yield* AgentMonitor
      const releases = yield* AgentReleases
      const disk = agent.facts.disk
      const held = [{ ...claim, spoolBytes: 0, newestSerial: 4 }]
      yield* agent.as(agent.client.Renew({ held, disk, draining: false }))
      const shown = yield* runs.read(claim.runId)
      expect(shown.agent).toMatchObject({
        id: agent.agentId,
        name: "one",
        fence: claim.fence,
        leaseSeconds: 2700,
        state: { newestSerial: 4 }
      })
      expect(shown.agent?.givenUpAt).toBeUndefined()
      const release = (fence: number, reason?: string) => releases.release(context, claim.runId, { fence, reason })
      const early = yield* Effect.flip(after(31, release(claim.fence)))
      expect(early).toMatchObject({ code: "failed_precondition", message: expect.stringContaining("is heard of") })
      yield* after(31, monitor.look)
      const silent = yield* runs.read(claim.runId)
      expect(silent.agentUnreachableSince).toBeDefined()
      const until = Date.parse(silent.agent?.givenUpAt ?? "") - Date.parse(silent.agent?.heardAt ?? "")
      expect(until).toBe((2700 * 1.01 + 60) * 1000)
      expect(yield* agentEvents(claim.runId)).toEqual(["agent.unreachable"])
      // After a restart, the server reports the agent as silent until the agent contacts the server again.
      yield* monitor.resume
      expect((yield* runs.read(claim.runId)).agent).not.toHaveProperty("heardAt")
      const hasty = yield* Effect.flip(release(claim.fence))
      expect(hasty).toMatchObject({ code: "failed_precondition", message: expect.stringContaining("listened") })
      yield* renewal(agent, claim)
      expect((yield* runs.read(claim.runId)).agentUnreachableSince).toBeUndefined()
      expect(yield* agentEvents(claim.runId)).toEqual(["agent.unreachable", "agent.returned"])
      yield* after(31, monitor.look)
      const other = yield* Effect.flip(after(31, release(claim.fence - 1)))
      expect(other.code).toBe("guard_conflict")
      expect((yield* runs.read(claim.runId)).status).toBe("running")
      const commands = yield* ReleaseCommands
      const asked = { runId: claim.runId, toolIsDead: true }
      const unseen = yield* Effect.flip(after(31, commands.release(asked)))
      expect(unseen.message).toContain(`Repeat the command with --fence ${claim.fence} --tool-is-dead`)
      const stale = yield* Effect.flip(after(31, commands.release({ ...asked, fence: claim.fence - 1 })))
      expect(stale.code).toBe("guard_conflict")
      expect((yield* Effect.flip(commands.release({ ...asked, fence: claim.fence }))).code).toBe("failed_precondition")
      expect((yield* runs.read(claim.runId)).status).toBe("running")
      yield* after(31, release(claim.fence, "The machine burned down."))
      expect(yield* settled(claim.runId)).toMatchObject({
        status: "failed",
        error: { code: "agent_lost", message: expect.stringContaining("released from the agent") }
      })
      const sql = yield* SqlClient.SqlClient
      const audited = yield* sql<{ data: string }>`SELECT data FROM audit_events WHERE action = 'run.release'
        AND workspace_id = ${workspaceId} AND capsule_id = ${capsuleId}`
      expect(audited.map(({ data }) => JSON.parse(data))).toEqual([
        { agent: agent.agentId, fence: claim.fence, reason: "The machine burned down." }
      ])
      expect((yield* agentEvents(claim.runId)).at(-1)).toBe("agent.released")
      const [told] = yield* sql<{ data: string }>`SELECT data FROM run_events
        WHERE run_id = ${claim.runId} AND kind = 'agent.released'`
      // The operation history records the person, but the Run's event does not.
      expect(JSON.parse(told?.data ?? "null")).toEqual({
        agentId: agent.agentId,
        by: "member",
        reason: "The machine burned down."
      })
      const late = yield* Effect.flip(release(claim.fence))
      expect(late.code).toBe("failed_precondition")
      expect((yield* runs.read(claim.runId)).agent).toBeUndefined()
    }).pipe(Effect.provide(ReleaseCommands.layer)),
  120_000
)
