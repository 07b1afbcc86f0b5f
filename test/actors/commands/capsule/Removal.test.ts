import { afterAll, describe, expect, setDefaultTimeout } from "bun:test"
import { Deferred, Effect, Layer, Result } from "effect"
import { Capsules } from "../../../../actors/commands/capsule/Capsules.ts"
import { beforeTransaction } from "../../../support/BeforeTransaction.ts"
import { suite } from "../../../support/Effect.ts"
import { applying, eventOf, planned, settled } from "../../../support/Journey.ts"
import { killPoints } from "../../../support/KillPoints.ts"
import { TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { pureModule, pureModules, pureRunner } from "../../support/PureRunner.ts"
import { CapsuleCommands } from "../../../../schema/commands/CapsuleCommands.ts"

setDefaultTimeout(60_000)

const kills = killPoints()
const { interrupted, layer: writer } = beforeTransaction()
const tests = suite(testPlane({ runner: pureRunner(pureModules()), writer }).pipe(Layer.provide(kills.layer)))
afterAll(tests.dispose)

describe("Capsule removal", () => {
  tests.live("removing a Capsule that was never applied takes effect at once", () =>
    Effect.gen(function* () {
      const { context } = yield* TestPlane
      const capsules = yield* CapsuleCommands
      const { capsuleId, plan } = yield* planned("removed-unapplied", pureModule)
      expect(yield* capsules.Remove(capsuleId, { context })).toMatchObject({ capsule: { status: "destroyed" } })
      expect((yield* settled(plan.id)).status).toBe("superseded")
    })
  )

  tests.live("removing a Capsule plans a destroy if the first apply finishes after the Capsule was read", () =>
    Effect.gen(function* () {
      const { context } = yield* TestPlane
      const capsules = yield* Capsules
      const capsuleCommands = yield* CapsuleCommands
      const { capsuleId, plan } = yield* planned("removed-settling", pureModule)
      const released = yield* Deferred.make<void>()
      kills.at.set("apply.executed", Deferred.await(released))
      const apply = yield* applying(plan)
      yield* eventOf(apply.id, "run.started")
      const applied = Effect.andThen(Deferred.succeed(released, undefined), settled(apply.id))
      const removed = yield* interrupted(capsuleCommands.Remove(capsuleId, { context }), Effect.orDie(applied))
      expect(Result.getOrThrow(removed)).toMatchObject({ run: { type: "destroy_plan" } })
      const capsule = yield* capsules.read(capsuleId)
      expect(capsule).toMatchObject({ status: "active", currentStateGeneration: 1 })
      expect(capsule.currentStateVersionId).toBeDefined()
    })
  )
})
