import { afterAll, expect } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Connections } from "../../../../actors/connection/Connections.ts"
import { PoolName } from "../../../../schema/agent/PoolName.ts"
import { suite } from "../../../support/Effect.ts"
import { TestPlane } from "../../../support/TestPlane.ts"
import { farPlane, world } from "../support/FarPlane.ts"

const plane = suite(farPlane)
afterAll(plane.dispose)

plane.live(
  "what a pool provides is used by the Workspaces to which the operator gives it, and holds no value here",
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
      const stored = sql`SELECT sealed_values, provided_name FROM connections WHERE id = ${connection.id}`
      expect(yield* stored).toEqual([{ sealed_values: null, provided_name: "cloud" }])
      expect((yield* connections.test(context, connection.id)).tested).toBe("pool")
      const rotated = yield* Effect.flip(
        connections.update(context, connection.id, { values: { DEMO_TOKEN: "given-after-all" } })
      )
      expect(rotated.code).toBe("failed_precondition")
      expect(rotated.message).toContain("Change them there")
      yield* connections.update(context, connection.id, { displayName: "production" })
      yield* pools.withhold("far", "cloud", workspaceId)
      expect((yield* Effect.flip(connections.test(context, connection.id))).code).toBe("failed_precondition")
      expect((yield* Effect.flip(pools.withhold("far", "cloud", workspaceId))).code).toBe("not_found")
      // Who may not use the pool any more is not given its credentials when it may again.
      yield* pools.provide("far", "cloud", workspaceId)
      yield* pools.unassign("far", workspaceId)
      expect((yield* Effect.flip(pools.provide("far", "cloud", workspaceId))).code).toBe("failed_precondition")
      yield* pools.assign("far", workspaceId)
      expect((yield* pools.list).find(({ name }) => name === "far")?.provisions).toEqual([])
      yield* connections.remove(context, connection.id)
    })
)
