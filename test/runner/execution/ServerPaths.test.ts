import { mkdirSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "bun:test"
import { Effect } from "effect"
import { RunnerSettings } from "../../../runner/execution/RunnerSettings.ts"
import { plannedValue, serverPaths, storedValue } from "../../../runner/execution/ServerPaths.ts"
import { Sandbox } from "../../../runner/sandbox/Sandbox.ts"
import type { SandboxSettingsShape } from "../../../runner/sandbox/SandboxSettings.ts"
import { it } from "../../support/Effect.ts"
import { providerMirror } from "../../support/ProviderMirror.ts"
import { brokenApply, brokenPlan } from "./support/BrokenTool.ts"
import { credentials, note, onStage, required } from "./support/ProviderStage.ts"
import { applyJob, modulePath, planJob, recorder, temporaryFolder } from "./support/RunnerHarness.ts"
import { runnerWith, TestRunner } from "./support/TestRunner.ts"

const request = (modulePath: string) => ({
  runFolder: "/srv/svc/data/runs/run_1",
  modulePath,
  dataFolder: "/srv/svc/data",
  insideRoot: "/capsule",
  providerCache: "/srv/svc/data/providers",
  mirror: "/srv/mirror"
})
const insideHost = "/srv/svc/data/runs/run_1/capsule"

/** Output of a Run of the module at infra/net, and the expected text after replacement. */
const rows: ReadonlyArray<readonly [printed: string, shown: string]> = [
  ["on /capsule/source/infra/net/main.tf line 3", "on main.tf line 3"],
  [`on ${insideHost}/source/infra/net/main.tf line 3`, "on main.tf line 3"],
  ["in /capsule/source/infra/net.", "in <module>."],
  ["in /capsule/source/infra/net/", "in <module>/"],
  ["/capsule/source/infra/dns/a.tf", "../dns/a.tf"],
  ["/capsule/source/infra", ".."],
  ["/capsule/source/lib/x.sh: not found", "../../lib/x.sh: not found"],
  ["/capsule/source/infra/network/main.tf", "../network/main.tf"],
  ["/capsule/source", "<repository>"],
  ["open /capsule/settings/inputs.tfvars.json", "open <settings>/inputs.tfvars.json"],
  ["/capsule/settings/credentials/key.json", "<credentials>/key.json"],
  ["/capsule/home/.terraform.d/checkpoint", "<home>/.terraform.d/checkpoint"],
  [`TMPDIR=${insideHost}/tmp`, "TMPDIR=<tmp>"],
  ["dial unix /tmp/plugin123: connect: refused", "dial unix <tmp>/plugin123: connect: refused"],
  ["/srv/svc/data/runs/run_1/build/source/infra/net/dist/app.js", "dist/app.js"],
  ["/srv/svc/data/providers/registry.test/a/b", "<provider cache>/registry.test/a/b"],
  ["/srv/svc/data/svc.db and /srv/svc/data", "<data folder>/svc.db and <data folder>"],
  ["/srv/svc/data/runs/run_2/x", "<data folder>/runs/run_2/x"],
  ["-I/srv/svc/data/tools/x,/srv/mirror/y", "-I<data folder>/tools/x,<provider mirror>/y"],
  ["file:///srv/svc/data/x", "file://<data folder>/x"],
  ["https://host.test/capsule/source/a and /capsules/x", "https://host.test/capsule/source/a and /capsules/x"],
  ["/usr/lib/x, ./main.tf, /etc/hosts", "/usr/lib/x, ./main.tf, /etc/hosts"]
]

describe("server paths", () => {
  it.live("server paths are shown relative to the module, or replaced by a name", () =>
    Effect.gen(function* () {
      const paths = yield* serverPaths(request("infra/net"))
      for (const [printed, shown] of rows) {
        expect(paths.shown(printed)).toBe(shown)
        expect(paths.shown(shown)).toBe(shown)
      }
      const root = yield* serverPaths(request("."))
      expect(root.shown("/capsule/source/main.tf in /capsule/source")).toBe("main.tf in <module>")
    })
  )

  it.live("distinct server paths in the values of a plan remain distinct", () =>
    Effect.gen(function* () {
      const paths = yield* serverPaths(request("infra/net"))
      expect(plannedValue(paths, { [`${insideHost}/a`]: [`x=${insideHost}/source/f`, 1, null, "./f"] })).toEqual({
        "/capsule/a": ["x=/capsule/source/f", 1, null, "./f"]
      })
      const linked = yield* serverPaths({ ...request("infra/net"), insideRoot: "/var/tmp/svc-1" })
      const earlier = insideHost.replace("run_1", "run_0")
      expect(plannedValue(linked, [`${insideHost}/source/f`, `${earlier}/source/f`, "/srv/svc/data/x"])).toEqual([
        "/var/tmp/svc-1/source/f",
        "<earlier run>/source/f",
        "/srv/svc/data/x"
      ])
      expect(linked.shown("open /var/tmp/svc-1/source/infra/net/a.tf")).toBe("open a.tf")
    })
  )

  it.live("server paths are recognised through links, and can be added while the Run is executing", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      mkdirSync(join(folder, "real", "runs"), { recursive: true })
      symlinkSync(join(folder, "real"), join(folder, "data"))
      const paths = yield* serverPaths({
        ...request("."),
        runFolder: join(folder, "data", "runs", "run_1"),
        dataFolder: join(folder, "data")
      })
      expect(paths.shown(join(folder, "real", "runs", "run_1", "capsule", "source", "a.tf"))).toBe("a.tf")
      expect(paths.shown(join(folder, "real", "key"))).toBe("<data folder>/key")
      expect(paths.shown("/opt/tool/terraform failed")).toBe("/opt/tool/terraform failed")
      paths.add("/opt/tool/terraform", "<tool>")
      expect(paths.shown("/opt/tool/terraform failed")).toBe("<tool> failed")
    })
  )
})

