import { afterAll, describe, expect } from "bun:test"
import { Effect } from "effect"
import { Capsules } from "../../../../actors/commands/capsule/Capsules.ts"
import { Dependencies } from "../../../../actors/ledger/dependency/Dependencies.ts"
import { InstallPlans } from "../../../../actors/commands/install-plan/InstallPlans.ts"
import type { Run } from "../../../../schema/records/Run.ts"
import { suite } from "../../../support/Effect.ts"
import { active, applied, freshKey, planned, replanned, requestOf } from "../../../support/Journey.ts"
import { TestPlane, testPlane } from "../../../support/TestPlane.ts"

const tests = suite(testPlane())
afterAll(tests.dispose)

// As a double, this number would become 12345678901234567000.
const id = "12345678901234567891"

const consumer = {
  "main.tf": `
    variable "id" { type = number }
    resource "terraform_data" "a" { input = var.id }
    output "id" { value = var.id }`
}

const plannedInput = (plan: Run) =>
  plan.resourceChanges?.flatMap(({ changedAttributes }) =>
    changedAttributes.flatMap(({ after, name }) => (name === "input" ? [after] : []))
  )

describe.skipIf(Bun.which("terraform") === null)("Exact whole numbers", () => {
  tests.live("exact numbers pass from Capsule to Capsule with all their digits", () =>
    Effect.gen(function* () {
      const { context } = yield* TestPlane
      const capsules = yield* Capsules
      const producer = yield* active("exact-producer", { "main.tf": `output "id" { value = ${id} }` })
      expect((yield* capsules.outputs(producer.capsule.id)).map(({ value }) => value)).toEqual([id])
      const { capsuleId } = yield* planned("exact-consumer", consumer, { variables: { id: 1 } })
      yield* (yield* Dependencies).create(context, capsuleId, {
        producerCapsuleId: producer.capsule.id,
        mode: "published_output",
        outputs: [{ from: "id", to: "id", required: true }]
      })
      const plan = yield* replanned(capsuleId)
      expect(plannedInput(plan)).toEqual([id])
      expect((yield* applied(plan)).status).toBe("succeeded")
      expect((yield* capsules.outputs(capsuleId)).map(({ type, value }) => [type, value])).toEqual([["number", id]])
    })
  )

  tests.live("exact numbers keep all their digits as ephemeral inputs, both in the plan and in the apply", () =>
    Effect.gen(function* () {
      const { context } = yield* TestPlane
      const values = `{ n = ${id}, fraction = 12345678901234.123456, digits = "${id}", list = [${id}] }`
      const producer = yield* active("exact-values", { "main.tf": `output "values" { value = ${values} }` })
      const expected = `jsonencode(${values})`
      const { capsuleId } = yield* planned("exact-ephemeral", {
        "main.tf": `
          variable "values" {
            type      = any
            ephemeral = true
            default   = null
            validation {
              condition     = var.values == null || jsonencode(var.values) == ${expected}
              error_message = "The plan was given other values."
            }
          }
          resource "terraform_data" "a" {
            provisioner "local-exec" {
              command     = "test \\"$GIVEN\\" = \\"$EXPECTED\\""
              environment = {
                GIVEN    = jsonencode(var.values)
                EXPECTED = ${expected}
              }
            }
          }`
      })
      yield* (yield* Dependencies).create(context, capsuleId, {
        producerCapsuleId: producer.capsule.id,
        mode: "variable_injection",
        outputs: [{ from: "values", to: "values", required: true }]
      })
      const apply = yield* applied(yield* replanned(capsuleId))
      expect([apply.status, apply.error]).toEqual(["succeeded", undefined])
    })
  )

  tests.live("svc rejects JSON numbers that would lose digits, and accepts the same numbers as strings", () =>
    Effect.gen(function* () {
      const { commit, context, workspaceId } = yield* TestPlane
      yield* commit("exact-input", consumer)
      const request = yield* requestOf("exact-input", { variables: { id: Number(id) } })
      const refused = yield* Effect.flip(
        (yield* InstallPlans).create(context, workspaceId, request, freshKey("rounded"))
      )
      expect([refused.code, refused.message.includes("string of digits")]).toEqual(["invalid_request", true])
      const { plan } = yield* planned("exact-input", consumer, { variables: { id } })
      expect(plannedInput(plan)).toEqual([id])
    })
  )
})
