import { Effect } from "effect"
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

export const lineCases: ReadonlyArray<NodesCase> = [
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
