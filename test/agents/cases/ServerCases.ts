import { Effect } from "effect"
import { holds } from "../../crash/CrashClient.ts"
import { agentWorld } from "../support/AgentWorld.ts"
import { killed } from "../support/Processes.ts"
import { verdict } from "../support/Verdict.ts"
import type { WorldCase } from "./AgentCase.ts"
import { keptAgent } from "./Journeys.ts"

/** Time, in seconds, after which an agent that gets no response abandons a plan. */
const longestPlan = 48

const notes = ["a", "b", "c"].map((name) => `demo_note.${name}`)

/** One agent applies while another plans. Both tools finish while the server is down. */
const bothWork = (seconds: number): WorldCase => ({
  name: `the server is killed while one agent applies and another plans, and comes back after ${seconds} s: nothing is lost`,
  run: Effect.fnUntraced(function* (options) {
    const world = yield* agentWorld(options)
    const one = yield* keptAgent(yield* world.agent("one", { places: 1 }))
    const { capsuleId, planRunId } = yield* world.installed("one")
    yield* world.over(planRunId)
    yield* world.hold("one-b")
    const applyId = yield* world.approvedApply(planRunId)
    yield* world.held("one-b")
    const two = yield* keptAgent(yield* world.agent("two", { places: 1 }))
    yield* world.plans.hold("two-a")
    const other = yield* world.installed("two")
    yield* world.plans.held("two-a")
    yield* killed(world.first)
    yield* Effect.sleep(seconds * 500)
    yield* world.letGo("one-b")
    yield* world.plans.letGo("two-a")
    yield* Effect.sleep(seconds * 500)
    yield* world.serveAgain()
    const apply = yield* world.over(applyId)
    yield* holds(apply.status === "succeeded", `${apply.status} ${apply.error?.code} ${apply.error?.message}`)
    const capsule = yield* world.capsule(capsuleId)
    yield* holds(capsule.status === "active" && capsule.currentStateGeneration === 1, JSON.stringify(capsule))
    // Output that the tool printed before and during the outage arrives exactly once.
    const events = yield* world.eventsOf(applyId)
    const completed = events.flatMap(({ data, kind }) =>
      kind === "resource.completed" && "address" in data ? [data.address] : []
    )
    yield* holds(completed.toSorted().join() === notes.join(), `Completed: ${completed.join(", ")}`)
    const plan = yield* world.over(other.planRunId)
    const attempts = seconds / 2 < longestPlan ? 1 : 2
    yield* holds(
      plan.status === "waiting_approval" && plan.attempt === attempts,
      `${plan.status} in attempt ${plan.attempt}: ${plan.error?.message}`
    )
    yield* Effect.all([one.owesNothing, two.owesNothing])
    yield* Effect.all([one.end, two.end])
    yield* verdict(world)
  })
})

/** The shortest lease that a pool may have: the agent asks the tool to stop after 60 s without a response. */
const leaseSeconds = 120

const longerThanLease: WorldCase = {
  name: "the server is killed while an agent applies, and comes back after its lease",
  run: Effect.fnUntraced(function* (options) {
    const world = yield* agentWorld({ ...options, leaseSeconds })
    const one = yield* keptAgent(yield* world.agent("one"))
    const { planRunId } = yield* world.installed("one")
    yield* world.over(planRunId)
    yield* world.hold("one-b")
    const applyId = yield* world.approvedApply(planRunId)
    yield* world.held("one-b")
    yield* killed(world.first)
    yield* Effect.sleep((leaseSeconds + 10) * 1000)
    yield* world.letGo("one-b")
    yield* world.serveAgain()
    const apply = yield* world.over(applyId)
    // The agent asked the tool to stop, and saved the state as usual.
    yield* holds(
      apply.status === "succeeded" || apply.error?.code === "apply_interrupted",
      `${apply.status} ${apply.error?.code} ${apply.error?.message}`
    )
    yield* one.owesNothing
    yield* one.end
    yield* verdict(world)
  })
}

export const serverCases: ReadonlyArray<WorldCase> = [bothWork(300), longerThanLease, bothWork(5)]
