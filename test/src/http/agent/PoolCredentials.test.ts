import { afterAll, expect } from "bun:test"
import { Effect, Option } from "effect"
import { SqlClient } from "effect/sql"
import { AgentMonitor } from "../../../../actors/running/agent/AgentMonitor.ts"
import { ConnectionStore } from "../../../../actors/inputs/connection/ConnectionStore.ts"
import { CredentialsInUse } from "../../../../actors/inputs/connection/CredentialsInUse.ts"
import { Connections } from "../../../../actors/inputs/connection/Connections.ts"
import { poolObstacle } from "../../../../actors/running/execution/PoolObstacle.ts"
import { AgentNeeds } from "../../../../actors/running/agent-pool/AgentNeeds.ts"
import { AgentPresence } from "../../../../actors/running/agent-pool/AgentPresence.ts"
import { Agents } from "../../../../actors/running/agent-pool/Agents.ts"
import { ProvidedMarks } from "../../../../actors/running/agent-pool/ProvidedMarks.ts"
import { WorkspacePools } from "../../../../actors/running/agent-pool/WorkspacePools.ts"
import { PoolName } from "../../../../schema/agent/PoolName.ts"
import type { RunId } from "../../../../schema/records/Ids.ts"
import { suite } from "../../../support/Effect.ts"
import { settled } from "../../../support/Journey.ts"
import { TestPlane } from "../../../support/TestPlane.ts"
import {
  after,
  applyingOn,
  approvedApply,
  begun,
  farPlane,
  offerTo,
  planOn,
  reviewable,
  stateFile,
  world
} from "../support/FarPlane.ts"
import type { TestAgent } from "../support/TestAgent.ts"
import { ConnectionCommands } from "../../../../schema/commands/ConnectionCommands.ts"
import { RunCommands } from "../../../../schema/commands/RunCommands.ts"

const plane = suite(farPlane)
afterAll(plane.dispose)

plane.live(
  "Workspaces that the operator permits can use the credentials of a pool, and svc never stores their values",
  () =>
    Effect.gen(function* () {
      const { pools } = yield* world
      const { context, workspaceId } = yield* TestPlane
      const connections = yield* Connections
      const connectionCommands = yield* ConnectionCommands
      const request = (pool: string) => ({
        workspaceId,
        provider: "example.test/acme/demo",
        displayName: "cloud",
        providedBy: { pool: PoolName.make(pool), name: "cloud" }
      })
      const created = connections.create(context, request("far"))
      // The error is the same for a pool that does not exist.
      const unknown = yield* Effect.flip(connections.create(context, request("nowhere")))
      const early = yield* Effect.flip(created)
      for (const refused of [unknown, early]) {
        expect(refused.code).toBe("failed_precondition")
        expect(refused.message).toContain("does not let this Workspace use the credentials cloud of the pool")
      }
      yield* pools.provide("far", "cloud", workspaceId)
      yield* pools.provide("far", "cloud", workspaceId)
      const connection = yield* created
      expect(connection).toMatchObject({ providedBy: { pool: "far", name: "cloud" }, envNames: [], fileNames: [] })
      const sql = yield* SqlClient.SqlClient
      const shown = yield* (yield* WorkspacePools).pools(workspaceId, { limit: 10 })
      expect(shown.items).toMatchObject([{ name: "far", provided: ["cloud"] }])
      const stored = sql`SELECT sealed_values, provided_name FROM connections WHERE id = ${connection.id}`
      expect(yield* stored).toEqual([{ sealed_values: null, provided_name: "cloud" }])
      expect((yield* connectionCommands.Test(connection.id, { context })).tested).toBe("pool")
      // Runs with this Connection can be executed only in the pool that provides its credentials; the error identifies the
      // pool in which the Run would be executed.
      const row = yield* (yield* ConnectionStore).find(connection.id)
      if (row === undefined) return yield* Effect.die(new Error("The Connection is gone"))
      expect(yield* poolObstacle(row, workspaceId, "far")).toBeUndefined()
      for (const [pool, place] of [
        ["local", "executed by the control plane itself"],
        ["other", "executed by the pool other"]
      ] as const) {
        const obstacle = yield* poolObstacle(row, workspaceId, pool)
        expect(obstacle).toMatchObject({ status: "blocked_policy" })
        expect(obstacle?.blockedReason).toContain(place)
      }
      const rotated = yield* Effect.flip(
        connectionCommands.Update(connection.id, { context, request: { values: { DEMO_TOKEN: "given-after-all" } } })
      )
      expect(rotated.code).toBe("failed_precondition")
      expect(rotated.message).toContain("Change them there")
      yield* connectionCommands.Update(connection.id, { context, request: { displayName: "production" } })
      yield* pools.withhold("far", "cloud", workspaceId)
      expect((yield* poolObstacle(row, workspaceId, "far"))?.blockedReason).toContain("does not let this Workspace")
      const withheld = yield* Effect.flip(connectionCommands.Test(connection.id, { context }))
      expect(withheld.code).toBe("failed_precondition")
      expect(withheld.message).toContain("does not let this Workspace")
      // The status of the Connection remains `verified`.
      expect((yield* (yield* ConnectionStore).find(connection.id))?.status).toBe("verified")
      expect((yield* Effect.flip(pools.withhold("far", "cloud", workspaceId))).code).toBe("not_found")
      // Assigning the pool to the Workspace again does not restore the Workspace's permission to use the pool's credentials.
      yield* pools.provide("far", "cloud", workspaceId)
      yield* pools.unassign("far", workspaceId)
      expect((yield* Effect.flip(pools.provide("far", "cloud", workspaceId))).code).toBe("failed_precondition")
      yield* pools.assign("far", workspaceId)
      expect((yield* pools.list).find(({ name }) => name === "far")?.provisions).toEqual([])
      yield* connectionCommands.Remove(connection.id, { context })
    })
)

