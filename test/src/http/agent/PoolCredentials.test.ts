import { afterAll, expect } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { AgentMonitor } from "../../../../actors/agent/AgentMonitor.ts"
import { ConnectionStore } from "../../../../actors/connection/ConnectionStore.ts"
import { HeldValues } from "../../../../actors/connection/HeldValues.ts"
import { Connections } from "../../../../actors/connection/Connections.ts"
import { poolObstacle } from "../../../../actors/execution/PoolObstacle.ts"
import { WorkspacePools } from "../../../../actors/pool/WorkspacePools.ts"
import { PoolName } from "../../../../schema/agent/PoolName.ts"
import { suite } from "../../../support/Effect.ts"
import { settled } from "../../../support/Journey.ts"
import { TestPlane } from "../../../support/TestPlane.ts"
import { applyingOn, farPlane, stateFile, world } from "../support/FarPlane.ts"

const plane = suite(farPlane)
afterAll(plane.dispose)

plane.live(
  "credentials of a pool are used by the Workspaces that the operator allows, and no value of them is stored here",
  () =>
    Effect.gen(function* () {
      const { pools } = yield* world
      const { context, workspaceId } = yield* TestPlane
      const connections = yield* Connections
      const request = (pool: string) => ({
        workspaceId,
        provider: "example.test/acme/demo",
        displayName: "cloud",
        providedBy: { pool: PoolName.make(pool), name: "cloud" }
      })
      const created = connections.create(context, request("far"))
      // The same for a pool that does not exist.
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
      expect((yield* connections.test(context, connection.id)).tested).toBe("pool")
      // Only its own pool executes Runs that use it; the reason names that pool.
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
        connections.update(context, connection.id, { values: { DEMO_TOKEN: "given-after-all" } })
      )
      expect(rotated.code).toBe("failed_precondition")
      expect(rotated.message).toContain("Change them there")
      yield* connections.update(context, connection.id, { displayName: "production" })
      yield* pools.withhold("far", "cloud", workspaceId)
      expect((yield* poolObstacle(row, workspaceId, "far"))?.blockedReason).toContain("does not let this Workspace")
      const withheld = yield* Effect.flip(connections.test(context, connection.id))
      expect(withheld.code).toBe("failed_precondition")
      expect(withheld.message).toContain("does not let this Workspace")
      // Nothing is wrong with the Connection itself.
      expect((yield* (yield* ConnectionStore).find(connection.id))?.status).toBe("verified")
      expect((yield* Effect.flip(pools.withhold("far", "cloud", workspaceId))).code).toBe("not_found")
      // A Workspace that lost the pool does not regain its credentials with it.
      yield* pools.provide("far", "cloud", workspaceId)
      yield* pools.unassign("far", workspaceId)
      expect((yield* Effect.flip(pools.provide("far", "cloud", workspaceId))).code).toBe("failed_precondition")
      yield* pools.assign("far", workspaceId)
      expect((yield* pools.list).find(({ name }) => name === "far")?.provisions).toEqual([])
      yield* connections.remove(context, connection.id)
    })
)

plane.live(
  "Outputs of an apply whose agent was lost are private if only the pool knows which secrets they may repeat",
  () =>
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
        if (isOfPool) yield* (yield* HeldValues).hold(claim.runId, row)
        const blob = yield* agent.put(claim, "state", stateFile(1))
        yield* agent.as(agent.client.Checkpoint({ ...claim, serial: 1, resourceCount: 1, blob }))
        yield* monitor.release(claim.runId)
        yield* settled(claim.runId)
        const outputs = yield* sql`SELECT name, sensitive FROM outputs WHERE capsule_id = ${capsuleId}`
        expect(outputs).toEqual([{ name: "value", sensitive: isOfPool ? 1 : 0 }])
      }
    })
)
