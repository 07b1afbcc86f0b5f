import { appendFileSync, cpSync, existsSync, lstatSync, readdirSync, realpathSync, rmSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "bun:test"
import { Effect } from "effect"
import { lockedProviders } from "../../../runner/execution/ProviderLock.ts"
import type { ApplyJob } from "../../../runner/execution/RunJob.ts"
import type { ApplyOutcome, PlanOutcome } from "../../../runner/execution/RunOutcome.ts"
import type { RunSink } from "../../../runner/execution/RunSink.ts"
import { it } from "../../support/Effect.ts"
import { countCreations } from "../../support/ProviderMirror.ts"
import { note, onStage, provider, required } from "./support/ProviderStage.ts"
import { type Placed, type Recorded, applyJob, recorder } from "./support/RunnerHarness.ts"
import { TestRunner } from "./support/TestRunner.ts"

const phasesOf = ({ events }: Recorded) =>
  events.flatMap((event) => (event.kind === "run.phase" ? [event.data.phase] : []))

/** Folder of the installed package; if the package comes from a mirror, a link to that folder. */
const packageIn = (cache: string) => {
  const versions = join(cache, provider, "1.0.0")
  return join(versions, readdirSync(versions)[0] ?? "")
}

/** Plans with a separate provider cache. Each `apply` of the plan is its own Run. */
const afterPlan = <E>(
  body: (planned: {
    readonly cacheFolder: string
    readonly notesDir: string
    readonly plan: PlanOutcome
    readonly apply: (sink: RunSink, more?: Partial<Placed<ApplyJob>>) => ReturnType<TestRunner["Service"]["apply"]>
  }) => Effect.Effect<unknown, E, TestRunner>
) =>
  onStage(
    ({ job, folder, cacheFolder, notesDir }) =>
      Effect.gen(function* () {
        const runner = yield* TestRunner
        const planned = job({ "main.tf": `${required}${note("a")}` })
        const plan = yield* runner.plan(planned, recorder().sink)
        const apply = (sink: RunSink, more: Partial<Placed<ApplyJob>> = {}) =>
          runner.apply(applyJob(folder, planned, plan, more), sink)
        yield* body({ cacheFolder, notesDir, plan, apply })
      }),
    true
  )

/** Report of an apply that started with the plan's packages and was refused by the tool itself. */
const refusal = Effect.fnUntraced(function* <E, R>(apply: (sink: RunSink) => Effect.Effect<ApplyOutcome, E, R>) {
  const seen = recorder()
  const refused = yield* apply(seen.sink)
  expect(phasesOf(seen)).not.toContain("init")
  expect(refused).toMatchObject({ exit: "failed", changedAnything: false, possiblyCreated: [] })
  return refused
})

describe("An apply with providers", () => {
  it.live("uses the packages that its plan installed, without installing again", () =>
    afterPlan(({ apply, cacheFolder, notesDir }) =>
      Effect.gen(function* () {
        const seen = recorder()
        expect(yield* apply(seen.sink)).toMatchObject({ exit: "succeeded", resourceCount: 1 })
        expect(phasesOf(seen)).toEqual(["prepare", "apply", "state", "outputs"])
        expect(yield* countCreations(notesDir)).toBe(1)

        // A package from a registry is in the cache itself.
        const cached = packageIn(cacheFolder)
        const source = realpathSync(cached)
        rmSync(cached, { recursive: true })
        cpSync(source, cached, { recursive: true })
        const again = recorder()
        expect((yield* apply(again.sink)).exit).toBe("succeeded")
        expect(phasesOf(again)).not.toContain("init")
      })
    )
  )

  it.live("never starts a package that has changed since the plan, and changes nothing", () =>
    afterPlan(({ apply, cacheFolder, notesDir }) =>
      Effect.gen(function* () {
        const cached = packageIn(cacheFolder)
        appendFileSync(join(cached, readdirSync(cached)[0] ?? ""), "\n// changed")
        const refused = yield* refusal(apply)
        expect(refused.state).toBeUndefined()
        expect(JSON.stringify(refused.diagnostics)).toContain("does not match any of the checksums recorded")
        expect(yield* countCreations(notesDir)).toBe(0)
      })
    )
  )

  it.live("is refused with a lock other than the reviewed one, and changes nothing", () =>
    afterPlan(({ apply, notesDir, plan }) =>
      Effect.gen(function* () {
        // With an additional hash the package is still valid: only a comparison with the plan's own lock can detect it.
        const changes = [
          plan.lockText?.replace(/h1:[^"]{10}/, "h1:AAAAAAAAAA"),
          plan.lockText?.replace("  hashes = [\n", `  hashes = [\n    "h1:${"A".repeat(43)}=",\n`)
        ]
        for (const lockText of changes) {
          expect(lockText).not.toBe(plan.lockText)
          const refused = yield* refusal((sink) => apply(sink, { lockText }))
          expect(refused.diagnostics.length).toBeGreaterThan(0)
        }
        const other = plan.lockText?.replaceAll('"1.0.0"', '"1.1.0"')
        const failure = yield* Effect.flip(apply(recorder().sink, { lockText: other }))
        expect(failure).toMatchObject({ reason: "init_failed", phase: "init" })
        expect(yield* countCreations(notesDir)).toBe(0)
      })
    )
  )

  it.live("installs what the cache lacks, or holds as a link to a location outside the sandbox", () =>
    afterPlan(({ apply, cacheFolder }) =>
      Effect.gen(function* () {
        expect(lstatSync(packageIn(cacheFolder)).isSymbolicLink()).toBe(true)
        rmSync(cacheFolder, { recursive: true })
        const emptied = recorder()
        expect((yield* apply(emptied.sink)).exit).toBe("succeeded")
        expect(phasesOf(emptied)).toContain("init")
        expect(existsSync(packageIn(cacheFolder))).toBe(true)

        const unseen = recorder()
        yield* Effect.exit(apply(unseen.sink, { mirror: undefined }))
        expect(phasesOf(unseen)).toContain("init")
      })
    )
  )
})

describe("A lock", () => {
  const one = (body: string) => `# Made by the tool.\n\nprovider "example.test/acme/demo" {\n${body}}\n`
  const hashes = '  hashes = [\n    "h1:AAAA=",\n    "zh:00",\n  ]\n'

  test("is read in the tool's own format, and not in any other", () => {
    const whole = one(`  version     = "1.2.3-beta.1"\n  constraints = "~> 1.2"\n${hashes}`)
    expect(lockedProviders(whole)).toEqual([{ address: "example.test/acme/demo", version: "1.2.3-beta.1" }])
    expect(lockedProviders(`${whole}\n${whole.replace("acme/demo", "acme/other")}`)).toHaveLength(2)
    const refused = [
      "",
      "# Made by hand.\n",
      one(hashes),
      one('  version = "1.2.3"\n  hashes = [\n    "zh:00",\n  ]\n'),
      one(`  version = "../1"\n${hashes}`),
      whole.replace("example.test/acme/demo", "../acme/demo"),
      whole.replace("example.test/acme/demo", "example.test/acme/demo/more"),
      whole.replace("}\n", ""),
      `${whole}other {}\n`,
      `/* ${whole} */\n${whole}`
    ]
    for (const text of refused) expect(lockedProviders(text)).toBeUndefined()
  })
})
