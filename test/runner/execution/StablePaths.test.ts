import { lchownSync, lstatSync, mkdirSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { randomUUID } from "node:crypto"
import { join } from "node:path"
import { describe, expect } from "bun:test"
import { Deferred, Effect, Fiber, Layer, Redacted } from "effect"
import { removeStablePath, StablePaths } from "../../../runner/execution/StablePaths.ts"
import { Sandbox } from "../../../runner/sandbox/Sandbox.ts"
import { it } from "../../support/Effect.ts"
import { planJob, temporaryFolder } from "./support/RunnerHarness.ts"
import { runnerWith } from "./support/TestRunner.ts"

const stablePaths = Layer.provideMerge(StablePaths.layer, runnerWith({ isolation: "off" }))

const exists = (path: string) => lstatSync(path, { throwIfNoEntry: false }) !== undefined

/** Prepares two Runs of the same Capsule, in separate folders. */
const twoRuns = Effect.gen(function* () {
  const folder = yield* temporaryFolder
  const { insideRoot } = yield* Sandbox
  const job = planJob(folder, {}, { addressKey: Redacted.make(randomUUID()) })
  const [first, second] = [join(folder, "run_a"), join(folder, "run_b")] as const
  return { job, first, second, isLinked: insideRoot(first) === first }
})

describe("Stable paths", () => {
  it.live("a Capsule's stable path points to its current Run, has a random name, and is removed afterwards", () =>
    Effect.gen(function* () {
      const { first, isLinked, job, second } = yield* twoRuns
      expect(isLinked).toBe(true)
      const { hold } = yield* StablePaths
      const during = (runFolder: string) =>
        Effect.scoped(Effect.map(hold(job, runFolder), (path) => ({ path, target: readlinkSync(path) })))
      const one = yield* during(first)
      const two = yield* during(second)
      expect(one).toEqual({ path: two.path, target: join(first, "capsule") })
      expect(two.target).toBe(join(second, "capsule"))
      expect(one.path).toMatch(/^\/var\/tmp\/svc-[0-9a-f]{24}$/)
      expect(exists(one.path)).toBe(false)
    }).pipe(Effect.provide(stablePaths))
  )

  it.live("a speculative plan has a separate path, so that the Capsule's other Runs need not wait for the plan", () =>
    Effect.gen(function* () {
      const { first, job, second } = yield* twoRuns
      const { hold } = yield* StablePaths
      yield* Effect.scoped(
        Effect.gen(function* () {
          const shown = yield* hold({ ...job, speculative: true }, first)
          const reviewed = yield* hold(job, second)
          expect(shown).not.toBe(reviewed)
          expect([readlinkSync(shown), readlinkSync(reviewed)]).toEqual([
            join(first, "capsule"),
            join(second, "capsule")
          ])
        })
      )
    }).pipe(Effect.provide(stablePaths))
  )

  it.live(
    "only one Run at a time holds a Capsule's stable path, and a Run cancelled while it waits never gets the path",
    () =>
      Effect.gen(function* () {
        const { first, job, second } = yield* twoRuns
        const { hold } = yield* StablePaths
        const isHeld = yield* Deferred.make<string>()
        const mayEnd = yield* Deferred.make<void>()
        const holding = yield* Effect.forkChild(
          Effect.scoped(
            Effect.gen(function* () {
              yield* Deferred.succeed(isHeld, yield* hold(job, first))
              yield* Deferred.await(mayEnd)
            })
          )
        )
        const path = yield* Deferred.await(isHeld)
        const cancelled = yield* Effect.forkChild(Effect.scoped(hold(job, second)), { startImmediately: true })
        yield* Fiber.interrupt(cancelled)
        const waiting = yield* Effect.forkChild(
          Effect.scoped(Effect.map(hold(job, second), (held) => readlinkSync(held))),
          { startImmediately: true }
        )
        // Meanwhile, Runs of another Capsule begin and end.
        const other = { addressKey: Redacted.make(randomUUID()) }
        for (let run = 0; run < 20; run++) yield* Effect.scoped(hold(other, join(first, "other")))
        expect(readlinkSync(path)).toBe(join(first, "capsule"))
        yield* Deferred.succeed(mayEnd, undefined)
        yield* Fiber.join(holding)
        expect(yield* Fiber.join(waiting)).toBe(join(second, "capsule"))
      }).pipe(Effect.provide(stablePaths))
  )

  it.live("a Capsule's stable path never replaces another user's file, and the error contains the file's path", () =>
    Effect.gen(function* () {
      const { first, job } = yield* twoRuns
      const { hold } = yield* StablePaths
      const path = yield* Effect.scoped(hold(job, first))
      const squats = [
        () => writeFileSync(path, "not ours"),
        () => mkdirSync(path),
        // Only root can create a link that belongs to another user.
        ...(process.geteuid?.() === 0
          ? [
              () => {
                symlinkSync(first, path)
                lchownSync(path, 65_534, 65_534)
              }
            ]
          : [])
      ]
      for (const squat of squats) {
        squat()
        const before = lstatSync(path).ino
        const refused = yield* Effect.flip(Effect.scoped(hold(job, first)))
        expect([refused.message.includes(path), lstatSync(path).ino]).toEqual([true, before])
        rmSync(path, { recursive: true })
      }
    }).pipe(Effect.provide(stablePaths))
  )

  it.live(
    "a service does not take over a Capsule's stable path while a Run of another service with the same keys uses the path",
    () =>
      Effect.gen(function* () {
        const { first, job } = yield* twoRuns
        const elsewhere = yield* temporaryFolder
        const theirs = join(elsewhere, "runs", "run_a")
        mkdirSync(join(theirs, "capsule"), { recursive: true })
        const { hold } = yield* StablePaths
        yield* Effect.scoped(
          Effect.gen(function* () {
            const held = yield* hold(job, theirs)
            const other = yield* Effect.flatMap(StablePaths, (paths) => paths.hold(job, first)).pipe(
              Effect.provide(Layer.fresh(stablePaths), { local: true })
            )
            expect(other).not.toBe(held)
            expect(readlinkSync(held)).toBe(join(theirs, "capsule"))
          })
        )
      }).pipe(Effect.provide(stablePaths))
  )

  it.live("a killed service's stable path is removed with its run folder, unless another Run already uses it", () =>
    Effect.gen(function* () {
      const { first, job, second } = yield* twoRuns
      const { hold } = yield* StablePaths
      for (const folder of [first, second]) mkdirSync(folder)
      const path = yield* Effect.scoped(
        Effect.gen(function* () {
          const held = yield* hold(job, second)
          writeFileSync(join(first, "stable-path"), held)
          yield* removeStablePath(first)
          expect(readlinkSync(held)).toBe(join(second, "capsule"))
          yield* removeStablePath(second)
          return held
        })
      )
      expect(exists(path)).toBe(false)
      writeFileSync(join(first, "stable-path"), join(first, "kept"))
      writeFileSync(join(first, "kept"), "")
      yield* removeStablePath(first)
      expect(exists(join(first, "kept"))).toBe(true)
    }).pipe(Effect.provide(stablePaths))
  )
})
