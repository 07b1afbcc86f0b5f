import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect } from "bun:test"
import { Deferred, Effect, Fiber, Option, Redacted } from "effect"
import type { RunSink } from "../../../runner/execution/RunSink.ts"
import { it } from "../../support/Effect.ts"
import { eventually } from "../../support/Eventually.ts"
import { countCreations } from "../../support/ProviderMirror.ts"
import { type Recorded, applyJob, recorder } from "./support/RunnerHarness.ts"
import { TestRunner } from "./support/TestRunner.ts"
import {
  credentials,
  note,
  notesOf,
  onStage,
  ownerOf,
  provider,
  required,
  tokenA,
  tokenB
} from "./support/ProviderStage.ts"

/** Completes `reached` when the first matching event is recorded. */
const signalOn = (
  sink: RunSink,
  reached: Deferred.Deferred<void>,
  matches: (recorded: Recorded) => boolean,
  seen: Recorded
): RunSink => {
  const signal = Effect.suspend(() =>
    matches(seen) ? Effect.asVoid(Deferred.succeed(reached, undefined)) : Effect.void
  )
  return {
    ...sink,
    event: (kind, data) => Effect.andThen(sink.event(kind, data), signal),
    checkpoint: (checkpoint) => Effect.andThen(sink.checkpoint(checkpoint), signal)
  }
}

