import { Deferred, Effect, Fiber, Redacted, Schema, Stream } from "effect"
import { WebSocket } from "ws"
import type { RunLogEntry } from "../../../schema/events/RunEvent.ts"
import { RunLogFrame } from "../../../schema/events/RunFrame.ts"
import type { RunId } from "../../../schema/records/Ids.ts"
import { followLogs } from "../../../src/client/index.ts"
import { holds } from "../../crash/CrashClient.ts"
import { lineProblem, logLines } from "../../support/LogLines.ts"
import { type AgentWorld, agentWorld } from "../support/AgentWorld.ts"
import type { WorldCase } from "./AgentCase.ts"
import { keptAgent } from "./Journeys.ts"

const decodeFrame = Schema.decodeUnknownSync(Schema.fromJsonString(RunLogFrame))

const followed = ({ first, token }: AgentWorld, id: RunId, afterEntry: Effect.Effect<void>, after = 0) =>
  followLogs({ baseUrl: first.url, token }, id, after).pipe(
    Stream.tap(() => afterEntry),
    Stream.runCollect
  )

/** Reads the first message, and then stops reading until `resumes` completes. A new connection reads the later messages. */
const stalled = Effect.fnUntraced(function* (world: AgentWorld, id: RunId, resumes: Effect.Effect<void>) {
  const arrived = yield* Deferred.make<ReadonlyArray<RunLogEntry>>()
  const socket = new WebSocket(`${world.first.url.replace(/^http/, "ws")}/api/v1/runs/${id}/logs`, {
    headers: { authorization: `Bearer ${Redacted.value(world.token)}` }
  })
  socket.on("error", () => {})
  socket.once("message", (data) => {
    socket.pause()
    const frame = decodeFrame(data.toString())
    Deferred.doneUnsafe(arrived, Effect.succeed("entries" in frame ? frame.entries : []))
  })
  const before = yield* Deferred.await(arrived)
  yield* resumes
  socket.terminate()
  return [...before, ...(yield* followed(world, id, Effect.void, before.at(-1)?.seq ?? 0))]
})

const everyLine: WorldCase = {
  name: `every one of ${logLines} lines that a tool prints on an agent is in the log once and in order, however it is followed`,
  run: Effect.fnUntraced(function* (options) {
    const world = yield* agentWorld(options)
    const agent = yield* keptAgent(yield* world.agent("one"))
    const { planRunId } = yield* world.installed("one", "lines")
    yield* world.over(planRunId)
    const applyId = yield* world.approvedApply(planRunId)
    const isOver = yield* Deferred.make<void>()
    const followers = yield* Effect.forEach(
      [
        followed(world, applyId, Effect.void),
        followed(world, applyId, Effect.yieldNow),
        stalled(world, applyId, Deferred.await(isOver))
      ],
      (follower) => Effect.forkChild(follower, { startImmediately: true })
    )
    const apply = yield* world.over(applyId)
    yield* Deferred.succeed(isOver, undefined)
    yield* holds(apply.status === "succeeded" && apply.pool === "far", `${apply.status} ${apply.error?.message}`)
    for (const [index, follower] of followers.entries()) {
      const problem = lineProblem(yield* Fiber.join(follower))
      yield* holds(problem === undefined, `Follower ${index + 1}: ${problem}`)
    }
    yield* agent.owesNothing
    yield* agent.end
  })
}

export const logCases: ReadonlyArray<WorldCase> = [everyLine]
