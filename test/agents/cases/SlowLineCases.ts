import { Clock, Duration, Effect, Schedule } from "effect"
import type { RunId } from "../../../schema/records/Ids.ts"
import { Broken, holds } from "../../crash/CrashClient.ts"
import { wideCounts } from "../support/AgentModules.ts"
import { agentWorld, type AgentWorld } from "../support/AgentWorld.ts"
import { verdict } from "../support/Verdict.ts"
import type { WorldCase } from "./AgentCase.ts"
import { eventually, keptAgent, type KeptAgent } from "./Journeys.ts"

/** Per second. */
const megabyte = 1_000_000

const planned = Effect.fnUntraced(function* (world: AgentWorld, label: string, module: Wide) {
  const { planRunId } = yield* world.installed(label, module)
  const plan = yield* world.over(planRunId)
  yield* holds(plan.status === "waiting_approval", `${plan.status} ${plan.error?.message}`)
  return planRunId
})

/**
 * Returns the time that the tool spent on all objects except the held object, and the number of objects in the saved states
 * at that time.
 */
const worked = Effect.fnUntraced(function* (world: AgentWorld, runId: RunId) {
  const events = yield* world.eventsOf(runId)
  const begun = events.find(({ data, kind }) => kind === "run.phase" && "phase" in data && data.phase === "apply")
  const completed = events.filter(({ kind }) => kind === "resource.completed")
  const last = completed.at(-1)
  const saved = events.flatMap(({ data, kind }) =>
    kind === "state.saved" && "resourceCount" in data ? [data.resourceCount] : []
  )
  return {
    completed: completed.length,
    millis: begun === undefined || last === undefined ? Number.NaN : Date.parse(last.at) - Date.parse(begun.at),
    saved
  }
})

/**
 * Measures how long a request takes to reach the agent while states fill the line. The agent passes the request to its tool
 * immediately.
 */
const cancelled = Effect.fnUntraced(function* (world: AgentWorld, agent: KeptAgent, planRunId: RunId) {
  const applyId = yield* world.approvedApply(planRunId)
  agent.line.slow(megabyte)
  yield* eventually(() => agent.line.backlog() > megabyte)
  const heard = agent.line.heard('"cancel":true')
  const asked = yield* Clock.currentTimeMillis
  yield* world.client.runs.cancel({ params: { runId: applyId }, payload: {} })
  yield* eventually(() => heard() !== undefined)
  agent.line.slow(undefined)
  const apply = yield* world.over(applyId)
  yield* holds(apply.status === "cancelled", `${apply.status} ${apply.error?.code} ${apply.error?.message}`)
  return (heard() ?? Number.NaN) - asked
})

const noSlower = 1.25

type Wide = keyof typeof wideCounts
const longestApply = Duration.minutes(8)
const seldom = Schedule.spaced("500 millis")

/**
 * Two agents on one machine run the same apply at the same time, one of them over a slow line. Other load on the machine slows
 * down both tools equally. A tool writes its whole state after each object, so the large object takes as long as all the others
 * combined.
 */
const slowLine = (name: string, module: Wide): WorldCase => ({
  name: `${name}: the tool is not slowed, and a cancel arrives`,
  run: Effect.fnUntraced(function* (options) {
    const world = yield* agentWorld(options)
    const named = (agent: string) => Effect.flatMap(world.agent(agent, { places: 1 }), keptAgent)
    const fast = yield* named("fast")
    const slow = yield* named("slow")
    const [one, two, three] = yield* Effect.all(
      [planned(world, "one", module), planned(world, "two", module), planned(world, "three", module)],
      { concurrency: "unbounded" }
    )
    // Both tools keep their first object in progress, so neither tool produces its final state before the slow line has
    // delivered two states.
    const open = ["one-0", "two-0"]
    yield* Effect.forEach(open, world.hold)
    const both = yield* Effect.forEach([one, two], world.approvedApply, { concurrency: 2 })
    slow.line.slow(megabyte)
    const begun = yield* Effect.forEach(both, (runId) => world.until(runId, ({ agentId }) => agentId !== undefined))
    const ofAgent = Effect.fnUntraced(function* (agent: KeptAgent) {
      const own = yield* agent.id
      const run = begun.find(({ agentId }) => agentId === own)
      return run === undefined ? yield* new Broken({ message: "One agent executed both" }) : run.id
    })
    const until = (runId: RunId, isSo: (work: Effect.Success<ReturnType<typeof worked>>) => boolean) =>
      world
        .until(runId, () => true)
        .pipe(
          Effect.tap(({ error, finishedAt, status }) =>
            holds(finishedAt === undefined, `${status} while an object is held. ${error?.code} ${error?.message}`)
          ),
          Effect.andThen(worked(world, runId)),
          Effect.repeat({ until: isSo, schedule: seldom }),
          Effect.timeoutOrElse({
            duration: longestApply,
            orElse: () =>
              Effect.fail(new Broken({ message: `No second state was saved in ${Duration.format(longestApply)}` }))
          })
        )
    const isComplete = ({ completed }: { readonly completed: number }) => completed === wideCounts[module] - 1
    const unhindered = yield* until(yield* ofAgent(fast), isComplete)
    const hindered = yield* until(yield* ofAgent(slow), (work) => isComplete(work) && work.saved.length > 1)
    yield* Effect.forEach(open, world.letGo)
    const ends = yield* Effect.forEach(both, world.over, { concurrency: 2 })
    slow.line.slow(undefined)
    for (const { error, status } of ends) {
      yield* holds(status === "succeeded", `${status} ${error?.code} ${error?.message}`)
    }
    yield* Effect.logInfo(
      `The tool applied for ${unhindered.millis} ms, and over a slow line for ${hindered.millis} ms. ` +
        `Saved meanwhile: ${unhindered.saved.join(", ")}; ${hindered.saved.join(", ")}.`
    )
    yield* holds(
      hindered.millis <= unhindered.millis * noSlower,
      `The tool took ${hindered.millis} ms over a slow line, and ${unhindered.millis} ms over a fast one`
    )
    yield* fast.owesNothing
    yield* fast.end
    const millis = yield* cancelled(world, slow, three)
    yield* Effect.logInfo(`A cancel took ${millis} ms.`)
    yield* holds(millis < 2000, `A cancel took ${millis} ms`)
    yield* slow.owesNothing
    yield* slow.end
    yield* verdict(world)
  })
})

export const slowLineCases: ReadonlyArray<WorldCase> = [
  slowLine("a 50 MB state of 200 resources over 1 MB/s", "wide"),
  slowLine("a 10 MB state of 40 resources over 1 MB/s", "half-wide")
]
