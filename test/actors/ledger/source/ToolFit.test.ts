import { afterAll, describe, expect } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { suite } from "../../../support/Effect.ts"
import { install } from "../../../support/Journey.ts"
import { testPlane } from "../../../support/TestPlane.ts"

const tests = suite(testPlane())
afterAll(tests.dispose)

describe.skipIf(Bun.which("terraform") === null)("Unsuitable tools", () => {
  tests.live("the compatibility check rejects an unsuitable tool before svc creates a Capsule", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const module = 'terraform {\n  required_version = ">= 99.1"\n}\nresource "terraform_data" "a" {\n}\n'
      const plan = yield* install("future", { "main.tf": module })
      expect([plan.phase, plan.capsuleId, plan.diagnostics.map(({ code }) => code)]).toEqual([
        "failed",
        undefined,
        ["module_unsupported", "tool_version_unmet"]
      ])
      expect(plan.diagnostics[1]).toMatchObject({
        message: expect.stringContaining("required_version needs Terraform >= 99.1, and this service runs Terraform"),
        path: "main.tf",
        line: 2
      })
      expect(yield* sql`SELECT id FROM capsules`).toEqual([])
      const both = yield* install("both", {
        "main.tf": 'variable "a" {\n  default = "x"\n}\noutput "common" {\n  value = var.a\n}\n',
        "main.tofu": 'output "own" {\n  value = 1\n}\n'
      })
      expect([both.phase, both.diagnostics]).toEqual(["reviewable", []])
      const hidden = yield* install("tofu", { "main.tofu": 'resource "terraform_data" "a" {\n}\n' })
      expect([hidden.phase, hidden.diagnostics.at(-1)?.code]).toEqual(["failed", "tool_cannot_read"])
    })
  )
})
