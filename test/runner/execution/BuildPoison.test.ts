import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, describe, expect } from "bun:test"
import { Effect } from "effect"
import type { PlanJob } from "../../../runner/execution/RunJob.ts"
import { suite } from "../../support/Effect.ts"
import { applyJob, planJob, recorder, temporaryFolder } from "./support/RunnerHarness.ts"
import { runnerWith, TestRunner } from "./support/TestRunner.ts"

const { live, dispose } = suite(runnerWith())
afterAll(dispose)

const tree = {
  "main.tf": `
    module "child" { source = "./child" }
    output "built" { value = [module.child.value, fileexists("dist/app.txt") ? file("dist/app.txt") : ""] }
    output "planted" {
      value = [for path in ["~/planted", "~/.terraformrc", "~/.tofurc", "~/.netrc", "~/.gitconfig", "/tmp/planted", "/dev/shm/planted", "scratch"] : path if fileexists(pathexpand(path))]
    }`,
  "child/main.tf": `output "value" { value = "reviewed" }`
}
const child = { key: "child", source: "./child", dir: "child" }

const building = (folder: string, script: string, outputs: ReadonlyArray<string>) => {
  const commands = [{ argv: ["/bin/sh", "-c", script] }] as const
  const sourceBuild: NonNullable<PlanJob["sourceBuild"]> = { commands, outputs, network: false }
  return planJob(folder, tree, { sourceBuild, localModules: [child] })
}

const evil = `output "value" { value = "poisoned" }`
const manifest = JSON.stringify({
  Modules: [
    { Key: "", Source: "", Dir: "." },
    { Key: "child", Source: "./child", Dir: "dist" }
  ]
})

/** Files that a malicious build declares as outputs to change how the tool handles the reviewed module. */
const poisons: ReadonlyArray<readonly [string, ReadonlyArray<string>]> = [
  ...[".terraform/modules/modules.json", ".terraform/modules", ".terraform"].map(
    (output) =>
      [
        `mkdir -p dist .terraform/modules; echo '${evil}' > dist/main.tf; echo '${manifest}' > .terraform/modules/modules.json`,
        ["dist", output]
      ] as const
  ),
  ["mkdir -p .terraform; echo '{}' > .terraform/terraform.tfstate", [".terraform/terraform.tfstate"]],
  ["mkdir -p .terraform; echo other > .terraform/environment", [".terraform/environment"]],
  ["mkdir -p .terraform/providers/x; echo x > .terraform/providers/x/y", [".terraform/providers/x/y"]],
  ["mkdir -p child/.terraform/modules; echo x > child/.terraform/modules/x", ["child/.terraform/modules/x"]],
  ["echo x > .terraform.lock.hcl", [".terraform.lock.hcl"]],
  ["echo x > terraform.tfstate", ["terraform.tfstate"]],
  ["echo x > terraform.tfstate.backup", ["terraform.tfstate.backup"]],
  ["echo x > errored.tfstate", ["errored.tfstate"]],
  [`echo '${evil}' > child/main.tf`, ["child/main.tf"]],
  [`echo '${evil}' > child/main_override.tf`, ["child"]],
  ["echo '{}' > override.tf.json", ["override.tf.json"]],
  ["echo x > main.tofu", ["main.tofu"]],
  ["echo x > terraform.tfvars", ["terraform.tfvars"]],
  ["echo x > a.auto.tfvars.json", ["a.auto.tfvars.json"]]
]

describe("Malicious builds", () => {
  live("the outputs of a malicious build cannot change how the tool handles the reviewed module", () =>
    Effect.gen(function* () {
      const runner = yield* TestRunner
      const folder = yield* temporaryFolder
      const taken: Array<string> = []
      for (const [script, outputs] of poisons) {
        const result = yield* Effect.result(runner.plan(building(folder, script, outputs), recorder().sink))
        if (result._tag === "Success")
          taken.push(`${outputs.join(", ")}: ${JSON.stringify(result.success.plannedOutputs)}`)
        else expect(result.failure).toMatchObject({ reason: "build_failed", phase: "build" })
      }
      expect(taken).toEqual([])
    })
  )

  live("a malicious build passes only its outputs to the plan, and no process can change them later", () =>
    Effect.gen(function* () {
      const runner = yield* TestRunner
      const folder = yield* temporaryFolder
      mkdirSync(join(folder, "beside"), { mode: 0o700 })
      writeFileSync(join(folder, "beside", "canary"), "canary-of-another-run")
      const places = ["$HOME/planted", "$HOME/.terraformrc", "$HOME/.tofurc", "$HOME/.netrc", "$HOME/.gitconfig"]
      const script = [
        "mkdir dist; echo built > dist/app.txt",
        ...[...places, "/tmp/planted", "/dev/shm/planted", "scratch"].map((place) => `echo x > ${place} 2>/dev/null`),
        `cat ${folder}/beside/canary ${folder}/*/beside/canary; ls ${folder}; ls ..; ls /`,
        `ln ${folder}/beside/canary dist/linked; cp ${folder}/beside/canary dist/copied`,
        `for to in ${folder} .. ../.. ../../..; do echo x > $to/escaped 2>/dev/null; done`,
        "mknod dist/disk b 8 0; mknod dist/null c 1 3; chmod u+s dist/app.txt",
        // This process has a separate session, ignores signals, and changes the output between a check and the following read.
        "(trap '' HUP INT TERM; setsid sh -c 'trap \"\" HUP INT TERM; while :; do echo poisoned > dist/app.txt; rm -rf dist/swap; ln -s /etc/passwd dist/swap; rm -f dist/swap; done' >/dev/null 2>&1 &)",
        "true"
      ].join("\n")
      const seen = recorder()
      const job = building(folder, script, ["dist"])
      const plan = yield* runner.plan(job, seen.sink)
      expect(seen.everything()).not.toContain("canary-of-another-run")
      const valueOf = (name: string) => plan.plannedOutputs.find((output) => output.name === name)?.value
      expect(valueOf("built")).toEqual(["reviewed", expect.stringMatching(/^(?:built|poisoned|)\n?$/)])
      expect(valueOf("planted")).toEqual([])
      expect(readdirSync(folder).filter((name) => !name.startsWith("run-"))).toEqual(["beside"])
      expect(existsSync(join(folder, "escaped"))).toBe(false)
      // The apply would use the reviewed files even if the build's processes were still running.
      const outcome = yield* runner.apply(applyJob(folder, job, plan), recorder().sink)
      expect(outcome.exit).toBe("succeeded")
    })
  )
})
