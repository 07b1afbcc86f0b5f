import { Effect, Fiber, Schedule } from "effect"
import type { KillPointName } from "../../../actors/base/KillPoint.ts"
import { Broken, holds } from "../../crash/CrashClient.ts"
import { judged } from "../support/History.ts"
import { answered, appliesAgain, backgroundWithin, planned, succeeds } from "../support/Progress.ts"
import { writer } from "../support/Writer.ts"
import type { NodesCase } from "./NodesCase.ts"

/** Points in an agent's apply at which a server can be killed between two steps. */
const points: ReadonlyArray<readonly [point: KillPointName, passing: number]> = [
  ["approve.decided", 1],
  ["apply.run.queued", 1],
  ["apply.asked", 1],
  ["apply.run.started", 1],
  ["apply.run.succeeded", 1]
]

/** Longer than the silence after which other servers settle the Runs of a frozen server. */
const frozenFor = "14 seconds"

/** Kills a server at a point while it serves an agent's apply. */
const atPoint = (signal: "SIGKILL" | "SIGSTOP", [point, passing]: (typeof points)[number]): NodesCase => ({
  name: `${signal} of a node at ${point}:${passing}`,
  isShort: signal === "SIGKILL" ? point === "apply.run.succeeded" : point === "apply.run.started",
  run: Effect.fnUntraced(function* (world, label) {
    const [node] = world.nodes
    if (node === undefined) return yield* Effect.die(new Error("There is no node"))
    yield* node.restarted({ at: { point, passing, signal } })
    const { url } = yield* node.serving
    const before = node.starts()
    const { planRunId } = yield* planned(world, label)
    // All requests go to this server until it is killed, so that it reaches the point.
    world.balancer.only(url)
    const applying = yield* Effect.forkScoped(world.applied(planRunId))
    yield* Effect.repeat(
      Effect.sync(() => (signal === "SIGKILL" ? node.starts() > before : node.isStopped())),
      { until: (isSo) => isSo, schedule: Schedule.spaced("50 millis") }
    ).pipe(
      Effect.timeoutOrElse({
        duration: "60 seconds",
        orElse: () => new Broken({ message: `No server came to ${point}:${passing}` })
      }),
      Effect.ensuring(Effect.sync(() => world.balancer.only(undefined)))
    )
    const died = performance.now()
    const writes = yield* writer(world)
    if (signal === "SIGSTOP") {
      yield* Effect.sleep(frozenFor)
      yield* answered(writes)
      yield* node.signal("SIGCONT")
    }
    yield* succeeds(world, yield* Fiber.join(applying))
    // At this point, one server has received the result and another server has to settle it.
    if (point === "apply.run.succeeded") {
      const passed = performance.now() - died
      yield* holds(passed <= backgroundWithin, `The result was settled after ${Math.round(passed)} ms`)
    }
    yield* answered(writes)
    yield* appliesAgain(world, `${label}-next`)
    yield* judged(world, [writes])
  })
})

export const deathCases: ReadonlyArray<NodesCase> = points.flatMap((point) => [
  atPoint("SIGKILL", point),
  atPoint("SIGSTOP", point)
])
