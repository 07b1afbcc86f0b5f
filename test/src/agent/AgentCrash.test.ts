import { readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect } from "bun:test"
import { Effect, Redacted } from "effect"
import { bootSeconds } from "../../../runner/agent/BootClock.ts"
import { it } from "../../support/Effect.ts"
import { eventually } from "../../support/Eventually.ts"
import { holdProcesses, nameOf, processesBelow } from "../../support/ProcessEnd.ts"
import { svcProgram } from "../../support/SvcProgram.ts"
import { temporaryFolder } from "../../support/TemporaryFolder.ts"
import { addApply, addPlan, slowModule, snapshotOf, startAgent, tokenCanary } from "./support/AgentStage.ts"
import type { ScriptedRun } from "./support/ScriptedRun.ts"
import { type ScriptedServer, scriptedServer } from "./support/ScriptedServer.ts"

/** Runs an agent in a separate process, as shipped, because the same binary also runs its sandboxes and guard. */
const agentProcess = Effect.fnUntraced(function* (server: ScriptedServer, folder: string) {
  const program = yield* Effect.promise(svcProgram)
  const token = `${folder}-token`
  writeFileSync(token, `${tokenCanary}\n`, { mode: 0o600 })
  return yield* Effect.acquireRelease(
    Effect.sync(() =>
      Bun.spawn([program, "agent", "--server", server.url, "--pool", "eu", "--dir", folder, "--token-file", token], {
        stdio: ["ignore", "ignore", process.env["SVC_TEST_LOG"] === undefined ? "ignore" : "inherit"]
      })
    ),
    (child) =>
      Effect.promise(() => {
        child.kill("SIGCONT")
        child.kill("SIGKILL")
        return child.exited
      })
  )
})

const until = (holds: () => boolean) => eventually(Effect.sync(holds), (holding) => holding)
const hears = (run: ScriptedRun, text: string) => until(() => JSON.stringify(run.entries).includes(text))

const planned = Effect.fnUntraced(function* (server: ScriptedServer, snapshot: string) {
  const plan = yield* addPlan(server, snapshot)
  yield* until(() => plan.results.length > 0)
  const [result] = plan.results
  if (result?.kind !== "plan" || result.status !== "ended") throw new Error(`no plan: ${JSON.stringify(result)}`)
  return { outcome: result.outcome, planFile: plan.files.get("plan_file") ?? new Uint8Array(0) }
})

const staged = Effect.gen(function* () {
  const server = yield* scriptedServer
  const folder = join(yield* temporaryFolder, "agent")
  const snapshot = yield* snapshotOf(server, slowModule(60))
  return { server, folder, snapshot }
})

const toolsBelow = (pid: number) => processesBelow(pid).filter((one) => nameOf(one) === "terraform")

describe("Killed agents", () => {
  it.concurrent(
    "if an agent is killed during an apply, its tool ends, and the next agent reports the remaining files without applying again",
    () =>
      Effect.gen(function* () {
        const { folder, server, snapshot } = yield* staged
        const child = yield* agentProcess(server, folder)
        const apply = yield* addApply(server, snapshot, yield* planned(server, snapshot), 600)
        yield* hears(apply, "working on 3")
        const tools = holdProcesses(toolsBelow(child.pid))
        child.kill("SIGKILL")
        yield* Effect.promise(() => child.exited)
        yield* until(() => tools.ended(0))
        tools.release()

        const successor = yield* startAgent(server, folder)
        yield* until(() => apply.results.length > 0)
        expect(server.held.at(-1)).toMatchObject([{ stage: "left" }])
        const [result] = apply.results
        if (result?.kind !== "apply" || result.status !== "left" || result.left === null)
          throw new Error(JSON.stringify(result))
        expect(result.left.started.map(({ address }) => address)).toEqual([
          "terraform_data.first",
          "terraform_data.slow"
        ])
        expect(result.left.possiblyCreated).toEqual(["terraform_data.slow"])
        const state = result.left.state === undefined ? "" : new TextDecoder().decode(Redacted.value(result.left.state))
        expect(state).toContain('"name": "first"')
        // The server has received every line and event from the killed process exactly once.
        const started = apply.entries.filter(
          (entry) => entry.kind === "event" && entry.fact.kind === "resource.started"
        )
        expect(started).toHaveLength(2)
        expect(apply.heard.filter((message) => message === "Start")).toHaveLength(1)
        yield* successor.drained
        expect(readdirSync(join(folder, "runs"))).toEqual([])
      }),
    120_000
  )

  it.concurrent(
    "if an agent is killed before its result was stored, the next agent delivers that result",
    () =>
      Effect.gen(function* () {
        const { folder, server } = yield* staged
        const snapshot = yield* snapshotOf(server, slowModule(1))
        const child = yield* agentProcess(server, folder)
        const plan = yield* planned(server, snapshot)
        server.faults.push({ message: "Result", lost: "request", times: 1_000_000 })
        const apply = yield* addApply(server, snapshot, plan, 600)
        yield* until(() => server.said.filter((message) => message === "Result").length > 2)
        child.kill("SIGKILL")
        yield* Effect.promise(() => child.exited)
        server.faults.length = 0
        const successor = yield* startAgent(server, folder)
        yield* until(() => apply.results.length > 0)
        expect(server.held.at(-1)).toMatchObject([{ stage: "ended" }])
        expect(apply.results).toMatchObject([{ kind: "apply", status: "ended", outcome: { exit: "succeeded" } }])
        expect(apply.files.has("state")).toBe(true)
        yield* successor.drained
      }),
    120_000
  )
})

