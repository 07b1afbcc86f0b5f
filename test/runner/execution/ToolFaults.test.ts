import { chmodSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, describe, expect } from "bun:test"
import { Deferred, Effect, Option, Redacted, References } from "effect"
import { sha256 } from "../../../runner/execution/Digest.ts"
import { ModuleRunner } from "../../../runner/execution/ModuleRunner.ts"
import type { ApplyJob, PlanJob } from "../../../runner/execution/RunJob.ts"
import type { RunSink } from "../../../runner/execution/RunSink.ts"
import { it, suite } from "../../support/Effect.ts"
import { planJob, recorder, runJob, runnerWith, temporaryFolder } from "./support/RunnerHarness.ts"

const { live, dispose } = suite(runnerWith())
afterAll(dispose)

const canary = "fault-canary-token-77"

const state = (serial: number, lineage = "line", resources = 1) =>
  JSON.stringify({
    version: 4,
    serial,
    lineage,
    outputs: { url: { value: "https://x.test", type: "string" } },
    resources: Array.from({ length: resources }, () => ({ mode: "managed", instances: [{ attributes: { id: "1" } }] }))
  })

const start = (address: string) =>
  JSON.stringify({
    "@level": "info",
    "@message": `${address}: Creating...`,
    type: "apply_start",
    hook: { resource: { addr: address }, action: "create" }
  })

const complete = (address: string) => start(address).replace("apply_start", "apply_complete")

/** A stand-in for the tool that misbehaves in one phase: `script` maps a subcommand to shell lines. */
const brokenTool = (folder: string, script: Readonly<Record<string, string>>) => {
  const path = join(folder, "tool")
  const cases = Object.entries(script).map(([command, lines]) => `${command})\n${lines}\n;;`)
  const out = 'for arg in "$@"; do case "$arg" in -out=*) out="${arg#-out=}" ;; esac; done'
  writeFileSync(path, `#!/bin/sh\n${out}\ncase "$1" in\n${cases.join("\n")}\nesac\n`)
  chmodSync(path, 0o755)
  return { name: "terraform", version: "1.11.4", path } as const
}

const credentials = [
  {
    provider: "acme/demo",
    moduleLocalName: "demo",
    connection: "conn",
    values: { DEMO_TOKEN: Redacted.make(canary) },
    files: [],
    config: {},
    argumentNames: {}
  }
]

const timing = { init: "10 seconds", plan: "200 millis", planGrace: "100 millis", applyGrace: "100 millis" } as const

const plan = (folder: string, script: Readonly<Record<string, string>>, more: Partial<PlanJob> = {}) =>
  planJob(folder, { "main.tf": "" }, { tool: brokenTool(folder, script), credentials, ...more })

const apply = (folder: string, script: Readonly<Record<string, string>>, more: Partial<ApplyJob> = {}): ApplyJob => {
  const planFile = new TextEncoder().encode("plan")
  return {
    ...runJob(folder, { "main.tf": "" }),
    tool: brokenTool(folder, script),
    credentials,
    planFile: Redacted.make(planFile),
    planDigest: sha256(planFile),
    secrets: { inputs: [], marked: [] },
    state: Redacted.make(new TextEncoder().encode(state(1))),
    ...more
  }
}

const heredoc = (path: string, content: string) => `cat > ${path} <<'EOF'\n${content}\nEOF`

