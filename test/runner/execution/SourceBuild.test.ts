import { existsSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, describe, expect } from "bun:test"
import { Effect, Redacted } from "effect"
import type { PlanJob } from "../../../runner/execution/RunJob.ts"
import { suite } from "../../support/Effect.ts"
import { type Placed, applyJob, planJob, recorder, temporaryFolder } from "./support/RunnerHarness.ts"
import { runFolderPaths } from "../../../runner/execution/RunFolder.ts"
import { runnerWith, TestRunner } from "./support/TestRunner.ts"

const { live, dispose } = suite(runnerWith())
afterAll(dispose)

const tree = {
  "main.tf": `output "built" {\n  value = [file("dist/app.txt"), fileexists("scratch.txt"), filesha256("dist/app.txt")]\n}`,
  "src/app.txt": "source",
  "child/main.tf": ""
}

const shell = (script: string) => ({ argv: ["/bin/sh", "-c", script] })

const building = (folder: string, commands: ReadonlyArray<PlanJobCommand>, more: Partial<Placed<PlanJob>> = {}) =>
  planJob(folder, tree, {
    sourceBuild: { commands, outputs: ["dist"], network: false },
    localModules: [{ key: "child", source: "./child", dir: "child" }],
    ...more
  })
type PlanJobCommand = NonNullable<PlanJob["sourceBuild"]>["commands"][number]

describe("Source builds", () => {
  live("a source build runs without a shell, credentials or network access, and passes on only its outputs (G16)", () =>
    Effect.gen(function* () {
      const runner = yield* TestRunner
      const folder = yield* temporaryFolder
      const seen = recorder()
      const commands = [
        { argv: ["mkdir", "../dist; touch injected"], workingDirectory: "src" },
        { argv: ["mkdir", "dist"] },
        shell("env; grep -c : /proc/net/dev; pwd"),
        shell(
          "date +%N > scratch.txt; cp src/app.txt dist/app.txt; date +%N >> dist/app.txt; ln dist/app.txt dist/hard"
        )
      ]
      const first = building(folder, commands, {
        credentials: [
          {
            provider: "acme/demo",
            moduleLocalName: "demo",
            connection: "c",
            values: { DEMO_TOKEN: Redacted.make("build-canary-token") },
            files: [],
            config: {},
            argumentNames: {}
          }
        ]
      })
      const plan = yield* runner.plan(first, seen.sink)
      const log = seen.logs.filter(({ phase }) => phase === "build").map(({ text }) => text)
      expect(
        log
          .filter((text) => /^[A-Z]+=/.test(text))
          .map((text) => text.split("=")[0])
          .sort()
      ).toEqual(expect.arrayContaining(["CI", "HOME", "LANG", "PATH", "TMPDIR"]))
      expect(log.join("\n")).not.toContain("DEMO_TOKEN")
      expect(log).toContain("<module>")
      // The build's network contains only the loopback device.
      expect(log).toContain("1")
      expect(plan.build?.digest).toMatch(/^sha256:/)
      expect(existsSync(join(first.runFolder, "build"))).toBe(false)
      const [built] = plan.plannedOutputs
      expect(built?.value).toMatchObject([expect.stringContaining("source"), false, expect.any(String)])

      const job = applyJob(folder, first, plan)
      const outcome = yield* runner.apply(job, recorder().sink)
      expect(outcome.exit).toBe("succeeded")
      expect(Redacted.value(outcome.outputs[0]?.value ?? Redacted.make(null))).toEqual(built?.value ?? "absent")

      writeFileSync(runFolderPaths(first.runFolder).buildArchive, "another build")
      const changed = yield* Effect.flip(runner.apply(applyJob(folder, first, plan), recorder().sink))
      expect(changed).toMatchObject({ reason: "prepare_failed" })
      expect(changed.message).toContain("was reviewed")
    })
  )

  live("a source build fails if its outputs are missing, or contain links, special files or configuration", () =>
    Effect.gen(function* () {
      const runner = yield* TestRunner
      const folder = yield* temporaryFolder
      writeFileSync(join(folder, "master.key"), "key-material-canary")
      const cases: ReadonlyArray<readonly [string, string, string]> = [
        ["true", "dist", "ENOENT"],
        [`mkdir dist; ln -s ${folder}/master.key dist/x`, "dist", "link or a special file"],
        [`ln -s ${folder} dist`, "dist/master.key", "link or a special file"],
        ["mkfifo dist", "dist", "link or a special file"],
        ["echo > extra.tf", "extra.tf", "may not write configuration"],
        ["echo > child/more.tofu.json", "child", "may not write configuration"],
        ["echo > x.auto.tfvars", "x.auto.tfvars", "may not write configuration"]
      ]
      for (const [script, output, message] of cases) {
        const job = building(folder, [shell(script)], {
          sourceBuild: { commands: [shell(script)], outputs: [output], network: false }
        })
        const failure = yield* Effect.flip(runner.plan(job, recorder().sink))
        expect(failure).toMatchObject({ reason: "build_failed", phase: "build" })
        expect(failure.message).toContain(message)
      }
      const outside = { commands: [shell("true")], outputs: ["../main.tf"], network: false }
      const refused = yield* Effect.flip(
        runner.plan(building(folder, [shell("true")], { sourceBuild: outside }), recorder().sink)
      )
      expect(refused.reason).toBe("job_invalid")
      expect(refused.message).toContain("canonical")
    })
  )

  live("a plan fails with the reason if its source build fails, hangs or is missing", () =>
    Effect.gen(function* () {
      const runner = yield* TestRunner
      const folder = yield* temporaryFolder
      const failed = yield* Effect.flip(
        runner.plan(building(folder, [shell("echo broken >&2; exit 4")]), recorder().sink)
      )
      expect(failed).toMatchObject({ reason: "build_failed", phase: "build" })
      expect(failed.message).toContain("exit code 4. broken")
      const absent = yield* Effect.flip(runner.plan(building(folder, [{ argv: ["no-such-program"] }]), recorder().sink))
      expect(absent).toMatchObject({ reason: "build_failed", phase: "build" })
      const hanging = building(folder, [shell("trap '' INT; echo deaf; while :; do sleep 1; done")], {
        // The grace period also covers the start of the script, because the signal would kill a script that has not set its trap
        // yet.
        timing: { build: "100 millis", planGrace: "1 second" }
      })
      expect(yield* Effect.flip(runner.plan(hanging, recorder().sink))).toMatchObject({
        reason: "timed_out",
        phase: "build",
        sandboxKilled: true
      })
    })
  )
})
