import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, describe, expect } from "bun:test"
import { Deferred, Effect, Option, Redacted, References } from "effect"
import type { RunSink } from "../../../runner/execution/RunSink.ts"
import { it, suite } from "../../support/Effect.ts"
import { brokenApply, canary, heredoc, shortTiming, state } from "./support/BrokenTool.ts"
import { recorder, temporaryFolder } from "./support/RunnerHarness.ts"
import { runnerWith, TestRunner } from "./support/TestRunner.ts"

const { live, dispose } = suite(runnerWith())
afterAll(dispose)

const start = (address: string) =>
  JSON.stringify({
    "@level": "info",
    "@message": `${address}: Creating...`,
    type: "apply_start",
    hook: { resource: { addr: address }, action: "create" }
  })

const complete = (address: string) => start(address).replace("apply_start", "apply_complete")

describe("Applies with a faulty tool", () => {
  live("an apply reports the state and unfinished operations of a tool that fails after a change", () =>
    Effect.gen(function* () {
      const runner = yield* TestRunner
      const folder = yield* temporaryFolder
      const script = {
        apply: `${heredoc("/tmp/line", start("demo.a"))}\ncat /tmp/line\n${heredoc("terraform.tfstate", state(2))}\nexit 1`
      }
      const outcome = yield* runner.apply(brokenApply(folder, script), recorder().sink)
      expect(outcome).toMatchObject({
        exit: "failed",
        serial: 2,
        lineage: "line",
        changedAnything: true,
        possiblyCreated: ["demo.a"]
      })
      expect(outcome.outputs.map(({ name, value }) => [name, Redacted.value(value)])).toEqual([
        ["url", "https://x.test"]
      ])
    })
  )

  live("a tool that fails before any change keeps the base state", () =>
    Effect.gen(function* () {
      const runner = yield* TestRunner
      const folder = yield* temporaryFolder
      const outcome = yield* runner.apply(brokenApply(folder, { apply: "exit 1" }), recorder().sink)
      expect(outcome).toMatchObject({ exit: "failed", serial: 1, changedAnything: false, possiblyCreated: [] })
    })
  )

  live("an apply redacts a new secret in a tool's error, because the state marks the secret as sensitive", () =>
    Effect.gen(function* () {
      const runner = yield* TestRunner
      const folder = yield* temporaryFolder
      const seen = recorder()
      const made = "computed-canary-4410"
      const resource = {
        mode: "managed",
        type: "a",
        name: "b",
        instances: [
          { attributes: { password: made }, sensitive_attributes: [[{ type: "get_attr", value: "password" }]] }
        ]
      }
      const written = JSON.stringify({ version: 4, serial: 2, lineage: "line", resources: [resource] })
      const script = {
        apply: `${heredoc("terraform.tfstate", written)}\nwhile [ ! -e go ]; do sleep 0.02; done; echo "refused ${made}" >&2; exit 1`
      }
      const job = brokenApply(folder, script)
      const sink: RunSink = {
        ...seen.sink,
        checkpoint: () => Effect.sync(() => writeFileSync(join(job.runFolder, "capsule", "source", "go"), ""))
      }
      const outcome = yield* runner.apply(job, sink)
      expect(outcome.exit).toBe("failed")
      expect(seen.logs.map(({ text }) => text)).toContain("refused [redacted state]")
      expect(seen.everything()).not.toContain(made)
    })
  )

  live("an apply lists the created resources if its tool truncates the state after a creation", () =>
    Effect.gen(function* () {
      const runner = yield* TestRunner
      const folder = yield* temporaryFolder
      const told = heredoc("/tmp/lines", `${start("demo.a")}\n${complete("demo.a")}`)
      const script = { apply: `${told}\ncat /tmp/lines\nprintf '{"version": 4, "ser' > terraform.tfstate\nexit 1` }
      const outcome = yield* runner.apply(brokenApply(folder, script), recorder().sink)
      expect(outcome).toMatchObject({ exit: "failed", stateProblem: "unreadable", possiblyCreated: ["demo.a"] })
    })
  )

  live("an apply keeps the last complete checkpoint if its tool truncates the state file", () =>
    Effect.gen(function* () {
      const runner = yield* TestRunner
      const folder = yield* temporaryFolder
      const seen = recorder()
      const script = {
        apply: `${heredoc("terraform.tfstate", state(2))}\nwhile [ ! -e go ]; do sleep 0.01; done\nprintf '{"version": 4, "ser' > terraform.tfstate\nexit 1`
      }
      const job = brokenApply(folder, script)
      const sink: RunSink = {
        ...seen.sink,
        checkpoint: (checkpoint) =>
          seen.sink
            .checkpoint(checkpoint)
            .pipe(Effect.andThen(Effect.sync(() => writeFileSync(join(job.runFolder, "capsule", "source", "go"), ""))))
      }
      const outcome = yield* runner.apply(job, sink)
      expect(seen.checkpoints.map(({ resourceCount, serial }) => ({ resourceCount, serial }))).toEqual([
        { resourceCount: 1, serial: 2 }
      ])
      expect(outcome).toMatchObject({ exit: "failed", serial: 2, stateProblem: "unreadable", changedAnything: true })
    })
  )

  live("an apply rejects a state that its tool replaced with a different state, an older state or a link", () =>
    Effect.gen(function* () {
      const runner = yield* TestRunner
      const folder = yield* temporaryFolder
      writeFileSync(join(folder, "other.tfstate"), state(9))
      const cases = [
        [heredoc("terraform.tfstate", state(2, "other")), "lineage_changed"],
        [heredoc("terraform.tfstate", state(0)), "serial_decreased"],
        [`rm terraform.tfstate; ln -s ${folder}/other.tfstate terraform.tfstate`, "unreadable"]
      ] as const
      for (const [lines, stateProblem] of cases) {
        const outcome = yield* runner.apply(brokenApply(folder, { apply: `${lines}\nexit 0` }), recorder().sink)
        expect(outcome).toMatchObject({ exit: "failed", stateProblem, changedAnything: true })
        expect(outcome.state).toBeUndefined()
      }
    })
  )

  live("an apply imports the printed copy and emergency file of a tool that cannot write its state", () =>
    Effect.gen(function* () {
      const runner = yield* TestRunner
      const folder = yield* temporaryFolder
      const seen = recorder()
      const dump = `{"@level":"info","@message":"Emergency state dump","@module":"terraform.ui","@timestamp":"x","state":${state(4).replace('"1"', `"${canary}-state"`).replace('"serial":4', '"serial":4,"big":12345678901234567890')},"type":"log"}`
      const script = {
        apply: `${heredoc("/tmp/dump", dump)}\n${heredoc("errored.tfstate", state(3))}\ncat /tmp/dump\nexit 1`
      }
      const outcome = yield* runner.apply(brokenApply(folder, script), seen.sink)
      expect(outcome).toMatchObject({ exit: "failed", serial: 4 })
      const text = outcome.state === undefined ? "" : new TextDecoder().decode(Redacted.value(outcome.state))
      expect(text).toContain("12345678901234567890")
      expect(seen.everything()).not.toContain(canary)
      expect(seen.everything()).toContain("Emergency state dump")

      const second = yield* runner.apply(
        brokenApply(folder, { apply: `${heredoc("errored.tfstate", state(3))}\nexit 1` }),
        recorder().sink
      )
      expect(second.serial).toBe(3)
    })
  )

  live("an empty state file does not mean a lost state if the tool also printed the state", () =>
    Effect.gen(function* () {
      const runner = yield* TestRunner
      const folder = yield* temporaryFolder
      const dump = `{"@level":"info","@message":"Emergency state dump","@module":"terraform.ui","@timestamp":"x","state":${state(4)},"type":"log"}`
      const truncated = `: > errored.tfstate; : > terraform.tfstate`
      const printed = yield* runner.apply(
        brokenApply(folder, { apply: `${heredoc("/tmp/dump", dump)}\n${truncated}\ncat /tmp/dump\nexit 1` }),
        recorder().sink
      )
      expect(printed).toMatchObject({ exit: "failed", serial: 4 })
      expect([printed.stateProblem, printed.rejectedState]).toEqual([undefined, undefined])

      // If there is no printed copy, an empty file means that the state was lost.
      const lost = yield* runner.apply(brokenApply(folder, { apply: `${truncated}\nexit 0` }), recorder().sink)
      expect(lost).toMatchObject({ exit: "failed", stateProblem: "unreadable" })
      expect([lost.serial, lost.rejectedState]).toEqual([undefined, undefined])
    })
  )

  live(
    "a tool that ignores a cancellation is killed with its sandbox after the grace period, and its state is kept",
    () =>
      Effect.gen(function* () {
        const runner = yield* TestRunner
        const folder = yield* temporaryFolder
        const script = {
          apply: `trap '' INT\n${heredoc("terraform.tfstate", state(2))}\n${heredoc("/tmp/line", start("demo.a"))}\ncat /tmp/line\nwhile :; do sleep 1; done`
        }
        const cancel = yield* Deferred.make<void>()
        const seen = recorder()
        const sink: RunSink = {
          ...seen.sink,
          event: (kind) => (kind === "resource.started" ? Deferred.succeed(cancel, undefined) : Effect.void)
        }
        const job = brokenApply(folder, script, { timing: shortTiming, cancel: Deferred.await(cancel) })
        const outcome = yield* runner.apply(job, sink)
        expect(outcome).toMatchObject({
          exit: "cancelled",
          sandboxKilled: true,
          serial: 2,
          possiblyCreated: ["demo.a"]
        })
        expect(Option.getOrUndefined(yield* runner.recover(job.runFolder))).toMatchObject({
          serial: 2,
          possiblyCreated: ["demo.a"]
        })
      })
  )

  live("an apply that has finished everything when the signal arrives succeeds with all Outputs", () =>
    Effect.gen(function* () {
      const runner = yield* TestRunner
      const folder = yield* temporaryFolder
      const encrypted = JSON.stringify({ serial: 2, lineage: "line", encrypted_data: "x", encryption_version: "v0" })
      for (const [index, left] of [state(2), encrypted].entries()) {
        const outputs = '{"url":{"value":"https://x.test","type":"string","sensitive":false}}'
        const script = {
          apply: `${heredoc("terraform.tfstate", left)}\ntrap 'exit 0' INT\necho working\nwhile :; do sleep 0.02; done`,
          // Waits for the tool's response, because a second signal would end the tool first.
          output: `sleep 0.4\n${heredoc("/tmp/outputs", outputs)}\ncat /tmp/outputs`
        }
        const cancel = yield* Deferred.make<void>()
        const sink: RunSink = {
          ...recorder().sink,
          log: (_phase, _stream, text) => (text === "working" ? Deferred.succeed(cancel, undefined) : Effect.void)
        }
        const job = brokenApply(folder, script, {
          timing: { ...shortTiming, applyGrace: "10 seconds" },
          cancel: Deferred.await(cancel)
        })
        const outcome = yield* runner.apply(job, sink)
        expect({ index, exit: outcome.exit, outputs: outcome.outputs.map(({ name }) => name) }).toEqual({
          index,
          exit: "succeeded",
          outputs: ["url"]
        })
      }
    })
  )

  live("an apply finishes even if its reports cannot be stored", () =>
    Effect.gen(function* () {
      const runner = yield* TestRunner
      const folder = yield* temporaryFolder
      const script = { apply: `${heredoc("terraform.tfstate", state(2))}\nseq 1 20000\nexit 0` }
      const broken = Effect.die(new Error("the database is gone"))
      const outcome = yield* runner
        .apply(brokenApply(folder, script), { event: () => broken, log: () => broken, checkpoint: () => broken })
        .pipe(Effect.provideService(References.MinimumLogLevel, "None"))
      expect(outcome).toMatchObject({ exit: "succeeded", serial: 2 })
    })
  )

  it.live("an apply reports that its tool was killed from outside", () =>
    Effect.gen(function* () {
      const runner = yield* TestRunner
      const folder = yield* temporaryFolder
      const outcome = yield* runner.apply(brokenApply(folder, { apply: "kill -9 $$" }), recorder().sink)
      expect(outcome).toMatchObject({ exit: "killed", sandboxKilled: false, serial: 1, changedAnything: false })
    }).pipe(Effect.provide(runnerWith({ isolation: "off" })))
  )
})
