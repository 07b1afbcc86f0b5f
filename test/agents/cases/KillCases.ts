import { Effect } from "effect"
import { holds } from "../../crash/CrashClient.ts"
import { everySaid, isOfBefore, occasions } from "../Messages.ts"
import type { LaneCase } from "./AgentCase.ts"
import { journeyTo, keptAgent, type KeptAgent } from "./Journeys.ts"
import { faultAt } from "./LineCases.ts"

/**
 * The point at which the agent is killed: either before the server receives the message, or after the server has acted on it
 * but before the agent receives the response.
 */
const moments = { "request lost": "before", "answer lost": "after" } as const

/**
 * Kills the agent between each pair of messages, and restarts the agent on its folder. A plan is repeated. An apply ends
 * with the outcome that the server recorded. The verdict compares this outcome with the objects that the provider created.
 */
export const killCases: ReadonlyArray<LaneCase> = everySaid.flatMap((message) =>
  (["request lost", "answer lost"] as const).map((way) => ({
    name: `agent killed ${moments[way]} ${message}`,
    run: ({ nextLabel, world }) =>
      Effect.scoped(
        Effect.gen(function* () {
          const label = nextLabel()
          const made = yield* world.agent(label, isOfBefore(message) ? { line: yield* world.lineAsBefore } : {})
          let agent: KeptAgent | undefined
          const faults = [faultAt(message, way, () => agent?.kill())]
          const occasion = occasions[message]
          if (occasion === "begin") made.line.arm(faults)
          agent = yield* keptAgent(made)
          const runs = yield* journeyTo(world, agent, label, occasion, faults)
          yield* agent.owesNothing
          const missed = agent.line.unhit()
          yield* holds(missed.length === 0, `Never said: ${missed.join(", ")}`)
          yield* holds(agent.starts() > 1, "The agent was not killed")
          for (const { error, status, type } of runs.filter(({ type }) => type !== "apply")) {
            const isFine = status === "waiting_approval" || status === "succeeded"
            yield* holds(isFine, `The ${type} is ${status}: ${error?.code ?? ""} ${error?.message ?? ""}`)
          }
          yield* agent.end
        })
      )
  }))
)
