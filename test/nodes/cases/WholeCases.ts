import { Effect } from "effect"
import { holds } from "../../crash/CrashClient.ts"
import { judged } from "../support/History.ts"
import { appliesAgain, planned, succeeds } from "../support/Progress.ts"
import { writer } from "../support/Writer.ts"
import type { NodesCase } from "./NodesCase.ts"

const mainJob: NodesCase = {
  name: "three nodes share the main job, a request each",
  isShort: true,
  run: Effect.fnUntraced(function* (world, label) {
    const writes = yield* writer(world)
    const one = yield* world.installed(label, "built")
    const plan = yield* world.over(one.planRunId)
    yield* holds(plan.status === "waiting_approval", `The plan is ${plan.status}: ${plan.error?.message}`)
    yield* succeeds(world, yield* world.applied(one.planRunId))
    const { run } = yield* world.client.capsules.driftCheck({ params: { capsuleId: one.capsuleId }, payload: {} })
    yield* succeeds(world, run.id)
    const served = world.nodes.map(({ url }) => world.balancer.answered.get(url() ?? "") ?? 0)
    yield* holds(
      served.every((count) => count > 5),
      `The nodes answered ${served.join(", ")} requests`
    )
    yield* judged(world, [writes])
  })
}

const rolling: NodesCase = {
  name: "every node leaves and joins again while people write and an agent applies",
  isShort: true,
  run: Effect.fnUntraced(function* (world, label) {
    const writes = yield* writer(world)
    const { planRunId } = yield* world.installed(label)
    yield* world.over(planRunId)
    yield* world.hold(`${label}-b`)
    const applyId = yield* world.applied(planRunId)
    yield* world.held(`${label}-b`)
    for (const node of world.nodes) {
      yield* node.restarted()
      yield* node.serving
    }
    yield* world.letGo(`${label}-b`)
    yield* succeeds(world, applyId)
    yield* judged(world, [writes])
  })
}

const firstStart: NodesCase = {
  name: "three nodes start at once on an empty database, and are one installation",
  isShort: false,
  run: Effect.fnUntraced(function* (world, label) {
    const own = yield* world.emptyDatabase
    const started = yield* Effect.forEach(
      [1, 2, 3],
      (number) => world.serveIn(`${world.folder}/${label}-${number}`, own.environment),
      { concurrency: "unbounded" }
    )
    for (const { url } of started) {
      const { status } = yield* Effect.promise(() => fetch(`${url}/readyz`))
      yield* holds(status === 200, `A node is not ready: ${status}`)
    }
    const counts = yield* own.query(`SELECT (SELECT COUNT(*) FROM installation) AS installations,
      (SELECT COUNT(*) FROM nodes WHERE gone_at IS NULL) AS nodes,
      (SELECT COUNT(*) FROM vault_data_keys WHERE record_kind = 'svc/mac') AS roots,
      (SELECT COUNT(*) FROM audit_chains WHERE scope NOT LIKE 'ws_%') AS chains`)
    const wanted = { installations: 1, nodes: 3, roots: 1, chains: 1 }
    yield* holds(JSON.stringify(counts) === JSON.stringify([wanted]), `The database has ${JSON.stringify(counts)}`)
  })
}

/** Difference between a server's clock and the correct time, in milliseconds. */
const clockOffset = 60_000

const clocks: NodesCase = {
  name: "the clocks of two nodes are a minute ahead and a minute behind, and one of them dies",
  isShort: false,
  run: Effect.fnUntraced(function* (world, label) {
    const [, ahead, behind] = world.nodes
    if (ahead === undefined || behind === undefined) return yield* Effect.die(new Error("There are too few nodes"))
    yield* ahead.restarted({ clockOffset })
    yield* behind.restarted({ clockOffset: -clockOffset })
    const writes = yield* writer(world)
    const { planRunId } = yield* planned(world, label)
    yield* world.hold(`${label}-b`)
    const applyId = yield* world.applied(planRunId)
    yield* world.held(`${label}-b`)
    // No node is considered dead because its clock is wrong.
    const before = world.nodes.map(({ starts }) => starts())
    yield* Effect.sleep("20 seconds")
    const after = world.nodes.map(({ starts }) => starts())
    yield* holds(String(before) === String(after), `A node has ended: ${before.join(", ")} and ${after.join(", ")}`)
    yield* ahead.signal("SIGKILL")
    yield* world.letGo(`${label}-b`)
    yield* succeeds(world, applyId)
    yield* appliesAgain(world, `${label}-next`)
    yield* behind.restarted()
    yield* judged(world, [writes])
  })
}

export const wholeCases: ReadonlyArray<NodesCase> = [mainJob, rolling, firstStart, clocks]