describe("a tool that misbehaves", () => {
  live("dies with garbage: its last words are told, without secrets", () =>
    Effect.gen(function* () {
      const runner = yield* ModuleRunner
      const folder = yield* temporaryFolder
      const seen = recorder()
      const script = {
        plan: `printf '{"@message": broken\\n\\377\\376 half\\n'; echo "token is $DEMO_TOKEN" >&2; printf 'b64 '; printf "$DEMO_TOKEN" | base64; head -c 3000000 /dev/zero | tr '\\0' x; echo; exit 3`
      }
      const failure = yield* Effect.flip(runner.plan(plan(folder, script), seen.sink))
      expect(failure).toMatchObject({ reason: "plan_failed", phase: "plan" })
      expect(failure.message).toContain("token is [redacted]")
      const shown = seen.everything() + JSON.stringify(failure)
      expect(shown).not.toContain(canary)
      expect(shown).not.toContain(Buffer.from(canary).toString("base64").slice(0, 20))
      expect(Math.max(...seen.logs.map(({ text }) => text.length))).toBeLessThanOrEqual(65_536)
    })
  )

  live("complains of what it made a moment ago: the state says that it is secret", () =>
    Effect.gen(function* () {
      const runner = yield* ModuleRunner
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
      const job = apply(folder, script)
      const sink: RunSink = {
        ...seen.sink,
        checkpoint: () => Effect.sync(() => writeFileSync(join(job.runFolder, "capsule", "source", "go"), ""))
      }
      const outcome = yield* runner.apply(job, sink)
      expect(outcome.exit).toBe("failed")
      expect(seen.logs.map(({ text }) => text)).toContain("refused [redacted]")
      expect(seen.everything()).not.toContain(made)
    })
  )

  live("says nothing at all", () =>
    Effect.gen(function* () {
      const runner = yield* ModuleRunner
      const folder = yield* temporaryFolder
      const failure = yield* Effect.flip(runner.plan(plan(folder, { init: "exit 9" }), recorder().sink))
      expect(failure).toMatchObject({ reason: "init_failed", phase: "init" })
      expect(failure.message).toContain("exit code 9")
    })
  )

  live("hangs, deaf to signals: the phase ends by force", () =>
    Effect.gen(function* () {
      const runner = yield* ModuleRunner
      const folder = yield* temporaryFolder
      const hanging = plan(folder, { plan: "trap '' INT TERM; while :; do sleep 1; done" }, { timing })
      const failure = yield* Effect.flip(runner.plan(hanging, recorder().sink))
      expect(failure).toMatchObject({ reason: "timed_out", phase: "plan", sandboxKilled: true })
    })
  )

  live("is cancelled while it plans: it gets one signal and ends by itself", () =>
    Effect.gen(function* () {
      const runner = yield* ModuleRunner
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
      const job = plan(folder, script, { cancel: Deferred.await(cancel) })
      const failure = yield* Effect.flip(runner.plan(job, sink))
      expect(failure).toMatchObject({ reason: "cancelled", phase: "plan", sandboxKilled: false })
      expect(seen.logs.map(({ text }) => text)).toContain("stopping")
    })
  )

  live("claims success without a plan, or with a link in its place", () =>
    Effect.gen(function* () {
      const runner = yield* ModuleRunner
      const folder = yield* temporaryFolder
      writeFileSync(join(folder, "master.key"), canary)
      const none = yield* Effect.flip(runner.plan(plan(folder, { plan: "exit 0" }), recorder().sink))
      expect(none).toMatchObject({ reason: "output_unreadable", phase: "plan" })
      const link = plan(folder, { plan: `ln -s ${folder}/master.key "$out"; exit 2` })
      const failure = yield* Effect.flip(runner.plan(link, recorder().sink))
      expect(failure.reason).toBe("output_unreadable")
      expect(failure.message).toContain("ELOOP")
    })
  )

  live("describes the plan in an unknown form: refused, and not quoted", () =>
    Effect.gen(function* () {
      const runner = yield* ModuleRunner
      const folder = yield* temporaryFolder
      for (const document of [
        `{"format_version":"2.0","x":"${canary}"}`,
        `{"format_version":"1.2","resource_changes":"${canary}"}`,
        "{"
      ]) {
        const script = { plan: 'echo x > "$out"; exit 2', show: heredoc("/tmp/show", document) + "\ncat /tmp/show" }
        const seen = recorder()
        const failure = yield* Effect.flip(runner.plan(plan(folder, script, { credentials: [] }), seen.sink))
        expect(failure).toMatchObject({ reason: "output_unreadable", phase: "show" })
        expect(seen.everything() + JSON.stringify(failure)).not.toContain(canary)
      }
    })
  )

  live("fails after it changed something: state and open operations are reported", () =>
    Effect.gen(function* () {
      const runner = yield* ModuleRunner
      const folder = yield* temporaryFolder
      const script = {
        apply: `${heredoc("/tmp/line", start("demo.a"))}\ncat /tmp/line\n${heredoc("terraform.tfstate", state(2))}\nexit 1`
      }
      const outcome = yield* runner.apply(apply(folder, script), recorder().sink)
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

  live("fails before it changed anything: the base state is what is left", () =>
    Effect.gen(function* () {
      const runner = yield* ModuleRunner
      const folder = yield* temporaryFolder
      const outcome = yield* runner.apply(apply(folder, { apply: "exit 1" }), recorder().sink)
      expect(outcome).toMatchObject({ exit: "failed", serial: 1, changedAnything: false, possiblyCreated: [] })
    })
  )

  live("tears the state that would tell of what it created: that is listed", () =>
    Effect.gen(function* () {
      const runner = yield* ModuleRunner
      const folder = yield* temporaryFolder
      const told = heredoc("/tmp/lines", `${start("demo.a")}\n${complete("demo.a")}`)
      const script = { apply: `${told}\ncat /tmp/lines\nprintf '{"version": 4, "ser' > terraform.tfstate\nexit 1` }
      const outcome = yield* runner.apply(apply(folder, script), recorder().sink)
      expect(outcome).toMatchObject({ exit: "failed", stateProblem: "unreadable", possiblyCreated: ["demo.a"] })
    })
  )

  live("tears its state file: the last whole checkpoint counts", () =>
    Effect.gen(function* () {
      const runner = yield* ModuleRunner
      const folder = yield* temporaryFolder
      const seen = recorder()
      const script = {
        apply: `${heredoc("terraform.tfstate", state(2))}\nwhile [ ! -e go ]; do sleep 0.01; done\nprintf '{"version": 4, "ser' > terraform.tfstate\nexit 1`
      }
      const job = apply(folder, script)
      const sink: RunSink = {
        ...seen.sink,
        checkpoint: (bytes) =>
          seen.sink
            .checkpoint(bytes)
            .pipe(Effect.andThen(Effect.sync(() => writeFileSync(join(job.runFolder, "capsule", "source", "go"), ""))))
      }
      const outcome = yield* runner.apply(job, sink)
      expect(seen.checkpoints.map(({ serial }) => serial)).toEqual([2])
      expect(seen.events.filter(({ kind }) => kind === "state.saved").map(({ data }) => data)).toEqual([
        { serial: 2, resourceCount: 1, final: false }
      ])
      expect(outcome).toMatchObject({ exit: "failed", serial: 2, stateProblem: "unreadable", changedAnything: true })
    })
  )

  live("swaps the state for another one, an older one, or a link: rejected", () =>
    Effect.gen(function* () {
      const runner = yield* ModuleRunner
      const folder = yield* temporaryFolder
      writeFileSync(join(folder, "other.tfstate"), state(9))
      const cases = [
        [heredoc("terraform.tfstate", state(2, "other")), "lineage_changed"],
        [heredoc("terraform.tfstate", state(0)), "serial_decreased"],
        [`rm terraform.tfstate; ln -s ${folder}/other.tfstate terraform.tfstate`, "unreadable"]
      ] as const
      for (const [lines, stateProblem] of cases) {
        const outcome = yield* runner.apply(apply(folder, { apply: `${lines}\nexit 0` }), recorder().sink)
        expect(outcome).toMatchObject({ exit: "failed", stateProblem, changedAnything: true })
        expect(outcome.state).toBeUndefined()
      }
    })
  )

  live("cannot write its state: the printed copy and the emergency file are imported", () =>
    Effect.gen(function* () {
      const runner = yield* ModuleRunner
      const folder = yield* temporaryFolder
      const seen = recorder()
      const dump = `{"@level":"info","@message":"Emergency state dump","@module":"terraform.ui","@timestamp":"x","state":${state(4).replace('"1"', `"${canary}-state"`).replace('"serial":4', '"serial":4,"big":12345678901234567890')},"type":"log"}`
      const script = {
        apply: `${heredoc("/tmp/dump", dump)}\n${heredoc("errored.tfstate", state(3))}\ncat /tmp/dump\nexit 1`
      }
      const outcome = yield* runner.apply(apply(folder, script), seen.sink)
      expect(outcome).toMatchObject({ exit: "failed", serial: 4 })
      const text = outcome.state === undefined ? "" : new TextDecoder().decode(Redacted.value(outcome.state))
      expect(text).toContain("12345678901234567890")
      expect(seen.everything()).not.toContain(canary)
      expect(seen.everything()).toContain("Emergency state dump")

      const second = yield* runner.apply(
        apply(folder, { apply: `${heredoc("errored.tfstate", state(3))}\nexit 1` }),
        recorder().sink
      )
      expect(second.serial).toBe(3)
    })
  )

  live("ignores a cancel: after the grace period the sandbox ends by force and the state is kept", () =>
    Effect.gen(function* () {
      const runner = yield* ModuleRunner
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
      const job = apply(folder, script, { timing, cancel: Deferred.await(cancel) })
      const outcome = yield* runner.apply(job, sink)
      expect(outcome).toMatchObject({ exit: "cancelled", sandboxKilled: true, serial: 2, possiblyCreated: ["demo.a"] })
      expect(Option.getOrUndefined(yield* runner.recover(job.runFolder))).toMatchObject({
        serial: 2,
        possiblyCreated: ["demo.a"]
      })
    })
  )

  live("finishes although nobody can store what it reports", () =>
    Effect.gen(function* () {
      const runner = yield* ModuleRunner
      const folder = yield* temporaryFolder
      const script = { apply: `${heredoc("terraform.tfstate", state(2))}\nseq 1 20000\nexit 0` }
      const broken = Effect.die(new Error("the database is gone"))
      const outcome = yield* runner
        .apply(apply(folder, script), { event: () => broken, log: () => broken, checkpoint: () => broken })
        .pipe(Effect.provideService(References.MinimumLogLevel, "None"))
      expect(outcome).toMatchObject({ exit: "succeeded", serial: 2 })
    })
  )

  it.live("is killed from outside", () =>
    Effect.gen(function* () {
      const runner = yield* ModuleRunner
      const folder = yield* temporaryFolder
      const outcome = yield* runner.apply(apply(folder, { apply: "kill -9 $$" }), recorder().sink)
      expect(outcome).toMatchObject({ exit: "killed", sandboxKilled: false, serial: 1, changedAnything: false })
    }).pipe(Effect.provide(runnerWith({ isolation: "off" })))
  )

  it.live("a required isolation that is not there refuses the run before anything starts", () =>
    Effect.gen(function* () {
      const runner = yield* ModuleRunner
      const folder = yield* temporaryFolder
      const failure = yield* Effect.flip(runner.plan(plan(folder, {}), recorder().sink))
      expect(failure).toMatchObject({ reason: "sandbox_refused", phase: "prepare" })
    }).pipe(Effect.provide(runnerWith({ isolation: "required", bubblewrap: "/nowhere/bwrap" })))
  )
})
