import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, describe, expect } from "bun:test"
import { Effect } from "effect"
import { Capsules } from "../../../../actors/commands/capsule/Capsules.ts"
import { ModuleRunner } from "../../../../runner/execution/ModuleRunner.ts"
import { defaultSandboxSettings } from "../../../../runner/sandbox/SandboxSettings.ts"
import { suite } from "../../../support/Effect.ts"
import { active, applied, install, planned, replanned, settled } from "../../../support/Journey.ts"
import { plainTerraform } from "../../../support/PlainTerraform.ts"
import { testPlane } from "../../../support/TestPlane.ts"

const folder = mkdtempSync(join(tmpdir(), "svc-hungry-"))
const tool = join(folder, "terraform")
// The simulated provider uses up all memory during each command that the module lists in `hungry`, so that the command
// fails.
writeFileSync(
  tool,
  `#!/bin/sh\nif [ -e hungry ] && [ "$1" = "$(cat hungry)" ]; then ${plainTerraform} version; tail /dev/zero; exit 1; fi\nexec ${plainTerraform} "$@"\n`
)
chmodSync(tool, 0o755)

const tests = suite(
  testPlane({
    settings: { tool },
    sandbox: { limits: { ...defaultSandboxSettings.limits, memoryBytes: 400 * 1024 ** 2 } }
  })
)
afterAll(async () => {
  await tests.dispose()
  rmSync(folder, { recursive: true, force: true })
})

/** Installs a module and waits until the Run of its plan has ended, with any status. */
const planRun = Effect.fnUntraced(function* (branch: string, files: Parameters<typeof install>[1]) {
  const { planRunId } = yield* install(branch, files)
  return planRunId === undefined ? yield* Effect.die(new Error(`${branch} has no plan`)) : yield* settled(planRunId)
})

const main = `resource "terraform_data" "a" { input = "a" }`

describe.skipIf(Bun.which("terraform") === null)("Exhausted memory", () => {
  tests.live(
    "a plan that runs out of memory fails with a clear reason, and does not affect a concurrent Run",
    () =>
      Effect.gen(function* () {
        const [hungry, other] = yield* Effect.all(
          [planRun("hungry-plan", { "main.tf": main, hungry: "plan" }), planRun("frugal-plan", { "main.tf": main })],
          { concurrency: 2 }
        )
        expect([hungry.status, hungry.error?.code]).toEqual(["failed", "memory_limit"])
        expect(hungry.error?.message).toContain("more memory than its limit of 400 MiB")
        expect(hungry.error?.message).toContain("SVC_RUN_MEMORY")
        expect(other.status).toBe("waiting_approval")
      }),
    60_000
  )

  tests.live(
    "an apply that runs out of memory fails with a clear reason, and its state is treated as uncertain",
    () =>
      Effect.gen(function* () {
        const { capsuleId, plan } = yield* planned("hungry-apply", { "main.tf": main, hungry: "apply" })
        const apply = yield* applied(plan)
        expect([apply.status, apply.error?.code]).toEqual(["failed", "memory_limit"])
        const { runtimeSafety, status } = yield* (yield* Capsules).read(capsuleId)
        expect([status, runtimeSafety]).toEqual(["error", "unknown"])
      }),
    60_000
  )
})

describe.skipIf(Bun.which("terraform") === null)("Isolation records", () => {
  tests.live(
    "a Run records the isolation and network of its module, even if the Run fails",
    () =>
      Effect.gen(function* () {
        const confinement = yield* (yield* ModuleRunner).confinement(undefined)
        const { capsule, apply } = yield* active("recorded", { "main.tf": main })
        expect(apply).toMatchObject(confinement)
        expect(yield* replanned(capsule.id)).toMatchObject(confinement)
        const failed = yield* planRun("recorded-failure", { "main.tf": main, hungry: "plan" })
        expect(failed).toMatchObject({ status: "failed", ...confinement })
      }),
    60_000
  )
})
