import { chmodSync } from "node:fs"
import { describe, expect } from "bun:test"
import { Effect } from "effect"
import { ModuleRunner } from "../../../runner/execution/ModuleRunner.ts"
import { Sandbox } from "../../../runner/sandbox/Sandbox.ts"
import { it } from "../../support/Effect.ts"
import { countCreations, providerMirror } from "../../support/ProviderMirror.ts"
import { credentials, note, required } from "./support/ProviderStage.ts"
import { applyJob, planJob, recorder, runnerWith, temporaryFolder } from "./support/RunnerHarness.ts"

const tree = { "main.tf": `${required}${note("a")}` }

/** Below bubblewrap the same run must work as well; what it may see differs. */
const planAndApply = Effect.gen(function* () {
  const sandbox = yield* Sandbox
  const runner = yield* ModuleRunner
  const mirror = yield* providerMirror
  const folder = yield* temporaryFolder
  // The run's own user must reach mirror and notes.
  if (sandbox.status.level === "user") for (const path of [`${mirror.path}/..`, mirror.notesDir]) chmodSync(path, 0o777)
  const job = planJob(folder, tree, {
    mirror: { path: mirror.path, required: false },
    credentials: [credentials(mirror.notesDir)]
  })
  const plan = yield* runner.plan(job, recorder().sink)
  const applied = yield* runner.apply(applyJob(folder, job, plan), recorder().sink)
  expect(applied).toMatchObject({ exit: "succeeded", resourceCount: 1 })
  expect(yield* countCreations(mirror.notesDir)).toBe(1)
  return applied.sandboxLevel
})

describe("isolation levels", () => {
  it.live("process", () =>
    planAndApply.pipe(
      Effect.map((level) => expect(level).toBe("process")),
      Effect.provide(runnerWith({ isolation: "off" }))
    )
  )

  it.live("without bubblewrap", () =>
    planAndApply.pipe(
      Effect.map((level) => expect(["user", "process"]).toContain(level)),
      Effect.provide(runnerWith({ bubblewrap: "/nowhere/bwrap" }))
    )
  )

  it.live("a required isolation that is not there refuses the run before anything starts", () =>
    Effect.gen(function* () {
      const runner = yield* ModuleRunner
      const failure = yield* Effect.flip(runner.plan(planJob(yield* temporaryFolder, tree), recorder().sink))
      expect(failure).toMatchObject({ reason: "sandbox_refused", phase: "prepare" })
    }).pipe(Effect.provide(runnerWith({ isolation: "required", bubblewrap: "/nowhere/bwrap" })))
  )
})
