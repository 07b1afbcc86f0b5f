import { afterAll, describe, expect } from "bun:test"
import { Effect, Redacted } from "effect"
import type { PlanJob } from "../../../runner/execution/RunJob.ts"
import { it, suite } from "../../support/Effect.ts"
import { plainTerraform } from "../../support/PlainTerraform.ts"
import {
  type Placed,
  type Recorded,
  type Tree,
  applyJob,
  planJob,
  recorder,
  temporaryFolder,
  terraform,
  variable
} from "./support/RunnerHarness.ts"
import { runnerWith, TestRunner } from "./support/TestRunner.ts"
import { note, onStage, required } from "./support/ProviderStage.ts"

const phasesOf = ({ events }: Recorded) =>
  events.flatMap((event) => (event.kind === "run.phase" ? [event.data.phase] : []))

const linesOf = ({ logs }: Recorded) => logs.map(({ text }) => text)

/** A provisioner that prints the garbage collector settings of a program that the module starts. */
const tellCollector = 'provisioner "local-exec" {\n    command = "echo collector=$GOGC/$GOMEMLIMIT"\n  }'

const child = `variable "size" {\n  type = number\n}\nresource "terraform_data" "child" {\n  input = var.size\n}\n`
const tree: Tree = {
  "main.tf": `variable "size" {\n  type = number\n}\nmodule "net" {\n  source = "./net"\n  size = var.size\n}\nresource "terraform_data" "a" {\n  input = module.net\n  ${tellCollector}\n}\n`,
  "net/main.tf": child
}
const localModules = [{ key: "net", source: "./net", dir: "net" }]

const { live, dispose } = suite(runnerWith())
afterAll(dispose)

const alone = (folder: string, files: Tree, more: Partial<Placed<PlanJob>> = {}) =>
  planJob(folder, files, { selfContained: true, tool: { ...terraform, path: plainTerraform }, ...more })

describe("Modules without providers to install", () => {
  live("a module without providers to install is planned, applied and destroyed without an installation", () =>
    Effect.gen(function* () {
      const runner = yield* TestRunner
      const folder = yield* temporaryFolder
      const first = alone(folder, tree, { localModules, variables: { size: variable(3) } })
      const seen = recorder()
      const plan = yield* runner.plan(first, seen.sink)
      expect(phasesOf(seen)).toEqual(["prepare", "plan", "show"])
      expect(plan.summary.add).toBe(2)

      const applied = recorder()
      const outcome = yield* runner.apply(applyJob(folder, first, plan), applied.sink)
      expect(outcome).toMatchObject({ exit: "succeeded", resourceCount: 2 })
      expect(phasesOf(applied)).toEqual(["prepare", "apply", "state", "outputs"])
      expect(linesOf(applied).join("\n")).toContain("collector=400/1GiB")

      const { state } = outcome
      if (state === undefined) throw new Error("the apply left no state")
      const again = recorder()
      const unchanged = yield* runner.plan(
        alone(folder, tree, { localModules, variables: { size: variable(3) }, state }),
        again.sink
      )
      expect(unchanged.hasChanges).toBe(false)
      expect(phasesOf(again)).toEqual(["prepare", "plan", "show"])

      const destroy = alone(folder, tree, { localModules, variables: { size: variable(3) }, state, mode: "destroy" })
      const destroyPlan = yield* runner.plan(destroy, recorder().sink)
      expect(destroyPlan.summary.destroy).toBe(2)
      const destroyed = yield* runner.apply(applyJob(folder, destroy, destroyPlan), recorder().sink)
      expect(destroyed).toMatchObject({ exit: "succeeded", resourceCount: 0 })
    })
  )

  live("if the scan was wrong, the tool rejects the module before any change is planned", () =>
    Effect.gen(function* () {
      const runner = yield* TestRunner
      const folder = yield* temporaryFolder
      const wrong = {
        'terraform {\n  backend "http" {\n    address = "http://127.0.0.1:1/state"\n  }\n}\n':
          "Backend initialization required",
        'terraform {\n  cloud {\n    organization = "x"\n    workspaces {\n      name = "y"\n    }\n  }\n}\n':
          "HCP Terraform or Terraform Enterprise initialization required",
        [required]: "Inconsistent dependency lock file",
        'module "far" {\n  source = "git::https://example.test/far.git"\n}\n': "Module not installed"
      }
      for (const [text, summary] of Object.entries(wrong)) {
        const failure = yield* Effect.flip(runner.plan(alone(folder, { "main.tf": text }), recorder().sink))
        expect(failure.reason).toBe("plan_failed")
        expect(failure.message).toContain(summary)
      }
    })
  )

  live("a module without providers to install is still initialised if its state or lock may need an installation", () =>
    Effect.gen(function* () {
      const runner = yield* TestRunner
      const folder = yield* temporaryFolder
      const text = 'resource "terraform_data" "a" {\n  input = 1\n}\n'
      const foreign = {
        version: 4,
        terraform_version: "1.11.4",
        serial: 1,
        lineage: "l",
        outputs: {},
        resources: [
          {
            mode: "managed",
            type: "demo_note",
            name: "n",
            provider: 'module.x["provider[\\"terraform.io/builtin/terraform\\"]"].provider["example.test/acme/demo"]',
            instances: []
          }
        ]
      }
      const state = Redacted.make(new TextEncoder().encode(JSON.stringify(foreign)))
      const lock = "# Made by hand.\n"
      const jobs: ReadonlyArray<Placed<PlanJob>> = [
        planJob(folder, { "main.tf": text }),
        alone(folder, { "main.tf": text, ".terraform.lock.hcl": lock }),
        alone(folder, { "main.tf": text }, { lockText: lock }),
        alone(folder, { "main.tf": text }, { state })
      ]
      for (const job of jobs) {
        const seen = recorder()
        // The mirror is empty in these Runs, so the state's provider cannot be found.
        yield* Effect.exit(runner.plan({ ...job, mirror: { path: folder, required: true } }, seen.sink))
        expect(phasesOf(seen)).toContain("init")
      }
    })
  )

  it.live("a module with a provider is initialised, and its plugin keeps its own garbage collector settings", () =>
    onStage(({ job, folder }) =>
      Effect.gen(function* () {
        const runner = yield* TestRunner
        const text = `${required}${note("a", tellCollector)}`
        const first = job({ "main.tf": text }, { tool: { ...terraform, path: plainTerraform } })
        const plan = yield* runner.plan(first, recorder().sink)
        const seen = recorder()
        const applied = yield* runner.apply(applyJob(folder, first, plan), seen.sink)
        expect(applied.exit).toBe("succeeded")
        expect(linesOf(seen).join("\n")).toContain("collector=/")
      })
    )
  )
})
