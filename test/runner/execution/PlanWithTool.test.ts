import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect } from "bun:test"
import { Effect, Redacted, Schema } from "effect"
import type { PlanJob } from "../../../runner/execution/RunJob.ts"
import type { PlanOutcome } from "../../../runner/execution/RunOutcome.ts"
import { it } from "../../support/Effect.ts"
import { plainTerraform } from "../../support/PlainTerraform.ts"
import { applyJob, type Placed, planJob, recorder, temporaryFolder, type Tree } from "./support/RunnerHarness.ts"
import { runnerWith, TestRunner } from "./support/TestRunner.ts"

const StateText = Schema.fromJsonString(
  Schema.Struct({
    serial: Schema.Int,
    resources: Schema.Array(
      Schema.Struct({ name: Schema.String, instances: Schema.Array(Schema.Record(Schema.String, Schema.Unknown)) })
    )
  })
)
type Instances = ReadonlyArray<Readonly<Record<string, unknown>>>

/** Replaces the instances of one resource in a state. */
const edited = (state: Redacted.Redacted<Uint8Array>, name: string, edit: (instances: Instances) => Instances) => {
  const text = new TextDecoder().decode(Redacted.value(state))
  const { resources, serial } = Schema.decodeUnknownSync(StateText)(text)
  const whole: { readonly resources: ReadonlyArray<object> } = JSON.parse(text)
  const changed = whole.resources.map((resource, index) =>
    resources[index]?.name === name ? { ...resource, instances: edit(resources[index].instances) } : resource
  )
  return Redacted.make(new TextEncoder().encode(JSON.stringify({ ...whole, serial: serial + 1, resources: changed })))
}

