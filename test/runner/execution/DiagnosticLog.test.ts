import { describe, expect } from "bun:test"
import { Effect } from "effect"
import { it } from "../../support/Effect.ts"
import { planJob, recorder, temporaryFolder, variable } from "./support/RunnerHarness.ts"
import { runnerWith, TestRunner } from "./support/TestRunner.ts"

describe("Run log", () => {
  it.live("a Run's log contains the location and every line of each diagnostic, with every secret hidden", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const runner = yield* TestRunner
      const seen = recorder()
      const tree = {
        "main.tf": `
          variable "password" {
            type      = string
            sensitive = true
          }
          resource "terraform_data" "a" {
            input = "x"
            lifecycle {
              precondition {
                condition     = var.password == "other"
                error_message = "The first line.\\nThe second line says more."
              }
            }
          }`
      }
      const job = planJob(folder, tree, { variables: { password: variable("canary-of-the-log", true) } })
      const failure = yield* Effect.flip(runner.plan(job, seen.sink))
      expect(failure.reason).toBe("plan_failed")
      const log = seen.logs.map(({ text }) => text)
      const at = log.findIndex((line) => line.startsWith("Error: "))
      expect(log.slice(at, at + 4)).toEqual([
        "Error: Resource precondition failed",
        "  on main.tf line 10",
        "  The first line.",
        "  The second line says more."
      ])
      expect(log.join("\n")).not.toContain("canary-of-the-log")
    }).pipe(Effect.provide(runnerWith({})))
  )
})