plane.live("Outputs of a lost agent's apply are private if only the pool knows the secrets that they may contain", () =>
  Effect.gen(function* () {
    const { enrolled, pools } = yield* world
    const { context, workspaceId } = yield* TestPlane
    const connections = yield* Connections
    const agent = yield* enrolled()
    yield* pools.provide("far", "cloud", workspaceId)
    const { id } = yield* connections.create(context, {
      workspaceId,
      provider: "example.test/acme/demo",
      displayName: "cloud",
      providedBy: { pool: PoolName.make("far"), name: "cloud" }
    })
    const row = yield* (yield* ConnectionStore).find(id)
    if (row === undefined) return yield* Effect.die(new Error("The Connection is gone"))
    const monitor = yield* AgentMonitor
    const sql = yield* SqlClient.SqlClient
    for (const isOfPool of [false, true]) {
      const { capsuleId, claim } = yield* applyingOn(agent, `lost-${isOfPool}`)
      if (isOfPool) yield* (yield* CredentialsInUse).hold(claim.runId, row)
      const blob = yield* agent.put(claim, "state", stateFile(1))
      yield* agent.as(agent.client.Checkpoint({ ...claim, serial: 1, resourceCount: 1, blob }))
      yield* monitor.release(claim.runId)
      yield* settled(claim.runId)
      const outputs = yield* sql`SELECT name, sensitive FROM outputs WHERE capsule_id = ${capsuleId}`
      expect(outputs).toEqual([{ name: "value", sensitive: isOfPool ? 1 : 0 }])
    }
  })
)

const credentials = (letter: string) => [{ name: "cloud", mark: letter.repeat(43) }]
const provided = { provided: ["cloud"] }

/** Creates a plan on an agent with these credentials, and leaves it waiting for approval. */
const plannedWith = Effect.fnUntraced(function* (agent: TestAgent, branch: string, letter: string) {
  const id = yield* begun(branch)
  const { offer } = yield* offerTo(agent)
  const [{ mark, name } = { mark: "", name: "" }] = credentials(letter)
  yield* planOn(agent, offer, [{ name, digest: "of-this-plan", mark }])
  yield* reviewable(id)
  return { id, planId: offer.runId }
})

const standing = Effect.fnUntraced(function* (planId: RunId) {
  const sql = yield* SqlClient.SqlClient
  const [run] = yield* sql<{ status: string; reason: string | null }>`SELECT status,
    (SELECT json_extract(data, '$.reason') FROM run_events WHERE run_id = r.id AND kind = 'run.superseded') AS reason
    FROM runs r WHERE id = ${planId}`
  return run
})

plane.live("a plan becomes void once no agent has the credentials with which the plan was created", () =>
  Effect.gen(function* () {
    const { enrolled } = yield* world
    const sql = yield* SqlClient.SqlClient
    const [one, two] = [yield* enrolled(provided), yield* enrolled(provided)]
    yield* two.hello([], { marks: credentials("a") })
    yield* one.hello([], { marks: credentials("a") })
    const { planId } = yield* plannedWith(one, "replaced", "a")
    const waiting = { status: "waiting_approval", reason: null }
    expect(yield* standing(planId)).toEqual(waiting)
    // Nobody can verify a guess at the values with access to the database alone.
    const kept = yield* sql`SELECT mark FROM agent_provided_marks UNION ALL SELECT provided_marks FROM run_plans`
    expect(JSON.stringify(kept)).not.toContain("aaaa")
    yield* one.hello([], { marks: credentials("b") })
    expect(yield* standing(planId)).toEqual(waiting)
    // An agent of an earlier release does not report its credentials, so svc assumes that the agent may still have them.
    yield* two.hello()
    yield* (yield* ProvidedMarks).voidReplaced
    expect(yield* standing(planId)).toEqual(waiting)
    yield* two.hello([], { marks: credentials("c") })
    const run = yield* standing(planId)
    expect(run?.status).toBe("superseded")
    expect(run?.reason).toBe(
      "The agents of the pool far have new values for the credentials cloud that this plan was made with. Plan again."
    )
    expect(yield* sql`SELECT 1 AS one FROM run_plans WHERE run_id = ${planId}`).toEqual([])
    yield* (yield* Agents).revoke(one.agentId)
    yield* (yield* Agents).revoke(two.agentId)
  })
)

