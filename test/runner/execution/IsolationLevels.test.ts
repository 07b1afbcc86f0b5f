import { createHash } from "node:crypto"
import { chmodSync, existsSync } from "node:fs"
import { tmpdir } from "node:os"
import { describe, expect } from "bun:test"
import { Effect, Redacted } from "effect"
import { Sandbox } from "../../../runner/sandbox/Sandbox.ts"
import type { PlanJob } from "../../../runner/execution/RunJob.ts"
import { treeDigest } from "../../../runner/sandbox/TreeDigest.ts"
import type { SandboxSettingsShape } from "../../../runner/sandbox/SandboxSettings.ts"
import type { SandboxLevel } from "../../../schema/records/Run.ts"
import { it } from "../../support/Effect.ts"
import { countCreations, providerMirror } from "../../support/ProviderMirror.ts"
import { credentials, note, required } from "./support/ProviderStage.ts"
import { type Placed, type Tree, applyJob, planJob, recorder, temporaryFolder } from "./support/RunnerHarness.ts"
import { runnerWith, TestRunner } from "./support/TestRunner.ts"

const addressKey = Redacted.make("the key of a Capsule")
const linkOf = (key: Redacted.Redacted) =>
  `/var/tmp/svc-${createHash("sha256")
    .update(`stable path\0${Redacted.value(key)}`)
    .digest("hex")
    .slice(0, 24)}`

/** All expressions with which the module can obtain an absolute path. */
const absolute = {
  "infra/main.tf": `
    resource "terraform_data" "paths" {
      input = [abspath("\${path.module}/tpl"), path.cwd, abspath(path.root)]
    }
    output "module" { value = terraform_data.paths.output[0] }
    output "cwd" { value = terraform_data.paths.output[1] }
    output "root" { value = terraform_data.paths.output[2] }`
}

const tree = { "main.tf": `${required}${note("a")}` }

/** Plans and applies the same module with these settings, which must work at every level, although the visible files differ. */
const planAndApply = (settings: Partial<SandboxSettingsShape>) =>
  Effect.gen(function* () {
    const mirror = yield* providerMirror
    const folder = yield* temporaryFolder
    const inside = Effect.gen(function* () {
      const { status } = yield* Sandbox
      if (!status.accepted) return undefined
      // World-writable, because the Run writes here as a separate user.
      if (status.level === "user_landlock") chmodSync(mirror.notesDir, 0o777)
      const runner = yield* TestRunner
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
    const seen = { extraReadOnly: [mirror.interpreter], extraWritable: [mirror.notesDir] }
    return yield* Effect.provide(
      inside,
      // The service owns mirrors and run folders, so it may grant access to its sandbox users.
      runnerWith({ ...settings, ...seen, dataFolder: tmpdir() })
    )
  })

const levels: ReadonlyArray<readonly [SandboxLevel, Partial<SandboxSettingsShape>]> = [
  ["bubblewrap", { levels: ["bubblewrap"] }],
  ["namespaces", { levels: ["namespaces"] }],
  ["user_landlock", { levels: ["user_landlock"] }],
  ["landlock", { levels: ["landlock"] }],
  ["process", { isolation: "off" }]
]

describe("isolation levels", () => {
  for (const [level, settings] of levels)
    it.live(`a module with a provider is planned and applied: ${level}, where available`, () =>
      Effect.gen(function* () {
        expect([undefined, level]).toContain(yield* planAndApply(settings))
      })
    )

  for (const [level, settings] of levels)
    it.live(`absolute paths are the same in plan, apply and the next plan: ${level}, where available`, () =>
      Effect.gen(function* () {
        const { status } = yield* Sandbox
        if (!status.accepted || status.level !== level) return
        const runner = yield* TestRunner
        const folder = yield* temporaryFolder
        const jobOf = (state?: Redacted.Redacted<Uint8Array>) =>
          planJob(folder, absolute, {
            module: { snapshotDigest: "sha256:paths", path: "infra" },
            addressKey,
            ...(state === undefined ? {} : { state })
          })
        const job = jobOf()
        const plan = yield* runner.plan(job, recorder().sink)
        const applied = yield* runner.apply(applyJob(folder, job, plan), recorder().sink)
        expect(applied.diagnostics).toEqual([])
        expect(applied.exit).toBe("succeeded")
        const again = yield* runner.plan(jobOf(applied.state), recorder().sink)
        expect(again.hasChanges).toBe(false)
        const values = Object.fromEntries(applied.outputs.map(({ name, value }) => [name, Redacted.value(value)]))
        const root = ["bubblewrap", "namespaces"].includes(level) ? "/capsule" : linkOf(addressKey)
        expect(values).toEqual({
          module: `${root}/source/infra/tpl`,
          cwd: `${root}/source/infra`,
          root: `${root}/source/infra`
        })
        // The Run leaves no files outside its folder.
        expect(existsSync(linkOf(addressKey))).toBe(false)
      }).pipe(Effect.provide(runnerWith({ ...settings, dataFolder: tmpdir() })))
    )

  for (const isolation of ["auto", "required"] as const)
    it.live(`svc rejects a Run before anything starts if no allowed level works under ${isolation}`, () =>
      Effect.gen(function* () {
        const runner = yield* TestRunner
        const failure = yield* Effect.flip(runner.plan(planJob(yield* temporaryFolder, tree), recorder().sink))
        expect(failure).toMatchObject({ reason: "sandbox_refused", phase: "prepare" })
        expect(failure.message).toContain("Install the 'bubblewrap' package")
      }).pipe(Effect.provide(runnerWith({ isolation, levels: ["bubblewrap"], bubblewrap: "/nowhere/bwrap" })))
    )

  const plain = { "main.tf": 'resource "terraform_data" "a" { input = "a" }\n' }
  const bare = { levels: [], trustedTrees: [treeDigest(plain)] }

  it.live("a module trusted by its digest runs even if no level works, and the Run records its level", () =>
    Effect.gen(function* () {
      const runner = yield* TestRunner
      const plan = yield* runner.plan(planJob(yield* temporaryFolder, plain), recorder().sink)
      expect(plan.sandboxLevel).toBe("process")
    }).pipe(Effect.provide(runnerWith(bare)))
  )

  const others: ReadonlyArray<readonly [string, Tree, Partial<SandboxSettingsShape>, Partial<Placed<PlanJob>>]> = [
    ["one changed byte", { "main.tf": `${plain["main.tf"]}\n` }, {}, {}],
    ["a further file", { ...plain, "more.tf": "" }, {}, {}],
    ["credentials, which bring a provider", plain, {}, { credentials: [credentials("/nowhere")] }],
    ["an operator who requires namespaces", plain, { isolation: "required" }, {}]
  ]
  for (const [name, tree, settings, more] of others)
    it.live(`svc rejects a trusted module with ${name}`, () =>
      Effect.gen(function* () {
        const runner = yield* TestRunner
        const job = planJob(yield* temporaryFolder, tree, more)
        expect(yield* Effect.flip(runner.plan(job, recorder().sink))).toMatchObject({ reason: "sandbox_refused" })
      }).pipe(Effect.provide(runnerWith({ ...bare, ...settings })))
    )
})
