import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, describe, expect } from "bun:test"
import { type Duration, Effect } from "effect"
import { Capsules } from "../../../../actors/commands/capsule/Capsules.ts"
import type { RunTiming } from "../../../../runner/execution/RunJob.ts"
import { suite } from "../../../support/Effect.ts"
import {
  active,
  applied,
  bound,
  demoConnection,
  demoModule,
  install,
  note,
  planned,
  replanned
} from "../../../support/Journey.ts"
import { TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { plainTerraform } from "../../../support/PlainTerraform.ts"

const folder = mkdtempSync(join(tmpdir(), "svc-tool-"))
const tool = join(folder, "terraform")

/** The tool's faults. Each is a shell script that replaces one of the tool's commands. */
const faults = {
  none: "",
  garbage: `printf '\\377\\000{"type":"planned_change"}}}\\n[[[[\\nnot json at all\\n'; exit 0`,
  hang: "sleep 600",
  failsAfterwards: `${plainTerraform} "$@"; exit 1`,
  // The script is PID 1 of its namespace and cannot kill itself, so it exits with the code of a killed process.
  dies: "exit 137"
}
const behave = (command: string, fault: keyof typeof faults) => {
  writeFileSync(
    tool,
    `#!/bin/sh\nif [ "$1" = "${command}" ]; then\n${faults[fault] || ":"}\nfi\nexec ${plainTerraform} "$@"\n`
  )
  chmodSync(tool, 0o755)
}
behave("none", "none")

/** svc reads these timings for every Run, so tests can change them. */
const timing: { -readonly [K in keyof RunTiming]?: Duration.Input } = {}
const impatient = (part: typeof timing) => Object.assign(timing, part)
const patient = () => {
  for (const key of Object.keys(timing)) Reflect.deleteProperty(timing, key)
}

const tests = suite(testPlane({ settings: { tool }, run: { timing } }))
const without = suite(testPlane({ settings: { tool: join(folder, "absent") } }))
afterAll(async () => {
  await tests.dispose()
  await without.dispose()
  rmSync(folder, { recursive: true, force: true })
})

const main = { "main.tf": `resource "terraform_data" "a" { input = "a" }` }

const authorityOf = Effect.fnUntraced(function* (id: Parameters<Capsules["Service"]["read"]>[0]) {
  const { currentStateGeneration, runtimeSafety, status } = yield* (yield* Capsules).read(id)
  return [status, runtimeSafety, currentStateGeneration]
})

describe.skipIf(Bun.which("terraform") === null)("Faulty tools", () => {
  without.live(
    "if no tool is installed, a Run fails and reports that the tool is missing",
    () =>
      Effect.gen(function* () {
        const plan = yield* install("absent", main)
        expect([plan.phase, plan.diagnostics[0]?.code]).toEqual(["failed", "tool_unavailable"])
        expect(plan.diagnostics[0]?.message).not.toBe("")
      }),
    120_000
  )

  tests.live(
    "a tool that fails while planning leaves no plan to approve",
    () =>
      Effect.gen(function* () {
        const { dataDir } = yield* TestPlane
        const { capsule } = yield* active("plans", main)
        for (const fault of ["garbage", "dies"] as const) {
          behave("plan", fault)
          const plan = yield* replanned(capsule.id)
          expect(plan.status).toBe("failed")
          expect(plan.error?.message ?? "").not.toBe("")
          expect(plan.planDigest).toBeUndefined()
        }
        behave("plan", "hang")
        impatient({ plan: "1 second", planGrace: "500 millis" })
        const late = yield* replanned(capsule.id)
        expect([late.status, late.error?.code]).toEqual(["failed", "timed_out"])
        patient()
        behave("none", "none")
        expect((yield* replanned(capsule.id)).status).toBe("waiting_approval")
        expect(yield* authorityOf(capsule.id)).toEqual(["active", "safe", 1])
        expect(existsSync(join(dataDir, "runs", `${late.id}-1`))).toBe(false)
      }),
    120_000
  )

  tests.live(
    "no change is lost if the tool fails during an apply",
    () =>
      Effect.gen(function* () {
        const connection = yield* demoConnection("tool-fault-canary-token-2b7d")
        const bindings = { options: { providerBindings: [bound(connection.id)] } }
        // The tool fails after it has created everything. A state exists, but svc treats it as uncertain.
        const changed = yield* planned("afterwards", { "main.tf": demoModule(note("afterwards")) }, bindings)
        behave("apply", "failsAfterwards")
        const failed = yield* applied(changed.plan)
        expect(failed.status).toBe("failed")
        expect(yield* authorityOf(changed.capsuleId)).toEqual(["error", "unknown", 1])
        behave("none", "none")
        const again = yield* replanned(changed.capsuleId)
        expect(again.planSummary).toMatchObject({ add: 0, change: 0, destroy: 0 })
        expect((yield* applied(again)).status).toBe("succeeded")
        expect(yield* authorityOf(changed.capsuleId)).toEqual(["active", "safe", 2])

        // The tool stops before it changes anything. No state exists, but svc cannot be certain of that.
        for (const fault of ["dies", "hang"] as const) {
          const { capsuleId, plan } = yield* planned(`apply-${fault}`, main)
          behave("apply", fault)
          impatient({ apply: "1 second", applyGrace: "500 millis" })
          const apply = yield* applied(plan)
          patient()
          behave("none", "none")
          expect([apply.status, apply.stateVersionId]).toEqual(["failed", undefined])
          const [status, safety, generation] = yield* authorityOf(capsuleId)
          expect(generation).toBe(0)
          if (fault === "hang")
            expect([status, safety, apply.error?.code]).toEqual(["error", "unknown", "apply_timed_out"])
          expect((yield* applied(yield* replanned(capsuleId))).status).toBe("succeeded")
          expect(yield* authorityOf(capsuleId)).toEqual(["active", "safe", 1])
        }
      }),
    120_000
  )
})
