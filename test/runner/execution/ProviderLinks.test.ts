import { appendFileSync, cpSync, existsSync, lstatSync, readdirSync, realpathSync, rmSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "bun:test"
import { Effect } from "effect"
import { ModuleRunner } from "../../../runner/execution/ModuleRunner.ts"
import { lockedProviders } from "../../../runner/execution/ProviderLock.ts"
import { it } from "../../support/Effect.ts"
import { countCreations } from "../../support/ProviderMirror.ts"
import { note, onStage, provider, required } from "./support/ProviderStage.ts"
import { applyJob, recorder, type Recorded } from "./support/RunnerHarness.ts"

const phasesOf = ({ events }: Recorded) =>
  events.flatMap(({ kind, data }) => (kind === "run.phase" ? [data["phase"]] : []))

/** The folder of the installed package; a mirror's package is a link to it. */
const packageIn = (cache: string) => {
  const versions = join(cache, provider, "1.0.0")
  return join(versions, readdirSync(versions)[0] ?? "")
}

const files = { "main.tf": `${required}${note("a")}` }

describe("An apply with providers", () => {
  it.live("takes the packages that its plan installed, without installing again", () =>
    onStage(
      ({ job, folder, cacheFolder, notesDir }) =>
        Effect.gen(function* () {
          const runner = yield* ModuleRunner
          const first = job(files)
          const plan = yield* runner.plan(first, recorder().sink)
          const seen = recorder()
          const applied = yield* runner.apply(applyJob(folder, first, plan), seen.sink)
          expect(applied).toMatchObject({ exit: "succeeded", resourceCount: 1 })
          expect(phasesOf(seen)).toEqual(["prepare", "apply", "state", "outputs"])
          expect(yield* countCreations(notesDir)).toBe(1)

          // A package of a registry lies in the cache itself.
          const cached = packageIn(cacheFolder)
          const source = realpathSync(cached)
          rmSync(cached, { recursive: true })
          cpSync(source, cached, { recursive: true })
          const again = recorder()
          const second = yield* runner.apply(applyJob(folder, first, plan), again.sink)
          expect(second.exit).toBe("succeeded")
          expect(phasesOf(again)).not.toContain("init")
        }),
      true
    )
  )

  it.live("starts no package that was changed since the plan, and changes nothing", () =>
    onStage(
      ({ job, folder, cacheFolder, notesDir }) =>
        Effect.gen(function* () {
          const runner = yield* ModuleRunner
          const first = job(files)
          const plan = yield* runner.plan(first, recorder().sink)
          const cached = packageIn(cacheFolder)
          appendFileSync(join(cached, readdirSync(cached)[0] ?? ""), "\n// changed")
          const seen = recorder()
          const refused = yield* runner.apply(applyJob(folder, first, plan), seen.sink)
          expect(phasesOf(seen)).not.toContain("init")
          expect(refused).toMatchObject({ exit: "failed", changedAnything: false, possiblyCreated: [] })
          expect(refused.state).toBeUndefined()
          expect(JSON.stringify(refused.diagnostics)).toContain("does not match any of the checksums recorded")
          expect(yield* countCreations(notesDir)).toBe(0)
        }),
      true
    )
  )

  it.live("is refused with another lock than the one that was reviewed, and changes nothing", () =>
    onStage(
      ({ job, folder, notesDir }) =>
        Effect.gen(function* () {
          const runner = yield* ModuleRunner
          const first = job(files)
          const plan = yield* runner.plan(first, recorder().sink)
          // An additional hash leaves the package valid: only the comparison with the plan's own lock can find it.
          const changes = [
            plan.lockText?.replace(/h1:[^"]{10}/, "h1:AAAAAAAAAA"),
            plan.lockText?.replace("  hashes = [\n", `  hashes = [\n    "h1:${"A".repeat(43)}=",\n`)
          ]
          for (const lockText of changes) {
            expect(lockText).not.toBe(plan.lockText)
            const seen = recorder()
            const refused = yield* runner.apply(applyJob(folder, first, plan, { lockText }), seen.sink)
            expect(phasesOf(seen)).not.toContain("init")
            expect(refused).toMatchObject({ exit: "failed", changedAnything: false, possiblyCreated: [] })
            expect(refused.diagnostics.length).toBeGreaterThan(0)
          }
          const other = plan.lockText?.replaceAll('"1.0.0"', '"1.1.0"')
          const failure = yield* Effect.flip(
            runner.apply(applyJob(folder, first, plan, { lockText: other }), recorder().sink)
          )
          expect(failure).toMatchObject({ reason: "init_failed", phase: "init" })
          expect(yield* countCreations(notesDir)).toBe(0)
        }),
      true
    )
  )

  it.live("installs what the cache does not hold, or holds as a link out of what the Run may see", () =>
    onStage(
      ({ job, folder, cacheFolder }) =>
        Effect.gen(function* () {
          const runner = yield* ModuleRunner
          const first = job(files)
          const plan = yield* runner.plan(first, recorder().sink)
          expect(lstatSync(packageIn(cacheFolder)).isSymbolicLink()).toBe(true)
          rmSync(cacheFolder, { recursive: true })
          const emptied = recorder()
          expect((yield* runner.apply(applyJob(folder, first, plan), emptied.sink)).exit).toBe("succeeded")
          expect(phasesOf(emptied)).toContain("init")
          expect(existsSync(packageIn(cacheFolder))).toBe(true)

          const unseen = recorder()
          yield* Effect.exit(runner.apply(applyJob(folder, first, plan, { mirror: undefined }), unseen.sink))
          expect(phasesOf(unseen)).toContain("init")
        }),
      true
    )
  )
})

describe("A lock", () => {
  const one = (body: string) => `# Made by the tool.\n\nprovider "example.test/acme/demo" {\n${body}}\n`
  const hashes = '  hashes = [\n    "h1:AAAA=",\n    "zh:00",\n  ]\n'

  test("is read as the tool writes it, and not at all otherwise", () => {
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
