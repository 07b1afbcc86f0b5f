import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, describe, expect } from "bun:test"
import { Effect, Redacted } from "effect"
import { defaultSandboxSettings } from "../../../runner/sandbox/SandboxSettings.ts"
import { suite } from "../../support/Effect.ts"
import { applyJob, modulePath, planJob, recorder, temporaryFolder, variable } from "./support/RunnerHarness.ts"
import { runnerWith, TestRunner } from "./support/TestRunner.ts"

// Gives each Run a separate network, as in the shipped configuration.
const { live, dispose } = suite(runnerWith({ network: defaultSandboxSettings.network }))
afterAll(dispose)

const secret = "hunter2-canary-value"

/** The module uses only the tool's builtin provider, so nothing has to be installed. */
const module = {
  "infra/main.tf": `
terraform {
  backend "s3" {
    bucket = "not-ours"
  }
}
variable "password" {
  type      = string
  sensitive = true
}
variable "size" {
  type    = number
  default = 1
}
module "net" {
  source = "../shared/net"
}
resource "terraform_data" "a" {
  input = { password = var.password, size = var.size, place = path.cwd }
}
output "size" {
  value = var.size
}
output "password" {
  value     = var.password
  sensitive = true
}
`,
  "shared/net/main.tf": `resource "terraform_data" "net" {
  input = "net"
}`,
  "infra/terraform.tfvars": `size = 99`,
  "infra/x.auto.tfvars.json": `{"size": 98}`,
  "infra/terraform.tfstate": `{"not": "a state"}`,
  "infra/.terraform/modules/modules.json": `{"Modules":[]}`
}

const job = (folder: string) =>
  planJob(folder, module, {
    ...modulePath("infra"),
    localModules: [{ key: "net", source: "../shared/net", dir: "../shared/net" }],
    variables: { password: variable(secret, true) }
  })