describe("Real providers", () => {
  it.live("the runner passes a Connection through the environment, locks the provider, and hides a printed token", () =>
    onStage(({ job, folder, notesDir }) =>
      Effect.gen(function* () {
        const runner = yield* TestRunner
        const seen = recorder()
        const first = job(
          { "main.tf": `${required}${note("a")}` },
          {
            credentials: [credentials(notesDir, { config: { echo_token: true } })]
          }
        )
        const plan = yield* runner.plan(first, seen.sink)
        expect(plan.summary.add).toBe(1)
        expect(plan.envNames).toEqual(["DEMO_DIR", "DEMO_TOKEN"])
        expect(plan.lockText).toContain(`provider "${provider}"`)
        expect(plan.providerLockDigest).toMatch(/^sha256:/)
        expect(plan.resourceChanges[0]?.provider).toBe(provider)

        const applied = yield* runner.apply(applyJob(folder, first, plan), seen.sink)
        expect(applied).toMatchObject({ exit: "succeeded", resourceCount: 1 })
        expect(notesOf(notesDir).map(({ owner }) => owner)).toEqual([ownerOf(tokenA)])
        const shown = `${seen.everything()}${JSON.stringify([plan, applied])}`
        expect(shown).toContain("token=[redacted env.DEMO_TOKEN]")
        expect(shown).not.toContain(tokenA)
        expect(shown).not.toContain(Buffer.from(`user:${tokenA}`).toString("base64").slice(8, 28))
        // The tool writes the state file before it reports success, so at least one read saw the complete state.
        expect(applied.serial).toBeGreaterThan(0)

        const { state } = applied
        if (state === undefined) throw new Error("the apply left no state")
        const { variables } = first
        const drift = { ...first, variables, state, lockText: plan.lockText }
        expect((yield* runner.driftCheck(drift, recorder().sink)).drifted).toBe(false)
        const [name = ""] = readdirSync(notesDir).filter((file) => file.endsWith(".json"))
        const stored = JSON.parse(readFileSync(join(notesDir, name), "utf8"))
        writeFileSync(join(notesDir, name), JSON.stringify({ ...stored, content: "changed by hand" }))
        const edited = yield* runner.driftCheck(drift, recorder().sink)
        expect(edited.drifted).toBe(true)
        expect(edited.resourceDrift[0]).toMatchObject({ address: "demo_note.a", actions: ["update"] })
        expect(edited.resourceDrift[0]?.changedAttributes).toContainEqual({
          name: "content",
          before: "content of a",
          after: "changed by hand"
        })
        rmSync(join(notesDir, name))
        const removed = yield* runner.driftCheck(drift, recorder().sink)
        expect(removed.resourceDrift[0]?.actions).toEqual(["delete"])
      })
    )
  )

  it.live("the runner keeps two Connections for one provider apart, both in the plan and in the apply", () =>
    onStage(({ job, folder, notesDir }) =>
      Effect.gen(function* () {
        const runner = yield* TestRunner
        const tree = {
          "main.tf": `${required}provider "demo" {\n  alias = "b"\n}\n${note("a")}${note("b", "provider = demo.b")}`
        }
        const first = job(tree, {
          credentials: [
            credentials(notesDir, { argumentNames: { DEMO_TOKEN: "token" } }),
            credentials(notesDir, {
              alias: "b",
              connection: "conn_b",
              values: { DEMO_TOKEN: Redacted.make(tokenB), DEMO_DIR: Redacted.make(notesDir) },
              config: { region: "eu" }
            })
          ]
        })
        const unknownArgument = yield* Effect.flip(runner.plan(first, recorder().sink))
        expect(unknownArgument).toMatchObject({ reason: "job_invalid", phase: "init" })
        expect(unknownArgument.message).toContain('no argument "region"')

        const [plain, aliased] = first.credentials
        if (plain === undefined || aliased === undefined) throw new Error("the job has two configurations")
        const second = { ...first, credentials: [plain, { ...aliased, config: {} }] }
        const plan = yield* runner.plan(second, recorder().sink)
        expect(plan.envNames).toEqual([])
        expect(JSON.stringify(plan)).not.toContain("svc_provider")
        const seen = recorder()
        const applied = yield* runner.apply(applyJob(folder, second, plan), seen.sink)
        expect(applied.exit).toBe("succeeded")
        const owners = Object.fromEntries(notesOf(notesDir).map(({ name, owner }) => [name, owner]))
        expect(owners).toEqual({ a: ownerOf(tokenA), b: ownerOf(tokenB) })
        const shown = seen.everything() + JSON.stringify([plan, applied])
        expect(shown).not.toContain(tokenA)
        expect(shown).not.toContain(tokenB)
      })
    )
  )

  it.live(
    "the runner configures providers that only child modules use, and keeps two providers of the same type apart",
    () =>
      onStage(({ job, folder, notesDir }) =>
        Effect.gen(function* () {
          const runner = yield* TestRunner
          const child = (source: string, name: string) => required.replace(provider, source) + note(name)
          const tree = {
            "main.tf": 'module "a" {\n  source = "./a"\n}\nmodule "b" {\n  source = "./b"\n}\n',
            "a/main.tf": child(provider, "a"),
            "b/main.tf": child("acme/demo", "b")
          }
          const argumentNames = { DEMO_TOKEN: "token", DEMO_DIR: "dir" }
          const first = job(tree, {
            localModules: ["a", "b"].map((key) => ({ key, source: `./${key}`, dir: key })),
            credentials: [
              credentials(notesDir, { inherited: true, moduleLocalName: "demo-2", argumentNames }),
              credentials(notesDir, {
                provider: "acme/demo",
                inherited: true,
                connection: "conn_b",
                values: { DEMO_TOKEN: Redacted.make(tokenB), DEMO_DIR: Redacted.make(notesDir) },
                argumentNames
              })
            ]
          })
          const plan = yield* runner.plan(first, recorder().sink)
          const applied = yield* runner.apply(applyJob(folder, first, plan), recorder().sink)
          expect(applied.exit).toBe("succeeded")
          const owners = Object.fromEntries(notesOf(notesDir).map(({ name, owner }) => [name, owner]))
          expect(owners).toEqual({ a: ownerOf(tokenA), b: ownerOf(tokenB) })
          // The child module's own version constraint still applies.
          expect(plan.lockText).toContain('constraints = "1.0.0"')
        })
      )
  )

  it.live("the runner imports the state of an apply that failed halfway", () =>
    onStage(({ job, folder, notesDir }) =>
      Effect.gen(function* () {
        const runner = yield* TestRunner
        const first = job({ "main.tf": `${required}${note("good")}${note("bad", 'fail = "before"')}` })
        const plan = yield* runner.plan(first, recorder().sink)
        const seen = recorder()
        const applied = yield* runner.apply(applyJob(folder, first, plan), seen.sink)
        expect(applied).toMatchObject({
          exit: "failed",
          changedAnything: true,
          resourceCount: 1,
          possiblyCreated: [],
          sandboxKilled: false
        })
        expect(applied.stateProblem).toBeUndefined()
        expect(seen.events.find((event) => event.kind === "resource.failed")?.data.address).toBe("demo_note.bad")
        expect(applied.diagnostics[0]?.summary).toBe("demo_note refused")
        expect(notesOf(notesDir)).toHaveLength(1)
      })
    )
  )

  it.live("a cancellation stops gracefully, and the state contains the created resources", () =>
    onStage(({ job, folder, notesDir }) =>
      Effect.gen(function* () {
        const runner = yield* TestRunner
        const tree = {
          "main.tf": `${required}${note("a")}${note("b", "depends_on = [demo_note.a]")}${note("c", "depends_on = [demo_note.b]")}`
        }
        const first = job(tree)
        const plan = yield* runner.plan(first, recorder().sink)
        // Waits until the tool has called the provider. If the tool were stopped after announcing a change but before the
        // call, it would not report a result.
        writeFileSync(join(notesDir, "hold-apply-b"), "")
        const cancel = eventually(
          Effect.sync(() => existsSync(join(notesDir, "held-apply-b"))),
          (isHeld) => isHeld
        ).pipe(Effect.asVoid)
        const applied = yield* runner.apply(applyJob(folder, first, plan, { cancel }), recorder().sink)
        expect(applied).toMatchObject({ exit: "cancelled", sandboxKilled: false, changedAnything: true })
        expect(applied.possiblyCreated).toEqual([])
        expect(applied.resourceCount).toBe(notesOf(notesDir).length)
        expect(notesOf(notesDir).length).toBeLessThan(3)
      })
    )
  )

  it.live("after a crash, the run folder still identifies created and possibly created resources", () =>
    onStage(({ job, folder, notesDir }) =>
      Effect.gen(function* () {
        const runner = yield* TestRunner
        const tree = {
          "main.tf": `${required}${note("a")}${note("b", "delay_ms = 60000\n  depends_on = [demo_note.a]")}`
        }
        const first = job(tree)
        const plan = yield* runner.plan(first, recorder().sink)
        const apply = applyJob(folder, first, plan)
        expect(yield* runner.recover(apply.runFolder)).toEqual(Option.none())
        const reached = yield* Deferred.make<void>()
        const seen = recorder()
        const isUnderWay = ({ checkpoints, events }: Recorded) =>
          checkpoints.length > 0 && events.filter(({ kind }) => kind === "resource.started").length === 2
        const running = yield* runner
          .apply(apply, signalOn(seen.sink, reached, isUnderWay, seen))
          .pipe(Effect.forkChild({ startImmediately: true }))
        yield* Deferred.await(reached)
        yield* Fiber.interrupt(running)

        expect(seen.checkpoints.at(-1)?.resourceCount).toBe(1)
        const left = yield* runner.recover(apply.runFolder)
        expect(Option.getOrUndefined(left)).toMatchObject({
          resourceCount: 1,
          possiblyCreated: ["demo_note.b"],
          changedAnything: true
        })
        expect(Option.getOrUndefined(left)?.completed.map(({ address }) => address)).toEqual(["demo_note.a"])
        // The plugin exited with its sandbox, so it cannot later create a note that the service does not record.
        expect(yield* countCreations(notesDir)).toBe(1)
        expect(readdirSync(join(apply.runFolder, "capsule"))).not.toContain("settings")
      })
    )
  )

  it.live(
    "the runner rejects a provider that differs from the locked provider, a missing lock, and a package missing from the mirror",
    () =>
      onStage(({ job, folder, notesDir }) =>
        Effect.gen(function* () {
          const runner = yield* TestRunner
          const first = job({ "main.tf": `${required}${note("a")}` })
          const plan = yield* runner.plan(first, recorder().sink)
          const tampered = plan.lockText?.replace(/h1:[^"]{10}/, "h1:AAAAAAAAAA")
          const applyWith = (lockText: string | undefined) =>
            runner.apply(applyJob(folder, first, plan, { lockText }), recorder().sink)
          const foreign = yield* applyWith(tampered)
          expect(foreign).toMatchObject({ exit: "failed", changedAnything: false, possiblyCreated: [] })
          expect(foreign.diagnostics[0]?.summary).toContain("does not match any of the checksums recorded")
          // If there is no lock, no provider is installed, and the tool reports the missing provider.
          const lost = yield* applyWith(undefined)
          expect(lost).toMatchObject({ exit: "failed", changedAnything: false, possiblyCreated: [] })
          expect(lost.diagnostics[0]?.summary).toBe("Inconsistent dependency lock file")
          expect(notesOf(notesDir)).toEqual([])

          const absent = job({ "main.tf": required.replace("acme/demo", "acme/absent") })
          const failure = yield* Effect.flip(runner.plan(absent, recorder().sink))
          expect(failure.reason).toBe("init_failed")
          expect(JSON.stringify(failure.diagnostics)).toContain("example.test/acme/absent")
        })
      )
  )
})
