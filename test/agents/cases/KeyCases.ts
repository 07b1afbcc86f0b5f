import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { Effect, Fiber, Schema } from "effect"
import { StoredKeys } from "../../../runner/agent/AgentKeyPair.ts"
import { holds } from "../../crash/CrashClient.ts"
import type { Fault } from "../line/FaultLine.ts"
import { agentWorld } from "../support/AgentWorld.ts"
import { verdict } from "../support/Verdict.ts"
import type { Services, WorldCase } from "./AgentCase.ts"
import { eventually, keptAgent, type KeptAgent } from "./Journeys.ts"

const decodeKeys = Schema.decodeUnknownSync(Schema.fromJsonString(StoredKeys))

const keysIn = (folder: string) => {
  const [present, next] = [`${folder}/keys.json`, `${folder}/next-keys.json`]
  return {
    present: () => decodeKeys(readFileSync(present, "utf8")),
    hasNext: () => existsSync(next),
    next: () => readFileSync(next, "utf8"),
    putBack: (text: string) => writeFileSync(next, text, { mode: 0o600 })
  }
}

/** Requests new keys while the agent is frozen, and resumes the agent once the new keys are on its disk. */
const prepared = Effect.fnUntraced(function* (agent: KeptAgent) {
  const keys = keysIn(agent.folder)
  agent.signal("SIGSTOP")
  const rotation = yield* Effect.forkScoped(agent.rotated)
  yield* eventually(keys.hasNext)
  return { keys, rotation }
})

/** Kills an agent during a message of the key change: an announcement of the next keys, or the first message signed with them. */
const atMessage = (agent: KeptAgent, fault: Pick<Fault, "asks" | "way">) =>
  Effect.gen(function* () {
    agent.line.arm([{ message: "Hello", ...fault, also: agent.kill }])
    yield* agent.rotated
    yield* eventually(() => agent.line.unhit().length === 0)
  })

const announces = /"nextKeys"/
const announcesNone = /^(?![^]*"nextKeys")/

/** Covers the point between each pair of consecutive steps in `src/agent/KeyChange.ts`. Each case ends by killing the agent. */
const moments: Readonly<Record<string, (agent: KeptAgent) => Effect.Effect<unknown, unknown, Services>>> = {
  "the new keys are on the disk and not announced; the command that asked for them is killed too": (agent) =>
    Effect.gen(function* () {
      const { rotation } = yield* prepared(agent)
      yield* Fiber.interrupt(rotation)
      agent.kill()
    }),
  "the announcement did not arrive": (agent) => atMessage(agent, { asks: announces, way: "request lost" }),
  "the announcement arrived, and its answer did not": (agent) =>
    atMessage(agent, { asks: announces, way: "answer lost" }),
  "the new keys signed a message that did not arrive": (agent) =>
    atMessage(agent, { asks: announcesNone, way: "request lost" }),
  "the server has taken the new keys, and the agent does not know": (agent) =>
    atMessage(agent, { asks: announcesNone, way: "answer lost" }),
  "the new keys are the agent's, and are still on the disk as the next ones": (agent) =>
    Effect.gen(function* () {
      const { keys, rotation } = yield* prepared(agent)
      const next = keys.next()
      agent.signal("SIGCONT")
      yield* Fiber.join(rotation)
      agent.signal("SIGSTOP")
      keys.putBack(next)
      agent.kill()
    })
}

const killedBetween: WorldCase = {
  name: "an agent is killed between each pair of steps of a change of its keys, comes back with the new ones, and works",
  run: Effect.fnUntraced(function* (options) {
    const world = yield* agentWorld(options)
    const agent = yield* keptAgent(yield* world.agent("one"))
    const works = Effect.fnUntraced(function* (label: string, when: string) {
      const plan = yield* world.over((yield* world.installed(label)).planRunId)
      yield* holds(plan.status === "waiting_approval", `${when}: ${plan.status} ${plan.error?.message}`)
    })
    yield* works("n0", "before")
    const keys = keysIn(agent.folder)
    let labels = 0
    for (const [when, change] of Object.entries(moments)) {
      const [before, starts] = [keys.present().public.sign, agent.starts()]
      yield* Effect.scoped(change(agent))
      yield* eventually(() => agent.starts() > starts)
      yield* eventually(() => !keys.hasNext() && keys.present().public.sign !== before)
      labels += 1
      // The server seals every later offer for the new keys.
      yield* works(`n${labels}`, when)
      yield* agent.owesNothing
      // After the next session starts, no data is left that the former keys could open.
      agent.kill()
      yield* eventually(() => keys.present().former === undefined)
    }
    yield* agent.end
    yield* verdict(world)
  })
}

export const keyCases: ReadonlyArray<WorldCase> = [killedBetween]
