import { afterAll, describe, expect, setDefaultTimeout } from "bun:test"
import { Effect } from "effect"
import { planText } from "../../../../src/cli/remote/PlanText.ts"
import { suite } from "../../../support/Effect.ts"
import { install, settled } from "../../../support/Journey.ts"
import { testPlane } from "../../../support/TestPlane.ts"

setDefaultTimeout(120_000)

const tests = suite(testPlane())
afterAll(tests.dispose)

const files = {
  "main.tf": `
    variable "size" {
      type = number
      validation {
        condition     = var.size > 2
        error_message = "The size of the pool is too small."
      }
    }
    resource "terraform_data" "a" { input = var.size }`,
  "prod.auto.tfvars": "size = 5\n"
}

const ignored = { severity: "warning", code: "tfvars_ignored", path: "prod.auto.tfvars" }

describe.skipIf(Bun.which("terraform") === null)("Install diagnostics", () => {
  tests.live("an install and its review warn that Runs ignore the repository's variable files", () =>
    Effect.gen(function* () {
      const missing = yield* install("ignored-missing", files)
      expect(missing.phase).toBe("failed")
      expect(missing.diagnostics).toEqual([
        expect.objectContaining({ code: "input_required", message: expect.stringContaining("size") }),
        expect.objectContaining(ignored)
      ])
      const { diagnostics, phase, planRunId } = yield* install("ignored-given", files, { variables: { size: 3 } })
      expect(phase).toBe("reviewable")
      expect(diagnostics).toEqual([expect.objectContaining(ignored)])
      if (planRunId === undefined) return yield* Effect.die("no plan")
      const plan = yield* settled(planRunId)
      expect(planText(plan, "ignored", (_, text) => text)).toContain("prod.auto.tfvars")
      expect(plan.diagnostics).toEqual([
        {
          severity: "warning",
          summary: "A file with values in the repository is not used.",
          detail: expect.stringContaining("Give values as inputs"),
          path: "prod.auto.tfvars"
        }
      ])
    })
  )

  tests.live("an install diagnostic contains the tool's detail and the name of the variable", () =>
    Effect.gen(function* () {
      const { diagnostics, phase } = yield* install("detailed", files, { variables: { size: 1 } })
      expect(phase).toBe("failed")
      expect(diagnostics).toEqual([
        expect.objectContaining({
          code: "plan_failed",
          message: expect.stringContaining("var.size: The size of the pool is too small")
        }),
        expect.objectContaining(ignored)
      ])
      const wrong = yield* install(
        "mistyped",
        { "main.tf": 'variable "size" { type = list(number) }' },
        { variables: { size: ["x"] } }
      )
      expect(wrong.diagnostics).toEqual([
        expect.objectContaining({ code: "plan_failed", message: expect.stringContaining("var.size") })
      ])
    })
  )
})
