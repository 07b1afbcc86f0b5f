import { describe, expect } from "bun:test"
import { Deferred, Effect, Layer } from "effect"
import { AgentFolder } from "../../../runner/agent/AgentFolder.ts"
import { Guard } from "../../../runner/agent/guard/Guard.ts"
import { machineClocks, makeLease, momentOf } from "../../../runner/agent/LeaseClock.ts"
import type { RunHandle } from "../../../runner/agent/RunHandle.ts"
import { makeRoom } from "../../../runner/agent/AgentRunFolder.ts"
import { acceptWithinSeconds } from "../../../schema/agent/AgentJob.ts"
import { RunId } from "../../../schema/records/Ids.ts"
import { AgentRuns } from "../../../src/agent/AgentRuns.ts"
import { it } from "../../support/Effect.ts"
import { eventually } from "../../support/Eventually.ts"
import { temporaryFolder } from "../../support/TemporaryFolder.ts"

const guardThat = (moved: Array<number>) =>
  Layer.succeed(
    Guard,
    Guard.of({
      hold: () => Effect.void,
      move: (_, killAtBoot) => Effect.sync(() => void moved.push(killAtBoot)),
      release: () => Effect.void
    })
  )

const claim = { runId: RunId.make("run_01000000000000000000000001"), fence: 1 }

/** Adds an offered Run that does `work`, unless its folder is already in use. */
const offered = (work: (handle: RunHandle) => Effect.Effect<void>) =>
  Effect.gen(function* () {
    const runs = yield* AgentRuns
    const folder = yield* AgentFolder
    const lease = makeLease(machineClocks, momentOf(machineClocks), acceptWithinSeconds)
    const opening = Effect.map(makeRoom(folder.runs, claim, "plan"), (room) =>
      room === undefined ? undefined : { room, lease, stage: "accepted" as const }
    )
    yield* runs.add(opening, work)
    return lease
  })

const layerWith = Effect.fnUntraced(function* (moved: Array<number>) {
  const folder = AgentFolder.layerAt(yield* temporaryFolder)
  return AgentRuns.layer.pipe(Layer.provideMerge(Layer.merge(folder, guardThat(moved))))
})

describe("Held Runs", () => {
  it.live("renewing an agent's lease extends accepted Runs, but not offers", () =>
    Effect.gen(function* () {
      const moved: Array<number> = []
      yield* Effect.gen(function* () {
        const runs = yield* AgentRuns
        const held = yield* Deferred.make<RunHandle>()
        const lease = yield* offered((handle) => Effect.andThen(Deferred.succeed(held, handle), Effect.never))
        const handle = yield* Deferred.await(held)
        const killAt = lease.killAtBoot()
        const renewal = { ...claim, cancel: false, leaseSeconds: 600 }
        yield* runs.confirm(renewal, momentOf(machineClocks))
        expect(lease.killAtBoot()).toBe(killAt)
        expect(moved).toEqual([])
        handle.isAccepted = true
        yield* runs.confirm(renewal, momentOf(machineClocks))
        expect(lease.killAtBoot()).toBeGreaterThan(killAt)
        expect(moved).toEqual([lease.killAtBoot()])
      }).pipe(Effect.provide(yield* layerWith(moved)))
    })
  )

  it.live("a Run occupies a slot and its folder until its work ends", () =>
    Effect.gen(function* () {
      yield* Effect.gen(function* () {
        const runs = yield* AgentRuns
        const over = yield* Deferred.make<void>()
        yield* offered(() => Deferred.await(over))
        expect(runs.working()).toBe(1)
        // The Run's folder is already in use.
        yield* offered(() => Effect.die(new Error("held twice")))
        expect(runs.all()).toHaveLength(1)
        yield* Deferred.succeed(over, undefined)
        yield* eventually(Effect.sync(runs.working), (count) => count === 0)
        const again = yield* Deferred.make<void>()
        yield* eventually(
          Effect.andThen(
            offered(() => Deferred.await(again)),
            Effect.sync(runs.working)
          ),
          (count) => count === 1
        )
      }).pipe(Effect.provide(yield* layerWith([])))
    })
  )

  it.live("a Run that cannot be opened occupies no slot", () =>
    Effect.gen(function* () {
      yield* Effect.gen(function* () {
        const runs = yield* AgentRuns
        const problem = yield* Effect.flip(runs.add(Effect.fail("no folder"), () => Effect.never))
        expect(problem).toBe("no folder")
        expect(runs.all()).toEqual([])
      }).pipe(Effect.provide(yield* layerWith([])))
    })
  )
})
