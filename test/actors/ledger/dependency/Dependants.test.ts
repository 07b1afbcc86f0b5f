import { afterAll, describe, expect } from "bun:test"
import { Effect } from "effect"
import { Dependencies } from "../../../../actors/ledger/dependency/Dependencies.ts"
import { suite } from "../../../support/Effect.ts"
import { active, planned, settled } from "../../../support/Journey.ts"
import { TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { CapsuleCommands } from "../../../../schema/commands/CapsuleCommands.ts"

const tests = suite(testPlane())
afterAll(tests.dispose)

describe.skipIf(Bun.which("terraform") === null)("Capsule consumers", () => {
  tests.live("the review of a Capsule's destruction lists the consumers of its Outputs", () =>
    Effect.gen(function* () {
      const { context } = yield* TestPlane
      const capsules = yield* CapsuleCommands
      const { capsule } = yield* active("needed", { "main.tf": `output "name" { value = "needed" }` })
      const destroyPlanned = Effect.gen(function* () {
        return yield* settled((yield* capsules.DestroyPlan(capsule.id, { context })).value.id)
      })
      expect((yield* destroyPlanned).diagnostics).toEqual([])
      const { capsuleId } = yield* planned("needing", { "main.tf": `variable "from" { default = "nobody" }` })
      yield* (yield* Dependencies).create(context, capsuleId, {
        producerCapsuleId: capsule.id,
        mode: "published_output",
        outputs: [{ from: "name", to: "from", required: false }]
      })
      const plan = yield* destroyPlanned
      expect(plan.status).toBe("waiting_approval")
      expect(plan.diagnostics).toEqual([
        {
          severity: "warning",
          summary: "Other Capsules depend on this one.",
          detail: "Their next plan has no Outputs to read: needing."
        }
      ])
    })
  )
})