describe("ModuleRunner", () => {
  live("the runner plans, applies, plans again without changes, and destroys", () =>
    Effect.gen(function* () {
      const runner = yield* TestRunner
      const folder = yield* temporaryFolder
      const first = job(folder)
      const seen = recorder()
      const plan = yield* runner.plan(first, seen.sink)

      expect(plan.summary).toEqual({ add: 2, change: 0, destroy: 0, replace: 0, import: 0, forget: 0 })
      expect(plan.hasChanges).toBe(true)
      expect(plan.applyable).toBe(true)
      expect(plan.planDigest).toMatch(/^sha256:[0-9a-f]{64}$/)
      expect(plan.tool).toEqual({ name: "terraform", version: "1.11.4" })
      expect(plan.lockText).toBeUndefined()
      const changed = plan.resourceChanges.find(({ address }) => address === "terraform_data.a")
      expect(changed).toMatchObject({ mode: "managed", type: "terraform_data", name: "a", actions: ["create"] })
      expect(changed?.changedAttributes).toContainEqual({
        name: "input",
        after: {
          password: "(sensitive value)",
          place: plan.sandboxLevel === "bubblewrap" ? "/capsule/source/infra" : expect.any(String),
          // The runner ignores the module's own tfvars files.
          size: 1
        }
      })
      expect(plan.outputChanges).toContainEqual({ name: "size", actions: ["create"], sensitive: false, after: 1 })
      expect(plan.outputChanges).toContainEqual({
        name: "password",
        actions: ["create"],
        sensitive: true,
        afterSensitive: true
      })
      expect(JSON.stringify(plan)).not.toContain(secret)
      expect(seen.events.map((event) => (event.kind === "run.phase" ? event.data.phase : event.kind))).toEqual([
        "prepare",
        "init",
        "plan",
        "show",
        "plan.summary"
      ])
      // The disk no longer contains any secrets.
      expect(readdirSync(first.runFolder)).toEqual([])

      const applied = recorder()
      const apply = applyJob(folder, first, plan)
      const outcome = yield* runner.apply(apply, applied.sink)
      expect(outcome).toMatchObject({ exit: "succeeded", changedAnything: true, possiblyCreated: [], resourceCount: 2 })
      expect(outcome.outputs.map(({ name, sensitive }) => ({ name, sensitive }))).toEqual([
        { name: "password", sensitive: true },
        { name: "size", sensitive: false }
      ])
      expect(JSON.stringify(outcome)).not.toContain(secret)
      expect(applied.everything()).not.toContain(secret)
      const started = applied.events
        .filter((event) => event.kind === "resource.started")
        .map(({ data }) => data.address)
      expect(started.sort()).toEqual(["module.net.terraform_data.net", "terraform_data.a"])
      expect(applied.events.filter(({ kind }) => kind === "resource.completed")).toHaveLength(2)
      // The plan installed no provider, so the apply installs none either.
      expect(applied.events.flatMap((event) => (event.kind === "run.phase" ? [event.data.phase] : []))).toEqual([
        "prepare",
        "apply",
        "state",
        "outputs"
      ])
      expect(existsSync(join(apply.runFolder, "capsule", "settings"))).toBe(false)
      const { state } = outcome
      if (state === undefined) throw new Error("the apply left no state")

      const again = yield* runner.plan({ ...job(folder), state }, recorder().sink)
      expect(again.hasChanges).toBe(false)
      expect(again.resourceChanges).toEqual([])

      const refused = yield* Effect.flip(runner.apply(apply, recorder().sink))
      expect(refused.reason).toBe("already_started")

      const destroy = { ...job(folder), state, mode: "destroy" as const }
      const destroyPlan = yield* runner.plan(destroy, recorder().sink)
      expect(destroyPlan.summary.destroy).toBe(2)
      const destroyed = yield* runner.apply(applyJob(folder, destroy, destroyPlan), recorder().sink)
      expect(destroyed).toMatchObject({ exit: "succeeded", resourceCount: 0, outputs: [] })
      expect(destroyed.serial ?? 0).toBeGreaterThan(outcome.serial ?? 0)
      expect(destroyed.lineage).toBe(outcome.lineage ?? "")

      yield* runner.discard(apply.runFolder)
      expect(existsSync(apply.runFolder)).toBe(false)
    })
  )

  live("the runner rejects a plan file other than the reviewed plan file before anything starts", () =>
    Effect.gen(function* () {
      const runner = yield* TestRunner
      const folder = yield* temporaryFolder
      const first = planJob(folder, { "main.tf": `output "x" {\n  value = 1\n}` })
      const plan = yield* runner.plan(first, recorder().sink)
      const other = Redacted.make(Redacted.value(plan.planFile).slice(0, -1))
      const failure = yield* Effect.flip(
        runner.apply(applyJob(folder, first, plan, { planFile: other }), recorder().sink)
      )
      expect(failure).toMatchObject({ _tag: "RunnerFailure", reason: "job_invalid", phase: "prepare" })
    })
  )

  live(
    "the runner passes an ephemeral input to the apply again, and reports the tool's error if the input is missing",
    () =>
      Effect.gen(function* () {
        const runner = yield* TestRunner
        const folder = yield* temporaryFolder
        const tree = {
          "main.tf": `variable "token" {\n  type      = string\n  ephemeral = true\n}\nresource "terraform_data" "a" {\n  input = "x"\n}`
        }
        const first = planJob(folder, tree, { variables: { token: variable(secret, true) } })
        const plan = yield* runner.plan(first, recorder().sink)
        const without = yield* runner.apply(applyJob(folder, first, plan), recorder().sink)
        expect(without).toMatchObject({ exit: "failed", changedAnything: false })
        expect(without.diagnostics.map(({ summary }) => summary)).toContain("No value for required variable")
        const given = applyJob(folder, first, plan, { ephemeralVariables: { token: Redacted.make(secret) } })
        expect((yield* runner.apply(given, recorder().sink)).exit).toBe("succeeded")
      })
  )

  live("a plan fails if the scan did not find a module, because the runner never fetches modules", () =>
    Effect.gen(function* () {
      const runner = yield* TestRunner
      const folder = yield* temporaryFolder
      const tree = { "main.tf": `module "far" {\n  source = "git::https://example.test/far.git"\n}` }
      const failure = yield* Effect.flip(runner.plan(planJob(folder, tree), recorder().sink))
      expect(failure.reason).toBe("init_failed")
      expect(failure.message).toContain("Module not installed")
    })
  )

  live("the runner rejects files that would override its own files, and reports a missing module", () =>
    Effect.gen(function* () {
      const runner = yield* TestRunner
      const folder = yield* temporaryFolder
      for (const name of ["~capsule_override.tofu.json", "~zzz_override.tf", "~capsule_variables.tf"]) {
        const failure = yield* Effect.flip(runner.plan(planJob(folder, { [name]: "" }), recorder().sink))
        expect(failure).toMatchObject({ reason: "prepare_failed", phase: "prepare" })
        expect(failure.message).toContain(name)
      }
      const absent = planJob(folder, { "main.tf": "" }, { ...modulePath("infra") })
      expect((yield* Effect.flip(runner.plan(absent, recorder().sink))).message).toContain('"infra"')
      const outside = planJob(folder, { "main.tf": "" }, { ...modulePath("../x") })
      expect((yield* Effect.flip(runner.plan(outside, recorder().sink))).reason).toBe("job_invalid")
    })
  )

  live("the module's override file, cloud block and plugins folder do not replace those of the runner (G15)", () =>
    Effect.gen(function* () {
      const runner = yield* TestRunner
      const folder = yield* temporaryFolder
      const tree = {
        "main.tf": `terraform {\n  cloud {\n    organization = "x"\n    workspaces {\n      name = "y"\n    }\n  }\n}\noutput "x" {\n  value = "$\{file("main.tf") == "" ? 1 : 2}"\n}`,
        "zzz_override.tf": `terraform {\n  backend "http" {\n    address = "http://127.0.0.1:9/state"\n  }\n}`,
        "terraform.d/plugins/x": "",
        ".terraformrc": "garbage {"
      }
      const first = planJob(folder, tree)
      const plan = yield* runner.plan(first, recorder().sink)
      expect(plan.outputChanges).toHaveLength(1)
      const outcome = yield* runner.apply(applyJob(folder, first, plan), recorder().sink)
      expect(outcome.exit).toBe("succeeded")
    })
  )

  live("the runner reports the faults of a module through its diagnostics", () =>
    Effect.gen(function* () {
      const runner = yield* TestRunner
      const folder = yield* temporaryFolder
      const seen = recorder()
      const tree = { "main.tf": `resource "terraform_data" "a" {\n  input = nonsense.value\n}` }
      const failure = yield* Effect.flip(runner.plan(planJob(folder, tree), seen.sink))
      expect(failure.diagnostics[0]).toMatchObject({ severity: "error", path: "main.tf", line: 2 })
      expect(seen.events.some((event) => event.kind === "diagnostic" && event.data.path === "main.tf")).toBe(true)
    })
  )

  live("a Run cancelled before it begins changes nothing", () =>
    Effect.gen(function* () {
      const runner = yield* TestRunner
      const folder = yield* temporaryFolder
      const first = planJob(folder, { "main.tf": "" }, { cancel: Effect.void })
      const failure = yield* Effect.flip(runner.plan(first, recorder().sink))
      expect(failure.reason).toBe("cancelled")
    })
  )

  live("a missing tool is reported before anything is prepared", () =>
    Effect.gen(function* () {
      const runner = yield* TestRunner
      const folder = yield* temporaryFolder
      const first = planJob(folder, {}, { tool: { name: "opentofu", version: "1.9.0", path: "/nowhere/tofu" } })
      const failure = yield* Effect.flip(runner.plan(first, recorder().sink))
      expect(failure).toMatchObject({ reason: "tool_missing", phase: "prepare" })
      expect(failure.message).toContain("opentofu 1.9.0 is not at <tool>")
      expect(existsSync(first.runFolder)).toBe(false)
    })
  )

  live("a module cannot read anything on the service's disk", () =>
    Effect.gen(function* () {
      const runner = yield* TestRunner
      const folder = yield* temporaryFolder
      mkdirSync(join(folder, "data"))
      writeFileSync(join(folder, "data", "control.db"), "control-plane-secret")
      const tree = { "main.tf": `output "x" {\n  value = file("${join(folder, "data", "control.db")}")\n}` }
      const failure = yield* Effect.flip(runner.plan(planJob(folder, tree), recorder().sink))
      expect(JSON.stringify(failure)).not.toContain("control-plane-secret")
    })
  )
})