/** Returns the lines in which the tool describes each change of a plan, without the leading symbols. */
const toolLines = (plan: PlanOutcome): ReadonlyArray<string> => {
  const folder = mkdtempSync(join(tmpdir(), "plan-shown-"))
  try {
    writeFileSync(join(folder, "plan"), Redacted.value(plan.planFile))
    const shown = Bun.spawnSync([plainTerraform, "show", "-no-color", "plan"], { cwd: folder })
    return shown.stdout
      .toString()
      .split("\n")
      .filter((line) => /^ {1,2}# \S/.test(line))
      .map((line) => line.trim().slice(2))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const module = (...parts: ReadonlyArray<string>): Tree => ({ "main.tf": parts.join("\n") })

describe.skipIf(Bun.which("terraform") === null)("Real plans", () => {
  const applied = Effect.fnUntraced(function* (folder: string, tree: Tree, more: Partial<Placed<PlanJob>> = {}) {
    const runner = yield* TestRunner
    const job = planJob(folder, tree, more)
    const plan = yield* runner.plan(job, recorder().sink)
    const outcome = yield* runner.apply(applyJob(folder, job, plan), recorder().sink)
    if (outcome.state === undefined) return yield* Effect.die(new Error("the apply left no state"))
    return { outcome, state: outcome.state, plan }
  })
  const inFolder = <E>(body: (folder: string) => Effect.Effect<unknown, E, TestRunner>) =>
    Effect.flatMap(temporaryFolder, body).pipe(Effect.provide(runnerWith({})))

  it.live("a projected plan matches the tool's own description of deposed, tainted, moved and forgotten objects", () =>
    inFolder((folder) =>
      Effect.gen(function* () {
        const runner = yield* TestRunner
        const resource = (name: string, input: string) => `resource "terraform_data" "${name}" { input = "${input}" }`
        const first = yield* applied(
          folder,
          module(...["db", "broken", "old", "left"].map((name) => resource(name, name)))
        )
        const withDeposed = edited(first.state, "db", ([live = {}]) => [live, { ...live, deposed: "0a1b2c3d" }])
        const state = edited(withDeposed, "broken", ([live = {}]) => [{ ...live, status: "tainted" }])
        const tree = module(
          resource("db", "db"),
          resource("broken", "broken"),
          resource("new", "changed"),
          `moved {
            from = terraform_data.old
            to   = terraform_data.new
          }
          removed {
            from = terraform_data.left
            lifecycle { destroy = false }
          }`
        )
        const plan = yield* runner.plan(planJob(folder, tree, { state }), recorder().sink)
        const marks = plan.resourceChanges.map(({ actions, address, deposed, previousAddress, tainted }) => ({
          address,
          actions,
          ...(deposed === undefined ? {} : { deposed }),
          ...(previousAddress === undefined ? {} : { previousAddress }),
          ...(tainted === undefined ? {} : { tainted })
        }))
        expect(marks).toEqual([
          { address: "terraform_data.broken", actions: ["delete", "create"], tainted: true },
          { address: "terraform_data.db", actions: ["delete"], deposed: "0a1b2c3d" },
          { address: "terraform_data.left", actions: ["forget"] },
          { address: "terraform_data.new", actions: ["update"], previousAddress: "terraform_data.old" }
        ])
        expect(toolLines(plan)).toEqual([
          "terraform_data.broken is tainted, so must be replaced",
          "terraform_data.db (deposed object 0a1b2c3d) will be destroyed",
          "(left over from a partially-failed replacement of this instance)",
          "terraform_data.left will no longer be managed by Terraform, but will not be destroyed",
          "(destroy = false is set in the configuration)",
          "terraform_data.new will be updated in-place",
          "(moved from terraform_data.old)"
        ])
        const destroyed = yield* runner.plan(planJob(folder, tree, { state, mode: "destroy" }), recorder().sink)
        const ofDb = destroyed.resourceChanges.filter(({ name }) => name === "db").map(({ deposed }) => deposed)
        expect(ofDb).toEqual([undefined, "0a1b2c3d"])
      })
    )
  )

  it.live(
    "an Output no longer marked as sensitive stays private if it repeats another secret, but not if it repeats its earlier value",
    () =>
      inFolder((folder) =>
        Effect.gen(function* () {
          const runner = yield* TestRunner
          const output = (name: string, value: string, sensitive: boolean) =>
            `output "${name}" {
            value     = ${value}
            sensitive = ${sensitive}
          }`
          const variable = `variable "key" {
          type      = string
          sensitive = true
        }`
          const variables = { key: { value: Redacted.make("the-secret-key"), sensitive: true } }
          const tree = (sensitive: boolean) =>
            module(
              variable,
              output("own", `"its-earlier-value"`, sensitive),
              output("other", `"its-earlier-value"`, true),
              output("lone", `"a-lone-value"`, sensitive),
              output("key", sensitive ? "var.key" : "nonsensitive(var.key)", sensitive),
              output("plain", `"a-plain-value"`, !sensitive),
              output("gone", `"a-gone-value"`, true)
            )
          const { state } = yield* applied(folder, tree(true), { variables })
          const job = planJob(folder, tree(false), { variables, state })
          const plan = yield* runner.plan(job, recorder().sink)
          const privacy = plan.plannedOutputs.map(({ name, sensitive }) => [name, sensitive]).toSorted()
          // The value of `own` remains sensitive, because another Output still marks it.
          expect(privacy).toEqual([
            ["gone", true],
            ["key", true],
            ["lone", false],
            ["other", true],
            ["own", true],
            ["plain", true]
          ])
          const reasons = plan.outputChanges.map(({ name, reason }) => [name, reason]).toSorted()
          expect(reasons).toEqual([
            ["key", "holds_secret"],
            ["lone", undefined],
            ["own", "holds_secret"],
            ["plain", undefined]
          ])
          expect(JSON.stringify(plan.outputChanges)).not.toContain('value"')
          const { outputs } = yield* runner.apply(applyJob(folder, job, plan), recorder().sink)
          expect(outputs.map(({ name, sensitive }) => [name, sensitive]).toSorted()).toEqual(privacy)
        })
      )
  )
})
