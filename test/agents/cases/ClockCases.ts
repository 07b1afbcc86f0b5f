import { existsSync, writeFileSync } from "node:fs"
import { Effect } from "effect"
import { holds } from "../../crash/CrashClient.ts"
import { agentWorld } from "../support/AgentWorld.ts"
import { verdict } from "../support/Verdict.ts"
import type { WorldCase } from "./AgentCase.ts"
import { keptAgent } from "./Journeys.ts"

const library = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1"
const hour = 3600

/** A wall clock that a case sets while the program runs, as a person might. Monotonic clocks are not affected. */
const wallClock = (file: string, offset: number) => {
  const set = (seconds: number) => writeFileSync(file, `${seconds < 0 ? "" : "+"}${seconds}\n`)
  set(offset)
  return {
    set,
    env: {
      LD_PRELOAD: library,
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: "1"
    }
  }
}

/** A case in which a clock is wrong at enrolment, and jumps while the tool is working. */
const clocks = (name: string, offset: number, jump: number, side: "agent" | "server"): WorldCase => ({
  name,
  run: Effect.fnUntraced(function* (options) {
    yield* holds(existsSync(library), `${library} is missing: apt-get install faketime`)
    const clock = wallClock(`${options.folder}-clock`, offset)
    const world = yield* agentWorld({ ...options, ...(side === "server" ? { serverEnv: clock.env } : {}) })
    const agent = yield* keptAgent(yield* world.agent("one", side === "agent" ? { env: clock.env } : {}))
    const { capsuleId, planRunId } = yield* world.installed("one")
    const plan = yield* world.over(planRunId)
    yield* holds(plan.status === "waiting_approval", `${plan.status} ${plan.error?.message}`)
    yield* world.hold("one-b")
    const applyId = yield* world.approvedApply(planRunId)
    yield* world.held("one-b")
    const before = agent.line.said.length
    clock.set(offset + jump)
    // Renewals continue, and no message is treated as late.
    yield* Effect.repeat(Effect.sleep("200 millis"), {
      until: () => agent.line.said.slice(before).filter((message) => message === "Renew").length > 3
    })
    const { agentUnreachableSince, status } = yield* world.run(applyId)
    yield* holds(status === "running" && agentUnreachableSince === undefined, `${status} ${agentUnreachableSince}`)
    yield* world.letGo("one-b")
    const apply = yield* world.over(applyId)
    yield* holds(apply.status === "succeeded", `${apply.status} ${apply.error?.code} ${apply.error?.message}`)
    yield* holds((yield* world.capsule(capsuleId)).status === "active", "The Capsule is not active")
    // The reports contain that clock's time, which proves that the clock was wrong.
    const told = (yield* world.eventsOf(applyId)).map(({ at }) => Date.parse(at))
    const furthest = Math.max(...told.map((at) => Math.abs(at - Date.now())))
    yield* holds(furthest > 50_000, `No time of the Run is wrong, so the clock was not: ${furthest} ms`)
    yield* agent.owesNothing
    yield* agent.end
    yield* verdict(world)
  })
})

export const clockCases: ReadonlyArray<WorldCase> = [
  clocks("the agent's clock is 60 s ahead, and jumps an hour ahead", 60, hour, "agent"),
  clocks("the agent's clock is 60 s behind, and jumps an hour back", -60, -hour, "agent"),
  clocks("the server's clock is 60 s ahead, and jumps an hour ahead", 60, hour, "server"),
  clocks("the server's clock is 60 s behind, and jumps an hour back", -60, -hour, "server")
]
