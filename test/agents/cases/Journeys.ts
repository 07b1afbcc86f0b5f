import { readdirSync, rmSync } from "node:fs"
import { Effect, Fiber, Schedule } from "effect"
import { holds } from "../../crash/CrashClient.ts"
import type { Fault, FaultLine } from "../line/FaultLine.ts"
import type { Occasion, Said } from "../Messages.ts"
import type { AgentWorld } from "../support/AgentWorld.ts"
import { killed, type Started } from "../support/Processes.ts"

type Agent = Effect.Success<ReturnType<AgentWorld["agent"]>>

const often = Schedule.spaced("50 millis")

export const eventually = (isSo: () => boolean) =>
  Effect.repeat(Effect.sync(isSo), { until: (so) => so, schedule: often }).pipe(Effect.asVoid)

/**
 * Keeps an agent running: restarts it whenever it exits, as a service manager would. `kill` kills the agent. `isKept`
 * returns whether the agent's disk contains any file of a Run.
 */
export const keptAgent = Effect.fn("keptAgent")(function* (agent: Agent) {
  let current: Started | undefined
  let starts = 0
  const lives = Effect.scoped(
    Effect.gen(function* () {
      current = yield* agent.start
      starts += 1
      yield* Effect.promise(() => current?.exited ?? Promise.resolve(0))
    })
  )
  const fiber = yield* Effect.forkScoped(Effect.repeat(lives, Schedule.spaced("200 millis")))
  return {
    ...agent,
    kill: () => current?.signal("SIGKILL"),
    pid: () => current?.pid ?? 0,
    signal: (name: "SIGSTOP" | "SIGCONT" | "SIGTERM") => current?.signal(name),
    starts: () => starts,
    owesNothing: eventually(() => readdirSync(`${agent.folder}/runs`).length === 0),
    end: Effect.gen(function* () {
      yield* Fiber.interrupt(fiber)
      if (current !== undefined) yield* killed(current)
    })
  }
})
export type KeptAgent = Effect.Success<ReturnType<typeof keptAgent>>

/**
 * Messages that an agent sends while its tool works. The tool waits until the faults injected into these messages have
 * happened.
 */
const whileApplying: ReadonlySet<string> = new Set([
  "Start",
  "Renew",
  "Report",
  "Checkpoint",
  "PUT state"
] satisfies Array<Said>)

const armed = (line: FaultLine, faults: ReadonlyArray<Fault>) => Effect.sync(() => line.arm(faults))

/** Plans a Capsule while the faults in `during` are armed. */
const plan = Effect.fnUntraced(function* (
  world: AgentWorld,
  agent: KeptAgent,
  label: string,
  module: "notes" | "built",
  during: ReadonlyArray<Fault>
) {
  yield* armed(agent.line, during)
  const made = yield* world.installed(label, module)
  return { ...made, planned: yield* world.over(made.planRunId) }
})

/**
 * Takes a Capsule through its lifecycle up to an occasion at which the faults occur. Every Run must finish despite the faults.
 */
export const journeyTo = Effect.fn("journeyTo")(function* (
  world: AgentWorld,
  agent: KeptAgent,
  label: string,
  occasion: Occasion,
  faults: ReadonlyArray<Fault>
) {
  const none: ReadonlyArray<Fault> = []
  if (occasion === "handIn") return yield* handedIn(world, agent, label, faults)
  if (occasion === "decline") return yield* declined(world, agent, label, faults)
  const first = occasion === "plan" || occasion === "begin" ? faults : none
  const { capsuleId, planRunId, planned } = yield* plan(world, agent, label, "built", first)
  if (occasion === "plan" || occasion === "begin" || planned.status !== "waiting_approval") return [planned]
  if (occasion === "apply") {
    // The restarted agent has lost the build and must fetch it from the server again.
    rmSync(`${agent.folder}/builds`, { recursive: true, force: true })
    yield* armed(agent.line, faults)
  }
  yield* world.hold(`${label}-b`)
  const applyId = yield* world.approvedApply(planRunId)
  yield* Effect.forkScoped(
    Effect.andThen(
      eventually(() => agent.line.unhit().every((message) => !whileApplying.has(message))),
      Effect.ignore(world.letGo(`${label}-b`))
    )
  )
  const applied = yield* world.over(applyId)
  if (occasion === "apply" || applied.status !== "succeeded") return [planned, applied]
  yield* armed(agent.line, faults)
  const { run } = yield* world.client.capsules.driftCheck({ params: { capsuleId }, payload: {} })
  return [planned, applied, yield* world.over(run.id)]
})

/** Releases the Capsule from an agent that is frozen while its tool works, so the agent's results become evidence. */
const handedIn = Effect.fnUntraced(function* (
  world: AgentWorld,
  agent: KeptAgent,
  label: string,
  faults: ReadonlyArray<Fault>
) {
  const { planRunId, planned } = yield* plan(world, agent, label, "notes", [])
  yield* world.hold(`${label}-b`)
  const applyId = yield* world.approvedApply(planRunId)
  yield* world.held(`${label}-b`)
  yield* armed(agent.line, faults)
  agent.signal("SIGSTOP")
  const silent = yield* world.until(applyId, ({ agentUnreachableSince }) => agentUnreachableSince !== undefined)
  yield* world.operator("agent", "release", applyId, "--fence", String(silent.agent?.fence), "--tool-is-dead")
  agent.signal("SIGCONT")
  const applied = yield* world.over(applyId)
  yield* holds(
    applied.error?.code === "agent_lost",
    `A released apply is ${applied.status} ${applied.error?.code ?? ""}`
  )
  yield* world.letGo(`${label}-b`)
  yield* agent.owesNothing
  return [planned, applied]
})

/** Changes an offer in transit. The agent declines the offer without opening it, and another agent gets the offer. */
const declined = Effect.fnUntraced(function* (
  world: AgentWorld,
  agent: KeptAgent,
  label: string,
  faults: ReadonlyArray<Fault>
) {
  yield* armed(agent.line, [{ message: "Next", way: "forged answer", answers: /"signature"/ }, ...faults])
  const { planRunId } = yield* world.installed(label, "notes")
  yield* eventually(() => agent.line.unhit().length === 0)
  const other = yield* keptAgent(yield* world.agent(`${label}-other`))
  const planned = yield* world.over(planRunId)
  yield* other.owesNothing
  yield* other.end
  return [planned]
})
