import { Effect } from "effect"
import { keptAgent } from "../../agents/cases/Journeys.ts"
import { holds } from "../../crash/CrashClient.ts"
import { balancer } from "../line/Balancer.ts"
import { tcpLine } from "../line/TcpLine.ts"
import { judged } from "../support/History.ts"
import { answered, appliesAgain, planned, succeeds } from "../support/Progress.ts"
import { writer } from "../support/Writer.ts"
import type { NodesWorld } from "../support/NodesWorld.ts"
import type { NodesCase } from "./NodesCase.ts"

/** A fault while an agent applies, and its duration. */
const during = (
  name: string,
  happens: (world: NodesWorld) => Effect.Effect<unknown, unknown>,
  options: { readonly isShort?: boolean; readonly isOutage?: boolean } = {}
): NodesCase => ({
  name,
  isShort: options.isShort ?? false,
  run: Effect.fnUntraced(function* (world, label) {
    const { planRunId } = yield* planned(world, label)
    const writes = yield* writer(world)
    yield* world.hold(`${label}-b`)
    const applyId = yield* world.applied(planRunId)
    yield* world.held(`${label}-b`)
    writes.longestGap()
    yield* happens(world)
    if (options.isOutage !== true) yield* answered(writes)
    yield* world.letGo(`${label}-b`)
    yield* succeeds(world, applyId)
    yield* appliesAgain(world, `${label}-next`)
    yield* judged(world, [writes])
  })
})

const first = ({ nodes }: NodesWorld) => Effect.fromNullishOr(nodes[0])

/** Longer than the silence after which other servers settle a server's Runs. */
const long = "14 seconds"
const short = "4 seconds"

const stopped = (duration: typeof long | typeof short) =>
  Effect.fnUntraced(function* (world: NodesWorld) {
    const { database } = yield* first(world)
    database.stop(true)
    yield* Effect.sleep(duration)
    database.stop(false)
  })

/**
 * Agents reach the servers through their own balancer, as in another network: each server is lost to them in turn, without an
 * answer, while clients and the other servers reach it. Then all are lost to them, and come back one by one.
 */
const agentsApart: NodesCase = {
  name: "agents lose one node after the other, then all, while everybody else reaches them",
  isShort: false,
  run: Effect.fnUntraced(function* (world, label) {
    for (const { line } of world.keptAgents) line.cut(true)
    yield* Effect.addFinalizer(() => Effect.sync(() => world.keptAgents.forEach(({ line }) => line.cut(false))))
    const own = yield* balancer()
    const lines = yield* Effect.forEach(world.nodes, ({ serving }) =>
      Effect.gen(function* () {
        const { port } = new URL((yield* serving).url)
        const line = yield* tcpLine(() => ({ host: "127.0.0.1", port: Number(port) }))
        own.join(`http://127.0.0.1:${line.port}`)
        return line
      })
    )
    yield* keptAgent(yield* world.agent(label, { server: own.url }))
    const { planRunId } = yield* planned(world, label)
    const writes = yield* writer(world)
    yield* world.hold(`${label}-b`)
    const applyId = yield* world.applied(planRunId)
    yield* world.held(`${label}-b`)
    for (const line of lines) {
      line.stop(true)
      yield* Effect.sleep(short)
      yield* appliesAgain(world, `${label}-${lines.indexOf(line)}`)
      line.stop(false)
    }
    for (const line of lines) line.stop(true)
    yield* Effect.sleep(long)
    yield* world.letGo(`${label}-b`)
    for (const line of lines) {
      line.stop(false)
      yield* Effect.sleep("2 seconds")
    }
    yield* succeeds(world, applyId)
    yield* answered(writes)
    yield* holds(
      lines.length === world.balancer.ready(),
      `Of ${lines.length} servers, clients reach ${world.balancer.ready()}`
    )
    yield* judged(world, [writes])
  })
}

export const lineCases: ReadonlyArray<NodesCase> = [
  agentsApart,
  during("a node cannot reach the database for longer than others wait for it", stopped(long), { isShort: true }),
  during("a node cannot reach the database for a moment", stopped(short)),
  during(
    "the connections of a node with the database are reset again and again",
    Effect.fnUntraced(function* (world) {
      const { database } = yield* first(world)
      for (let times = 0; times < 10; times++) {
        database.cut(true)
        yield* Effect.sleep("300 millis")
        database.cut(false)
        yield* Effect.sleep("700 millis")
      }
    })
  ),
  during(
    "every agent loses its line for a while",
    Effect.fnUntraced(function* (world) {
      for (const { line } of world.keptAgents) line.cut(true)
      yield* Effect.sleep(long)
      for (const { line } of world.keptAgents) line.cut(false)
    })
  ),
  during("the database is restarted", (world) => world.databaseRestarted, { isShort: true, isOutage: true }),
  during(
    "every node reaches the database with a delay of 2 ms",
    Effect.fnUntraced(function* (world) {
      for (const { database } of world.nodes) database.delay(2)
      yield* Effect.sleep(long)
      for (const { database } of world.nodes) database.delay(0)
    })
  )
]
