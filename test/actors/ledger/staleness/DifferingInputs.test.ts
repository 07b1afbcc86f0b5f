import { afterAll, describe, expect, setDefaultTimeout } from "bun:test"
import { Effect } from "effect"
import { Capsules } from "../../../../actors/commands/capsule/Capsules.ts"
import { Dependencies } from "../../../../actors/ledger/dependency/Dependencies.ts"
import type { CapsuleId } from "../../../../schema/records/Ids.ts"
import { suite } from "../../../support/Effect.ts"
import { active, applied, freshKey, replanned, settled } from "../../../support/Journey.ts"
import { TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { pureModule, pureModules, pureRunner } from "../../support/PureRunner.ts"
import { CapsuleCommands } from "../../../../schema/commands/CapsuleCommands.ts"

setDefaultTimeout(60_000)

const tests = suite(testPlane({ runner: pureRunner(pureModules()) }))
afterAll(tests.dispose)

/** Plans and applies the producer with a different input value. */
const reconfigured = Effect.fnUntraced(function* (id: CapsuleId, variables: Readonly<Record<string, string>>) {
  const { context } = yield* TestPlane
  const capsules = yield* Capsules
  const capsuleCommands = yield* CapsuleCommands
  const { installConfigReAdoption } = yield* capsules.read(id)
  const request = {
    variablePatch: { set: variables },
    expected: { authorityGuard: installConfigReAdoption.authorityGuard }
  }
  const asked = yield* capsuleCommands.ConfigurationPlan(id, { context, request, idempotency: freshKey() })
  yield* applied(yield* settled(asked.value.planRunId))
})

describe("a plan", () => {
  tests.live("a Capsule lists its inputs that have changed in other Capsules, without the values", () =>
    Effect.gen(function* () {
      const { context } = yield* TestPlane
      const dependencies = yield* Dependencies
      const { capsule: producer } = yield* active("gives", pureModule)
      const { capsule: consumer, plan } = yield* active("takes", pureModule)
      expect(plan.injectedInputs).toBeUndefined()
      yield* reconfigured(producer.id, { a: "one", key: "first" })
      const dependency = yield* dependencies.create(context, consumer.id, {
        producerCapsuleId: producer.id,
        mode: "variable_injection",
        outputs: [
          { from: "value", to: "a", required: true },
          { from: "secret", to: "key", required: true }
        ]
      })
      const named = (input: string, change: "added" | "changed" | "removed") => ({
        input,
        producerCapsuleId: producer.id,
        change
      })
      const first = yield* replanned(consumer.id)
      expect(first.injectedInputs).toEqual([named("a", "added"), named("key", "added")])
      expect(JSON.stringify(first.injectedInputs)).not.toContain("first")
      yield* applied(first)
      expect((yield* replanned(consumer.id)).injectedInputs).toBeUndefined()

      yield* reconfigured(producer.id, { key: "second" })
      const second = yield* replanned(consumer.id)
      expect(second.injectedInputs).toEqual([named("key", "changed")])
      yield* applied(second)
      yield* dependencies.remove(context, dependency.id)
      expect((yield* replanned(consumer.id)).injectedInputs).toEqual([named("a", "removed"), named("key", "removed")])
    })
  )
})