plane.live("an agent's earlier report does not void a plan, which remains valid while the agent is away", () =>
  Effect.gen(function* () {
    const { enrolled } = yield* world
    const { voidReplaced } = yield* ProvidedMarks
    const agent = yield* enrolled(provided)
    yield* agent.hello([], { marks: credentials("a") })
    // The credentials are replaced between the agent's last session and the plan.
    const { planId } = yield* plannedWith(agent, "newer", "b")
    yield* voidReplaced
    expect((yield* standing(planId))?.status).toBe("waiting_approval")
    yield* agent.hello([], { marks: [] })
    yield* voidReplaced
    expect((yield* standing(planId))?.status).toBe("waiting_approval")
    // A second agent has different credentials, and the first agent never returns.
    const other = yield* enrolled(provided)
    yield* other.hello([], { marks: credentials("c") })
    yield* agent.hello([], { marks: credentials("b") })
    yield* voidReplaced
    expect((yield* standing(planId))?.status).toBe("waiting_approval")
    yield* (yield* Agents).revoke(agent.agentId)
    yield* voidReplaced
    expect((yield* standing(planId))?.status).toBe("superseded")
    yield* (yield* Agents).revoke(other.agentId)
  })
)

plane.live("a plan that finishes late does not make svc accept credentials that the agent no longer has", () =>
  Effect.gen(function* () {
    const { enrolled } = yield* world
    const { voidReplaced } = yield* ProvidedMarks
    const agent = yield* enrolled(provided)
    yield* agent.hello([], { marks: credentials("a") })
    yield* begun("late")
    const { offer } = yield* offerTo(agent)
    yield* agent.as(agent.client.Accept(offer))
    yield* agent.hello([], { marks: credentials("b") })
    const { planId } = yield* plannedWith(agent, "timely", "b")
    yield* planOn(agent, offer, [{ name: "cloud", digest: "of-the-late-plan", mark: "a".repeat(43) }])
    yield* settled(offer.runId)
    yield* voidReplaced
    expect((yield* standing(planId))?.status).toBe("waiting_approval")
    expect((yield* standing(offer.runId))?.status).toBe("superseded")
    yield* (yield* Agents).revoke(agent.agentId)
  })
)

plane.live(
  "a plan does not wait for an agent that was silent for an hour if another agent has different credentials",
  () =>
    Effect.gen(function* () {
      const { enrolled } = yield* world
      const { voidReplaced } = yield* ProvidedMarks
      const presence = yield* AgentPresence
      const [old, other] = [yield* enrolled(provided), yield* enrolled(provided)]
      yield* old.hello([], { marks: credentials("a") })
      yield* other.hello([], { marks: credentials("b") })
      const { id } = yield* plannedWith(old, "of-the-old", "a")
      const { apply } = yield* approvedApply(id)
      const needs = yield* AgentNeeds
      const holders = Effect.map(
        needs.of(apply.id),
        Option.match({ onNone: () => "none", onSome: (need) => need.holders })
      )
      // The agent left without being revoked, as instances in an autoscaling group do.
      yield* presence.left(old.agentId)
      yield* after(3500, presence.heard(other.agentId))
      expect(yield* after(3500, holders)).toEqual([old.agentId])
      expect(yield* after(3700, holders)).toBeUndefined()
      yield* (yield* RunCommands).Cancel(apply.id, { context: (yield* TestPlane).context })
      const { planId: waiting } = yield* plannedWith(old, "of-the-old-again", "a")
      yield* presence.left(old.agentId)
      yield* after(3500, voidReplaced)
      expect((yield* standing(waiting))?.status).toBe("waiting_approval")
      yield* after(3700, voidReplaced)
      expect((yield* standing(waiting))?.status).toBe("superseded")
      yield* (yield* Agents).revoke(old.agentId)
      yield* (yield* Agents).revoke(other.agentId)
    })
)

plane.live(
  "an agent with the credentials of the plan gets the apply, even if another agent has newer credentials",
  () =>
    Effect.gen(function* () {
      const { enrolled } = yield* world
      const [one, two] = [yield* enrolled(provided), yield* enrolled(provided)]
      yield* one.hello([], { marks: credentials("a") })
      yield* two.hello([], { marks: credentials("b") })
      const { id } = yield* plannedWith(one, "for-its-holder", "a")
      const { apply } = yield* approvedApply(id)
      const asked = two.next(two.claim()).pipe(Effect.timeoutOption("1 second"))
      expect((yield* asked)._tag).toBe("None")
      const { offer } = yield* offerTo(one)
      expect(offer.runId).toBe(apply.id)
      yield* one.as(one.client.Decline({ runId: offer.runId, fence: offer.fence, reason: "for the next one" }))
      // No agent has these credentials any more, so any agent may accept the offer and then report why it cannot apply the
      // plan.
      yield* one.hello([], { marks: credentials("c") })
      expect((yield* offerTo(two)).offer.runId).toBe(apply.id)
    })
)
