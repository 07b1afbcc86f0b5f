import { Effect } from "effect"
import { holds } from "../../crash/CrashClient.ts"
import { type Fault, type Way, ways } from "../line/FaultLine.ts"
import { everySaid, isOfBefore, type Occasion, occasions, type Said } from "../Messages.ts"
import type { AgentWorld } from "../support/AgentWorld.ts"
import type { LaneCase } from "./AgentCase.ts"
import { journeyTo, keptAgent } from "./Journeys.ts"

/** Losing the response to a poll is worth testing only if the response contains an offer. */
export const faultAt = (message: Said, way: Way, also?: () => void): Fault => ({
  message,
  way,
  ...(message === "Next" && (way === "answer lost" || way === "half the answer") ? { answers: /"signature"/ } : {}),
  ...(also === undefined ? {} : { also })
})

const wanted = { plan: "waiting_approval", apply: "succeeded", drift_check: "succeeded" } as const
const statusOf = (type: string) => Object.entries(wanted).find(([name]) => name === type)?.[1]

/**
 * Checks that a dropped connection only delays a Run and does not change its result. Also checks that the connection was
 * dropped.
 */
const cut = (
  world: AgentWorld,
  label: string,
  occasion: Occasion,
  faults: ReadonlyArray<Fault>,
  { asBefore }: { readonly asBefore: boolean }
) =>
  Effect.scoped(
    Effect.gen(function* () {
      const made = yield* world.agent(label, asBefore ? { line: yield* world.lineAsBefore } : {})
      if (occasion === "begin") made.line.arm(faults)
      const agent = yield* keptAgent(made)
      const runs = yield* journeyTo(world, agent, label, occasion, faults)
      yield* agent.owesNothing
      const missed = agent.line.unhit()
      yield* holds(missed.length === 0, `Never said: ${missed.join(", ")}`)
      for (const { error, status, type } of runs) {
        const isFine = status === statusOf(type) || (occasion === "handIn" && type === "apply")
        yield* holds(isFine, `The ${type} is ${status}: ${error?.code ?? ""} ${error?.message ?? ""}`)
      }
      yield* agent.end
    })
  )

/** Cuts each message in every way, in a separate Capsule lifecycle for each cut. */
export const cutCases: ReadonlyArray<LaneCase> = everySaid.flatMap((message) =>
  ways.map((way) => ({
    name: `line cut at ${message}: ${way}`,
    run: ({ nextLabel, world }) =>
      cut(world, nextLabel(), occasions[message], [faultAt(message, way)], { asBefore: isOfBefore(message) })
  }))
)

const together: ReadonlyArray<Occasion> = ["plan", "apply", "drift", "handIn", "decline"]
/** On these occasions, files are sent within messages if both the server and the agent support this. */
const carrying: ReadonlyArray<Occasion> = ["plan", "apply"]

const cutTogether = (
  occasion: Occasion,
  way: Way,
  said: ReadonlyArray<Said>,
  options: { readonly asBefore: boolean }
) => {
  const messages = said.filter((message) => occasions[message] === occasion)
  return ({ nextLabel, world }: Parameters<LaneCase["run"]>[0]) =>
    cut(
      world,
      nextLabel(),
      occasion,
      messages.map((message) => faultAt(message, way)),
      options
    )
}

/** Cuts every message of an occasion once and in the same way, in a single Capsule lifecycle. */
export const cutTogetherCases: ReadonlyArray<LaneCase> = ways.flatMap((way) => [
  ...together.map((occasion) => ({
    name: `line cut at every message of ${occasion}, as with the release before: ${way}`,
    run: cutTogether(occasion, way, everySaid, { asBefore: true })
  })),
  ...carrying.map((occasion) => ({
    name: `line cut at every message of ${occasion}: ${way}`,
    run: cutTogether(
      occasion,
      way,
      everySaid.filter((message) => !isOfBefore(message)),
      { asBefore: false }
    )
  }))
])
