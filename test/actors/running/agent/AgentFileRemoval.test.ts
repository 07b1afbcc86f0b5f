import { utimesSync } from "node:fs"
import { dirname, join } from "node:path"
import { afterAll, expect } from "bun:test"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { AgentBlobs } from "../../../../actors/running/agent/AgentBlobs.ts"
import { AgentFileRemoval } from "../../../../actors/running/agent/AgentFileRemoval.ts"
import { AgentMonitor } from "../../../../actors/running/agent/AgentMonitor.ts"
import { RunSettings } from "../../../../actors/ledger/run/RunSettings.ts"
import { suite } from "../../../support/Effect.ts"
import { settled } from "../../../support/Journey.ts"
import { applyingOn, farPlane, stateFile, world } from "../../../src/http/support/FarPlane.ts"

const plane = suite(farPlane)
afterAll(plane.dispose)

const day = 86_400_000

/** Moves the clock forward by the given number of days and removes everything that is due. */
const removedAfter = (days: number) =>
  Effect.gen(function* () {
    const { removeAll } = yield* AgentFileRemoval
    const then = Date.now() + days * day
    yield* Effect.andThen(TestClock.setTime(then), removeAll).pipe(Effect.provide(TestClock.layer()))
  })

plane.live(
  "an agent's files for an abandoned apply are kept for a month, and files of a running apply are never removed",
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
      // The agent returns after a month and uploads its files over a slow connection.
      const { runsFolder } = yield* RunSettings
      const late = new Date(Date.now() + 31 * day - day / 2)
      const folder = join(dirname(runsFolder), "agent-blobs", `${claim.runId}-${claim.fence}`)
      utimesSync(join(folder, `state-${digest.slice("sha256:".length)}`), late, late)
      yield* removedAfter(31)
      expect(yield* isThere).toBe(true)
      yield* removedAfter(32)
      expect(yield* isThere).toBe(false)
      expect(yield* blobs.claims).toEqual([])
    }),
  60_000
)
