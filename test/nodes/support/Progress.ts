import { Effect } from "effect"
import { holds } from "../../crash/CrashClient.ts"
import type { NodesWorld } from "./NodesWorld.ts"
import type { Writer } from "./Writer.ts"

/** Maximum time in milliseconds without a response to a command while two servers are running. */
export const commandsWithin = 15_000

/** Maximum time in milliseconds until the work of servers continues after a server has died or the database has failed over. */
export const backgroundWithin = 30_000

/** Checks that commands were answered continuously since the last check. */
export const answered = (writes: Writer) =>
  Effect.suspend(() => {
    const gap = writes.longestGap()
    return holds(gap <= commandsWithin, `No command was answered for ${Math.round(gap)} ms`)
  })

/** Plans a new Capsule until it can be applied. */
export const planned = Effect.fn("planned")(function* (world: NodesWorld, label: string) {
  const made = yield* world.installed(label)
  const plan = yield* world.over(made.planRunId)
  yield* holds(
    plan.status === "waiting_approval",
    `The plan of ${label} is ${plan.status}: ${plan.error?.code} ${plan.error?.message}`
  )
  return made
})

/** Waits for an apply, which must succeed. */
export const succeeds = Effect.fn("succeeds")(function* (
  world: NodesWorld,
  applyId: Parameters<NodesWorld["over"]>[0]
) {
  const { error, status } = yield* world.over(applyId)
  yield* holds(status === "succeeded", `The apply ${applyId} is ${status}: ${error?.code} ${error?.message}`)
})

/** Plans and applies a new Capsule, which proves that nothing is waiting for a dead server. */
export const appliesAgain = Effect.fn("appliesAgain")(function* (world: NodesWorld, label: string) {
  const { planRunId } = yield* planned(world, label)
  yield* succeeds(world, yield* world.applied(planRunId))
})