const levels: ReadonlyArray<readonly [name: string, settings: Partial<SandboxSettingsShape>]> = [
  ["isolated", {}],
  ["as plain processes", { isolation: "off" }]
]

const accepted = Effect.map(Sandbox, ({ status }) => status.accepted)

for (const [name, settings] of levels) {
  describe(`Hidden path: ${name}`, () => {
    it.live("a tool failure hides server paths, even in a diagnostic that contains files", () =>
      Effect.gen(function* () {
        const folder = yield* temporaryFolder
        const body = Effect.gen(function* () {
          if (!(yield* accepted)) return
          const runner = yield* TestRunner
          const tree = {
            "infra/net/main.tf": `
              variable "n" { type = number }
              locals { read = file(abspath("\${path.module}/../shared/missing.txt")) }
              output "read" { value = local.read }`
          }
          const seen = recorder()
          const failure = yield* Effect.flip(
            runner.plan(planJob(folder, tree, { ...modulePath("infra/net"), variables: {} }), seen.sink)
          )
          const missing = yield* Effect.flip(
            runner.plan(
              planJob(
                folder,
                {
                  "infra/net/main.tf": `output "read" { value = file(abspath("\${path.module}/../shared/missing.txt")) }`
                },
                modulePath("infra/net")
              ),
              seen.sink
            )
          )
          expect(failure.reason).toBe("plan_failed")
          expect(missing.diagnostics[0]).toMatchObject({ path: "main.tf", line: 1 })
          expect(missing.diagnostics[0]?.detail).toContain("../shared/missing.txt")
          const everything = `${seen.everything()}${JSON.stringify([failure, missing])}`
          expect(everything).toContain("../shared/missing.txt")
          expect(everything).not.toContain(folder)
          expect(everything).not.toContain("/capsule")
        })
        yield* Effect.provide(body, runnerWith(settings))
      })
    )

    it.live("a server path is hidden in the reviewed values of a plan", () =>
      Effect.gen(function* () {
        const folder = yield* temporaryFolder
        const body = Effect.gen(function* () {
          if (!(yield* accepted)) return
          const runner = yield* TestRunner
          const tree = {
            "main.tf": `
              resource "terraform_data" "a" { input = abspath("x/y") }
              output "where" { value = abspath("x") }`
          }
          const plan = yield* runner.plan(planJob(folder, tree), recorder().sink)
          const shown = JSON.stringify([plan.resourceChanges, plan.outputChanges])
          expect(shown).toContain("/capsule/source/x/y")
          expect(shown).not.toContain(folder)
        })
        yield* Effect.provide(body, runnerWith(settings))
      })
    )

    it.live("a server path is hidden in the output of a provider that crashes", () =>
      Effect.gen(function* () {
        const mirror = yield* providerMirror
        const folder = yield* temporaryFolder
        const body = Effect.gen(function* () {
          if (!(yield* accepted)) return
          const runner = yield* TestRunner
          const job = planJob(
            folder,
            { "main.tf": `${required}${note("a", 'fail = "crash"')}` },
            { mirror: { path: mirror.path, required: true }, credentials: [credentials(mirror.notesDir)] }
          )
          const seen = recorder()
          const plan = yield* runner.plan(job, seen.sink)
          const applied = yield* runner.apply(applyJob(folder, job, plan), seen.sink)
          expect(applied.exit).toBe("failed")
          const everything = `${seen.everything()}${JSON.stringify(applied.diagnostics)}`
          expect(everything).toContain("ApplyResourceChange")
          for (const path of [folder, mirror.path, "/capsule"]) expect(everything).not.toContain(path)
        })
        yield* Effect.provide(
          body,
          runnerWith({ ...settings, extraReadOnly: [mirror.interpreter], extraWritable: [mirror.notesDir] })
        )
      })
    )

    it.live("a server path is hidden in a tool's stack trace", () =>
      Effect.gen(function* () {
        const folder = yield* temporaryFolder
        const data = `/var/lib/service-data`
        const stack = `
          echo "panic: runtime error: invalid memory address" >&2
          echo "goroutine 1 [running]: $PWD/main.go:12 in $TMPDIR/plugin1 of ${data}/providers/x" >&2
          echo "$HOME/.terraform.d and ${data}/svc.db"
          exit 1`
        const body = Effect.gen(function* () {
          if (!(yield* accepted)) return
          const runner = yield* TestRunner
          const seen = recorder()
          const failure = yield* Effect.flip(
            runner.plan(brokenPlan(folder, { init: "exit 0", plan: stack }), seen.sink)
          )
          const applied = yield* runner.apply(brokenApply(folder, { init: "exit 0", apply: stack }), seen.sink)
          const everything = `${seen.everything()}${JSON.stringify([failure, applied.diagnostics])}`
          expect(everything).toContain("main.go:12 in <tmp>/plugin1 of <data folder>/providers/x")
          expect(failure.message).toContain("<data folder>/svc.db")
          for (const path of [folder, data, "/capsule"]) expect(everything).not.toContain(path)
        })
        yield* Effect.provide(body, runnerWith(settings)).pipe(
          Effect.provideService(RunnerSettings, { providerCache: undefined, dataFolder: data, mirror: undefined })
        )
      })
    )
  })
}

it.live("svc reports a missing tool without the tool's location", () =>
  onStage(({ job }) =>
    Effect.gen(function* () {
      const runner = yield* TestRunner
      const path = "/opt/nowhere/terraform"
      const failure = yield* Effect.flip(
        runner.plan(job({ "main.tf": "" }, { tool: { name: "terraform", version: "1.11.4", path } }), recorder().sink)
      )
      expect(failure.reason).toBe("tool_missing")
      expect(failure.message).toContain("is not at <tool>")
      expect(failure.message).not.toContain("nowhere")
    })
  )
)

test("the folder of a Run is hidden in an Output that an earlier release stored", () => {
  expect(
    storedValue("/srv/svc/data/runs", { root: "/srv/svc/data/runs/run_0-1/capsule/source", other: "/srv/data" })
  ).toEqual({
    root: "<earlier run>/source",
    other: "/srv/data"
  })
})
