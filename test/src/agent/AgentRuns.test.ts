import { describe, expect } from "bun:test"
import { Deferred, Effect, Layer } from "effect"
import { AgentFolder } from "../../../runner/agent/AgentFolder.ts"
import { Guard } from "../../../runner/agent/guard/Guard.ts"
import { machineClocks, makeLease, momentOf } from "../../../runner/agent/LeaseClock.ts"
import type { RunHandle } from "../../../runner/agent/RunHandle.ts"
import { makeRoom } from "../../../runner/agent/RunRoom.ts"
import { acceptWithinSeconds } from "../../../schema/agent/AgentJob.ts"
import { RunId } from "../../../schema/records/Ids.ts"
import { AgentRuns } from "../../../src/agent/AgentRuns.ts"
import { it } from "../../support/Effect.ts"
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

describe("the Runs held by an agent", () => {
  it.live("a renewal extends the lease of an accepted Run, but not that of an offer", () =>
    Effect.gen(function* () {
      const moved: Array<number> = []
      const folder = yield* temporaryFolder
      const layer = AgentRuns.layer.pipe(Layer.provideMerge(Layer.merge(AgentFolder.layerAt(folder), guardThat(moved))))
      yield* Effect.gen(function* () {
        const runs = yield* AgentRuns
        const claim = { runId: RunId.make("run_01000000000000000000000001"), fence: 1 }
        const room = yield* makeRoom((yield* AgentFolder).runs, claim, "plan")
        if (room === undefined) return yield* Effect.die(new Error("no room"))
        const lease = makeLease(machineClocks, momentOf(machineClocks), acceptWithinSeconds)
        const held = yield* Deferred.make<RunHandle>()
        yield* Effect.forkScoped(
          runs.add({ room, lease, stage: "accepted" }, (handle) =>
            Effect.andThen(Deferred.succeed(held, handle), Effect.never)
          )
        )
        const handle = yield* Deferred.await(held)
        const offered = lease.killAtBoot()
        const renewal = { ...claim, cancel: false, leaseSeconds: 600 }
        yield* runs.confirm(renewal, momentOf(machineClocks))
        expect(lease.killAtBoot()).toBe(offered)
        expect(moved).toEqual([])
        handle.isAccepted = true
        yield* runs.confirm(renewal, momentOf(machineClocks))
        expect(lease.killAtBoot()).toBeGreaterThan(offered)
        expect(moved).toEqual([lease.killAtBoot()])
      }).pipe(Effect.scoped, Effect.provide(layer))
    })
  )
})
