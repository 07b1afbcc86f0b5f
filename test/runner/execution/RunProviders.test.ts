import { createHash } from "node:crypto"
import {
  appendFileSync,
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { crc32 } from "node:zlib"
import { describe, expect, test } from "bun:test"
import { Effect, Schedule, type Scope } from "effect"
import { lockedProviders } from "../../../runner/execution/ProviderLock.ts"
import { clearProviderStore, providerStore } from "../../../runner/execution/ProviderStore.ts"
import type { ApplyJob, PlanJob } from "../../../runner/execution/RunJob.ts"
import type { ApplyOutcome, PlanOutcome } from "../../../runner/execution/RunOutcome.ts"
import type { RunSink } from "../../../runner/execution/RunSink.ts"
import { Sandbox } from "../../../runner/sandbox/Sandbox.ts"
import { defaultSandboxSettings } from "../../../runner/sandbox/SandboxSettings.ts"
import type { SandboxLevel } from "../../../schema/records/Run.ts"
import { it } from "../../support/Effect.ts"
import { countCreations } from "../../support/ProviderMirror.ts"
import { methods, zipOf } from "../../support/ZipArchive.ts"
import { packedZeros, zeros } from "../git/support/PackBomb.ts"
import { note, onStage, provider, required, type Stage } from "./support/ProviderStage.ts"
import { type Placed, type Recorded, applyJob, recorder, temporaryFolder } from "./support/RunnerHarness.ts"
import { TestRunner } from "./support/TestRunner.ts"

const phasesOf = ({ events }: Recorded) =>
  events.flatMap((event) => (event.kind === "run.phase" ? [event.data.phase] : []))

/** Plans with a separate provider cache and packed providers, and passes the plan to `body`. Each `apply` is a separate Run. */
const afterPlan = <E>(
  body: (planned: {
    readonly cacheFolder: string
    readonly notesDir: string
    /** Folder of the mirror, which contains archives. */
    readonly source: string
    readonly plan: PlanOutcome
    readonly again: (more?: Partial<Placed<PlanJob>>) => Placed<PlanJob>
    readonly apply: (sink: RunSink, more?: Partial<Placed<ApplyJob>>) => ReturnType<TestRunner["Service"]["apply"]>
  }) => Effect.Effect<unknown, E, TestRunner>,
  form: "packed" | "unpacked" = "packed"
) =>
  onStage(
    ({ job, folder, cacheFolder, notesDir, packed }) =>
      Effect.gen(function* () {
        const runner = yield* TestRunner
        const again = (more: Partial<Placed<PlanJob>> = {}) =>
          job(
            { "main.tf": `${required}${note("a")}` },
            { workspaceId: "ws_one", ...(form === "packed" ? { mirror: packed } : {}), ...more }
          )
        const planned = again()
        const plan = yield* runner.plan(planned, recorder().sink)
        const apply = (sink: RunSink, more: Partial<Placed<ApplyJob>> = {}) =>
          runner.apply(applyJob(folder, planned, plan, more), sink)
        yield* body({ cacheFolder, notesDir, source: packed.path, plan, again, apply })
      }),
    true
  )

/** Returns the folder of the only package in the cache. */
const packageIn = (cache: string) => {
  const names = readdirSync(join(cache, "packages"))
  expect(names).toHaveLength(1)
  return join(cache, "packages", names[0] ?? "")
}

/** Checks that the tool rejected an apply that used the plan's packages, and returns its report. */
const refusal = Effect.fnUntraced(function* <E, R>(apply: (sink: RunSink) => Effect.Effect<ApplyOutcome, E, R>) {
  const seen = recorder()
  const refused = yield* apply(seen.sink)
  expect(phasesOf(seen)).not.toContain("init")
  expect(refused).toMatchObject({ exit: "failed", changedAnything: false, possiblyCreated: [] })
  return refused
})

describe("Providers used by an apply", () => {
  for (const form of ["packed", "unpacked"] as const)
    it.live(
      `an apply uses the packages that its plan installed from ${form} packages, without installing them again`,
      () =>
        afterPlan(
          ({ apply, notesDir }) =>
            Effect.gen(function* () {
              const seen = recorder()
              expect(yield* apply(seen.sink)).toMatchObject({ exit: "succeeded", resourceCount: 1 })
              expect(phasesOf(seen)).toEqual(["prepare", "apply", "state", "outputs"])
              expect(yield* countCreations(notesDir)).toBe(1)
            }),
          form
        )
    )

  it.live("an apply never starts a package that has changed since the plan, and changes nothing", () =>
    afterPlan(({ apply, cacheFolder, notesDir }) =>
      Effect.gen(function* () {
        const kept = packageIn(cacheFolder)
        appendFileSync(join(kept, readdirSync(kept)[0] ?? ""), "\n// changed")
        const refused = yield* refusal(apply)
        expect(refused.state).toBeUndefined()
        expect(JSON.stringify(refused.diagnostics)).toContain("does not match any of the checksums recorded")
        expect(yield* countCreations(notesDir)).toBe(0)
      })
    )
  )

  it.live("an apply rejects a lock other than the reviewed lock, and changes nothing", () =>
    afterPlan(({ apply, notesDir, plan }) =>
      Effect.gen(function* () {
        // With an additional hash the package remains valid, so only a comparison with the plan's lock detects the change.
        const others = [
          plan.lockText?.replace("  hashes = [\n", `  hashes = [\n    "h1:${"A".repeat(43)}=",\n`),
          plan.lockText?.replaceAll('"1.0.0"', '"1.1.0"')
        ]
        for (const lockText of others) {
          expect(lockText).not.toBe(plan.lockText)
          const refused = yield* refusal((sink) => apply(sink, { lockText }))
          expect(refused.diagnostics.length).toBeGreaterThan(0)
        }
        const unknown = plan.lockText?.replace(/h1:[^"]{10}/, "h1:AAAAAAAAAA")
        const failure = yield* Effect.flip(apply(recorder().sink, { lockText: unknown }))
        expect(failure).toMatchObject({ reason: "init_failed", phase: "init" })
        expect(yield* countCreations(notesDir)).toBe(0)
      })
    )
  )

  it.live("an apply installs missing packages, and then keeps them", () =>
    afterPlan(({ apply, cacheFolder }) =>
      Effect.gen(function* () {
        rmSync(cacheFolder, { recursive: true })
        const emptied = recorder()
        expect((yield* apply(emptied.sink)).exit).toBe("succeeded")
        expect(phasesOf(emptied)).toContain("init")
        expect(existsSync(packageIn(cacheFolder))).toBe(true)
      })
    )
  )
})

describe("Installed packages", () => {
  it.live(
    "an installed package is available to the Workspace's next plan with the same lock, even if its source is broken",
    () =>
      afterPlan(({ again, plan, source }) =>
        Effect.gen(function* () {
          const runner = yield* TestRunner
          const archives = join(source, provider)
          for (const name of readdirSync(archives)) writeFileSync(join(archives, name), "no archive")
          const next = { lockText: plan.lockText }
          const warm = yield* runner.plan(again(next), recorder().sink)
          expect(warm.lockText).toBe(plan.lockText)
          for (const cold of [
            { ...next, workspaceId: "ws_two" },
            { ...next, workspaceId: undefined },
            { ...next, lockText: undefined }
          ]) {
            expect(yield* Effect.flip(runner.plan(again(cold), recorder().sink))).toMatchObject({
              reason: "init_failed"
            })
          }
        })
      )
  )

  const levels: ReadonlyArray<SandboxLevel> = ["bubblewrap", "namespaces", "user_landlock", "landlock"]
  for (const level of levels)
    it.live(
      `an installed package is invisible to a module whose lock does not contain it: ${level}, where available`,
      () =>
        onStage(
          ({ cacheFolder, folder, job, packed }) =>
            Effect.gen(function* () {
              const sandbox = yield* Sandbox
              if (!sandbox.status.accepted) return
              const runner = yield* TestRunner
              const owner = job({ "main.tf": required }, { mirror: packed, workspaceId: "ws_one", credentials: [] })
              yield* runner.plan(owner, recorder().sink)
              if (level !== "user_landlock") packageIn(cacheFolder)

              const seen = recorder()
              const look = `find ${cacheFolder} ${packed.path} -name '*demo*' 2>/dev/null; echo looked`
              const main = `resource "terraform_data" "spy" {\n  provisioner "local-exec" {\n    command = "${look}"\n  }\n}\n`
              const spy = job({ "main.tf": main }, { mirror: packed, workspaceId: "ws_two", credentials: [] })
              const plan = yield* runner.plan(spy, seen.sink)
              expect((yield* runner.apply(applyJob(folder, spy, plan), seen.sink)).exit).toBe("succeeded")
              expect(seen.everything()).toContain("looked")
              expect(seen.everything()).not.toContain("terraform-provider-demo")
            }),
          true,
          { levels: [level], dataFolder: tmpdir() }
        )
    )
})

describe("Oversized packages", () => {
  const folderBytes = 64 * 1024 ** 2
  const limits = { ...defaultSandboxSettings.limits, folderBytes }
  const platform = `${process.platform}_${process.arch === "x64" ? "amd64" : process.arch}`

  const bytesBelow = (folder: string) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .reduce((sum, entry) => {
        const found = statSync(join(entry.parentPath, entry.name), { throwIfNoEntry: false })
        return sum + (found?.size ?? 0)
      }, 0)

  /** Creates a package with `files` files, each `chunks` times 16 MiB of zeros. */
  const bomb = (files: number, chunks: number) => {
    const chunk = Buffer.alloc(zeros(1))
    const checksum = Array.from({ length: chunks }).reduce<number>((sum) => crc32(chunk, sum), 0)
    // A zip archive stores the deflate stream without zlib's header and checksum.
    const packed = packedZeros(chunks).subarray(2, -4)
    return zipOf(
      Array.from({ length: files }, (_, index) => ({
        name: index === 0 ? "terraform-provider-demo_v1.0.0" : `more-${index}`,
        method: methods.deflated,
        packed,
        size: zeros(chunks),
        checksum
      }))
    )
  }

  /** Plans with this package. Returns the failure, and the largest observed size of the package's folder. */
  const planWith = (archive: Uint8Array, cacheFolder: string, folder: string, job: Stage["job"]) =>
    Effect.gen(function* () {
      expect(archive.byteLength).toBeLessThan(folderBytes / 8)
      const mirror = join(folder, "bombs")
      const archives = join(mirror, provider)
      mkdirSync(archives, { recursive: true })
      writeFileSync(join(archives, `terraform-provider-demo_1.0.0_${platform}.zip`), archive)
      const planned = job({ "main.tf": required }, { mirror: { path: mirror, required: true }, credentials: [] })
      let most = 0
      const measure = Effect.sync(() => {
        if (existsSync(planned.runFolder)) most = Math.max(most, bytesBelow(planned.runFolder))
      })
      const runner = yield* TestRunner
      yield* measure.pipe(Effect.repeat(Schedule.spaced("20 millis")), Effect.forkScoped)
      const failure = yield* Effect.flip(runner.plan(planned, recorder().sink))
      expect(existsSync(join(cacheFolder, "packages"))).toBe(false)
      return { failure, most, left: existsSync(planned.runFolder) ? bytesBelow(planned.runFolder) : 0 }
    }).pipe(Effect.scoped)

  const levels: ReadonlyArray<SandboxLevel> = ["bubblewrap", "namespaces", "user_landlock", "landlock", "process"]
  for (const level of levels)
    it.live(`a package with one file of 1 GiB fails its installation at the limit: ${level}, where available`, () =>
      onStage(
        ({ cacheFolder, folder, job }) =>
          Effect.gen(function* () {
            const sandbox = yield* Sandbox
            if (!sandbox.status.accepted) return
            const archive = bomb(1, 64)
            const { failure, left, most } = yield* planWith(archive, cacheFolder, folder, job)
            expect(failure).toMatchObject({ reason: "folder_limit", phase: "init" })
            expect(JSON.stringify(failure.diagnostics)).toContain("file too large")
            expect(most).toBeGreaterThan(0)
            expect(most).toBeLessThan(folderBytes + 1024 ** 2)
            expect(left).toBeLessThan(1024 ** 2)
          }),
        true,
        { ...(level === "process" ? { isolation: "off" } : { levels: [level] }), dataFolder: tmpdir(), limits }
      )
    )

  it.live("a package with many small files ends the Run with folder_limit, and leaves no files behind", () =>
    onStage(
      ({ cacheFolder, folder, job }) =>
        Effect.gen(function* () {
          // The second package is unpacked before svc first measures the folder.
          for (const files of [28, 2]) {
            const { failure, left } = yield* planWith(bomb(files, 3), cacheFolder, `${folder}/${files}`, job)
            expect([files, failure.reason, failure.phase]).toEqual([files, "folder_limit", "init"])
            expect(left).toBeLessThan(1024 ** 2)
          }
        }),
      true,
      { limits }
    )
  )
})

describe("Provider store", () => {
  const withPackage = <E>(body: (folder: string, installed: string) => Effect.Effect<void, E, Scope.Scope>) =>
    Effect.flatMap(temporaryFolder, (folder) => {
      const installed = join(folder, "installed")
      mkdirSync(join(installed, "docs"), { recursive: true })
      writeFileSync(join(installed, "terraform-provider-x"), "program")
      writeFileSync(join(installed, "docs", "README"), "text")
      return body(folder, installed)
    })
  // The expected hash of these two files, computed in the way that the tool does.
  const digest = (text: string) => createHash("sha256").update(text).digest("hex")
  const hash = `h1:${createHash("sha256")
    .update(`${digest("text")}  docs/README\n${digest("program")}  terraform-provider-x\n`)
    .digest("base64")}`

  it.live("the provider store finds a package by its hash, and only for the Workspace that installed the package", () =>
    withPackage((folder, installed) =>
      Effect.gen(function* () {
        const cache = join(folder, "cache")
        const one = providerStore(cache, "ws_one")
        const two = providerStore(cache, "ws_two")
        const kept = yield* one.keep(installed)
        expect(kept).toStartWith(join(cache, "packages"))
        expect(existsSync(installed)).toBe(false)
        expect(yield* one.find([`h1:${"A".repeat(43)}=`, hash])).toBe(kept)
        expect(yield* two.find([hash])).toBeUndefined()
        expect(yield* one.find(["zh:00", "h1:../..", "h1:"])).toBeUndefined()

        // A second Workspace shares the files once it has installed the same package.
        cpSync(kept ?? "", installed, { recursive: true })
        expect(yield* two.keep(installed)).toBe(kept)
        expect(yield* two.find([hash])).toBe(kept)
        expect(readdirSync(join(cache, "arrivals"))).toEqual([])
      })
    )
  )

  it.live(
    "the provider store rejects packages that the Run could still change, or that contain links to files outside the package",
    () =>
      withPackage((folder, installed) =>
        Effect.gen(function* () {
          const store = providerStore(join(folder, "cache"), "ws_one")
          linkSync(join(installed, "terraform-provider-x"), join(folder, "second-name"))
          expect(yield* store.keep(installed)).toBeUndefined()
          rmSync(join(folder, "second-name"))
          symlinkSync("/etc/passwd", join(installed, "link"))
          expect(yield* store.keep(installed)).toBeUndefined()
          expect(existsSync(installed)).toBe(true)
          expect(existsSync(join(folder, "cache"))).toBe(false)
        })
      )
  )

  it.live(
    "at startup, the provider store removes the packages of earlier releases and keeps the packages of the current release",
    () =>
      withPackage((folder, installed) =>
        Effect.gen(function* () {
          const cache = join(folder, "cache")
          const store = providerStore(cache, "ws_one")
          const kept = yield* store.keep(installed)
          mkdirSync(join(cache, "registry.example.test", "acme"), { recursive: true })
          yield* clearProviderStore(cache)
          expect(readdirSync(cache).toSorted()).toEqual(["packages", "workspaces"])
          expect(yield* store.find([hash])).toBe(kept)
        })
      )
  )
})

describe("a lock", () => {
  const one = (body: string) => `# Made by the tool.\n\nprovider "example.test/acme/demo" {\n${body}}\n`
  const hashes = '  hashes = [\n    "h1:AAAA=",\n    "zh:00",\n  ]\n'

  test("the provider store accepts only lock files in the tool's own format", () => {
    const whole = one(`  version     = "1.2.3-beta.1"\n  constraints = "~> 1.2"\n${hashes}`)
    expect(lockedProviders(whole)).toEqual([
      { address: "example.test/acme/demo", version: "1.2.3-beta.1", hashes: ["h1:AAAA="] }
    ])
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
