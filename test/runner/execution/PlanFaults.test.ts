import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, describe, expect } from "bun:test"
import { Deferred, Effect } from "effect"
import type { RunSink } from "../../../runner/execution/RunSink.ts"
import { suite } from "../../support/Effect.ts"
import { brokenPlan, canary, heredoc, shortTiming } from "./support/BrokenTool.ts"
import { recorder, temporaryFolder } from "./support/RunnerHarness.ts"
import { runnerWith, TestRunner } from "./support/TestRunner.ts"

const { live, dispose } = suite(runnerWith())
afterAll(dispose)

describe("Plans with a faulty tool", () => {
  live("a plan reports the last output of a tool that crashes after printing garbage, with secrets redacted", () =>
    Effect.gen(function* () {
      const runner = yield* TestRunner
      const folder = yield* temporaryFolder
      const seen = recorder()
      const script = {
        plan: `printf '{"@message": broken\\n\\377\\376 half\\n'; echo "token is $DEMO_TOKEN" >&2; printf 'b64 '; printf "$DEMO_TOKEN" | base64; head -c 3000000 /dev/zero | tr '\\0' x; echo; exit 3`
      }
      const failure = yield* Effect.flip(runner.plan(brokenPlan(folder, script), seen.sink))
      expect(failure).toMatchObject({ reason: "plan_failed", phase: "plan" })
      expect(failure.message).toContain("token is [redacted env.DEMO_TOKEN]")
      const shown = seen.everything() + JSON.stringify(failure)
      expect(shown).not.toContain(canary)
      expect(shown).not.toContain(Buffer.from(canary).toString("base64").slice(0, 20))
      expect(Math.max(...seen.logs.map(({ text }) => text.length))).toBeLessThanOrEqual(65_536)
    })
  )

  live("a plan fails if its tool prints nothing", () =>
    Effect.gen(function* () {
      const runner = yield* TestRunner
      const folder = yield* temporaryFolder
      const failure = yield* Effect.flip(runner.plan(brokenPlan(folder, { init: "exit 9" }), recorder().sink))
      expect(failure).toMatchObject({ reason: "init_failed", phase: "init" })
      expect(failure.message).toContain("exit code 9")
    })
  )

  live("a tool that hangs and ignores signals is killed when its phase times out", () =>
    Effect.gen(function* () {
      const runner = yield* TestRunner
      const folder = yield* temporaryFolder
      const hanging = brokenPlan(
        folder,
        { plan: "trap '' INT TERM; echo deaf; while :; do sleep 1; done" },
        // The grace period also covers the start of the script, because the signal would kill a script that has not set its trap
        // yet.
        { timing: { ...shortTiming, planGrace: "1 second" } }
      )
      const failure = yield* Effect.flip(runner.plan(hanging, recorder().sink))
      expect(failure).toMatchObject({ reason: "timed_out", phase: "plan", sandboxKilled: true })
    })
  )

  live("a tool that is cancelled while it plans receives one signal and exits", () =>
    Effect.gen(function* () {
      const runner = yield* TestRunner
      const folder = yield* temporaryFolder
      const cancel = yield* Deferred.make<void>()
      const seen = recorder()
      const sink: RunSink = {
        ...seen.sink,
        log: (phase, stream, text) =>
          seen.sink
            .log(phase, stream, text)
            .pipe(Effect.tap(() => (text === "working" ? Deferred.succeed(cancel, undefined) : Effect.void)))
      }
      const script = { plan: "trap 'echo stopping; exit 1' INT; echo working; while :; do sleep 0.02; done" }
      const job = brokenPlan(folder, script, { cancel: Deferred.await(cancel) })
      const failure = yield* Effect.flip(runner.plan(job, sink))
      expect(failure).toMatchObject({ reason: "cancelled", phase: "plan", sandboxKilled: false })
      expect(seen.logs.map(({ text }) => text)).toContain("stopping")
    })
  )

  live("a plan is cancelled even if its tool reports success after the signal", () =>
    Effect.gen(function* () {
      const runner = yield* TestRunner
      const folder = yield* temporaryFolder
      for (const code of [0, 2]) {
        const cancel = yield* Deferred.make<void>()
        const sink: RunSink = {
          ...recorder().sink,
          log: (_phase, _stream, text) => (text === "working" ? Deferred.succeed(cancel, undefined) : Effect.void)
        }
        const script = {
          plan: `echo plan > "$out"; trap 'exit ${code}' INT; echo working; while :; do sleep 0.02; done`
        }
        const job = brokenPlan(folder, script, { cancel: Deferred.await(cancel) })
        expect(yield* Effect.flip(runner.plan(job, sink))).toMatchObject({ reason: "cancelled", phase: "plan" })
      }
    })
  )

  live("a plan fails if its tool reports success without a plan, or leaves a link in place of the plan", () =>
    Effect.gen(function* () {
      const runner = yield* TestRunner
      const folder = yield* temporaryFolder
      writeFileSync(join(folder, "master.key"), canary)
      const none = yield* Effect.flip(runner.plan(brokenPlan(folder, { plan: "exit 0" }), recorder().sink))
      expect(none).toMatchObject({ reason: "output_unreadable", phase: "plan" })
      const link = brokenPlan(folder, { plan: `ln -s ${folder}/master.key "$out"; exit 2` })
      const failure = yield* Effect.flip(runner.plan(link, recorder().sink))
      expect(failure.reason).toBe("output_unreadable")
      expect(failure.message).toContain("ELOOP")
    })
  )

  live("a plan in an unknown format is rejected, and the error does not quote the plan", () =>
    Effect.gen(function* () {
      const runner = yield* TestRunner
      const folder = yield* temporaryFolder
      for (const document of [
        `{"format_version":"2.0","x":"${canary}"}`,
        `{"format_version":"1.2","resource_changes":"${canary}"}`,
        "{"
      ]) {
        const script = { plan: 'echo x > "$out"; exit 2', show: heredoc("/tmp/show", document) + "\ncat /tmp/show" }
        const seen = recorder()
        const failure = yield* Effect.flip(runner.plan(brokenPlan(folder, script, { credentials: [] }), seen.sink))
        expect(failure).toMatchObject({ reason: "output_unreadable", phase: "show" })
        expect(seen.everything() + JSON.stringify(failure)).not.toContain(canary)
      }
    })
  )
})
