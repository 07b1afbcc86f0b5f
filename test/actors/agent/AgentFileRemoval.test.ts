import { afterAll, expect } from "bun:test"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { AgentBlobs } from "../../../actors/agent/AgentBlobs.ts"
import { AgentFileRemoval } from "../../../actors/agent/AgentFileRemoval.ts"
import { AgentMonitor } from "../../../actors/agent/AgentMonitor.ts"
import { suite } from "../../support/Effect.ts"
import { settled } from "../../support/Journey.ts"
import { applyingOn, farPlane, stateFile, world } from "../../src/http/support/FarPlane.ts"

const plane = suite(farPlane)
afterAll(plane.dispose)

/** Everything that is due so many days from now. */
const removedAfter = (days: number) =>
  Effect.gen(function* () {
    const { removeAll } = yield* AgentFileRemoval
    const then = Date.now() + days * 86_400_000
    yield* Effect.andThen(TestClock.setTime(then), removeAll).pipe(Effect.provide(TestClock.layer()))
  })

plane.live(
  "what an agent sent of an apply that was given up is kept for a month, and that of a running one always",
  () =>
    Effect.gen(function* () {
      const { enrolled } = yield* world
      const agent = yield* enrolled()
      const { claim } = yield* applyingOn(agent, "files")
      const digest = yield* agent.put(claim, "state", stateFile(3))
      const blobs = yield* AgentBlobs
      const isThere = blobs.isComplete(claim, "state", digest)
      yield* removedAfter(100)
      expect(yield* isThere).toBe(true)
      yield* (yield* AgentMonitor).release(claim.runId)
      yield* settled(claim.runId)
      expect(yield* blobs.claims).toEqual([claim])
      yield* removedAfter(29)
      expect(yield* isThere).toBe(true)
      yield* removedAfter(31)
      expect(yield* isThere).toBe(false)
      expect(yield* blobs.claims).toEqual([])
    }),
  60_000
)
