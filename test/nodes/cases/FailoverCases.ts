import { Effect, Fiber } from "effect"
import { holds } from "../../crash/CrashClient.ts"
import { judged } from "../support/History.ts"
import { anotherWorld } from "../support/NodesWorld.ts"
import { answered, appliesAgain, backgroundWithin, planned, succeeds } from "../support/Progress.ts"
import { replicatedPostgres } from "../support/ReplicatedPostgres.ts"
import { writer } from "../support/Writer.ts"
import type { NodesCase } from "./NodesCase.ts"

/**
 * Shows what svc does when the database fails over to a synchronous streaming replica: the writes that were answered before are in
 * the promoted replica, commands are answered again in time, an apply continues on its agent, and a sync that was in progress goes
 * on. The failover itself is not svc's: the case ends the first server, promotes the replica and moves the address, in this order.
 */
const failover: NodesCase = {
  name: "the database fails over to a streaming replica while people write and an agent applies",
  isShort: false,
  run: Effect.fnUntraced(function* (shared, label) {
    const postgres = yield* replicatedPostgres
    const world = yield* anotherWorld(shared, label, { postgres })
    const { planRunId } = yield* planned(world, `${label}-a`)
    const writes = yield* writer(world)
    yield* world.hold(`${label}-a-b`)
    const applyId = yield* world.applied(planRunId)
    yield* world.held(`${label}-a-b`)
    const acknowledged = writes.acknowledged.size
    const installing = yield* Effect.forkScoped(planned(world, `${label}-b`))
    writes.longestGap()
    const began = performance.now()
    yield* postgres.failedOver
    yield* world.letGo(`${label}-a-b`)
    yield* succeeds(world, applyId)
    yield* Fiber.join(installing)
    const passed = performance.now() - began
    yield* holds(passed <= backgroundWithin, `The work of the servers went on after ${Math.round(passed)} ms`)
    yield* answered(writes)
    const [row] = yield* world.query("SELECT pg_is_in_recovery() AS standby, timeline_id FROM pg_control_checkpoint()")
    yield* holds(row?.["standby"] === 0, `The servers use ${JSON.stringify(row)}`)
    yield* appliesAgain(world, `${label}-c`)
    yield* holds(
      acknowledged > 0 && writes.acknowledged.size > acknowledged,
      `${acknowledged} writes were answered before the failover, and ${writes.acknowledged.size} in all`
    )
    yield* judged(world, [writes])
  })
}

export const failoverCases: ReadonlyArray<NodesCase> = [failover]