describe("Stopped agents", () => {
  it.concurrent(
    "if an agent is suspended for longer than its lease, its tool is killed before the lease expires",
    () =>
      Effect.gen(function* () {
        const { folder, server, snapshot } = yield* staged
        const child = yield* agentProcess(server, folder)
        const leaseSeconds = 20
        const apply = yield* addApply(server, snapshot, yield* planned(server, snapshot), leaseSeconds)
        yield* hears(apply, "working on 3")
        const tools = toolsBelow(child.pid)
        expect(tools.length).toBeGreaterThan(0)
        const held = holdProcesses(tools)
        child.kill("SIGSTOP")
        // After this moment, the server cannot grant a lease, so the tool must die before the current lease expires.
        const stopped = bootSeconds()
        yield* until(() => held.ended(0))
        held.release()
        expect(bootSeconds() - stopped).toBeLessThan(leaseSeconds)
        // After the agent process resumes, it still reports the outcome of the apply correctly.
        child.kill("SIGCONT")
        yield* until(() => apply.results.length > 0)
        const [result] = apply.results
        if (result?.kind !== "apply" || result.status !== "ended") throw new Error(JSON.stringify(result))
        // The tool was either killed, or cancelled because the period for a graceful stop had already begun.
        expect(["killed", "cancelled"]).toContain(result.outcome.exit)
        expect(result.outcome.possiblyCreated).toEqual(["terraform_data.slow"])
      }),
    120_000
  )
})

describe("Lost leases", () => {
  it.concurrent(
    "an agent that loses the lease on a plan reports a missing result instead of a failed tool",
    () =>
      Effect.gen(function* () {
        const { folder, server, snapshot } = yield* staged
        const child = yield* agentProcess(server, folder)
        const plan = yield* addPlan(server, snapshot, { leaseSeconds: 20, builtBy: "sleep 600" })
        const builds = () => processesBelow(child.pid).filter((one) => nameOf(one) === "sleep")
        yield* until(() => builds().length > 0)
        const tools = builds()
        child.kill("SIGSTOP")
        const held = holdProcesses(tools)
        yield* until(() => held.ended(0))
        held.release()
        child.kill("SIGCONT")
        yield* until(() => plan.results.length > 0)
        expect(plan.results).toEqual([{ kind: "plan", status: "left" }])
      }),
    240_000
  )
})

describe("Draining agents", () => {
  it.concurrent(
    "a draining agent finishes its apply while another process with the same folder accepts Runs",
    () =>
      Effect.gen(function* () {
        const { folder, server } = yield* staged
        const snapshot = yield* snapshotOf(server, slowModule(15))
        const child = yield* agentProcess(server, folder)
        const plan = yield* planned(server, snapshot)
        const apply = yield* addApply(server, snapshot, plan, 600)
        yield* hears(apply, "working on 3")
        child.kill("SIGTERM")
        yield* until(() => server.draining.length > 0)
        const successor = yield* agentProcess(server, folder)
        const next = yield* addPlan(server, snapshot)
        // If the successor had found the folder locked, it would have exited.
        yield* until(() => next.results.length > 0)
        expect(yield* Effect.promise(() => child.exited)).toBe(0)
        expect(apply.results).toMatchObject([{ status: "ended", outcome: { exit: "succeeded" } }])
        successor.kill("SIGTERM")
        expect(yield* Effect.promise(() => successor.exited)).toBe(0)
      }),
    120_000
  )
})
