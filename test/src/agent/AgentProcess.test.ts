import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect } from "bun:test"
import { ConfigProvider, Effect, Fiber, Redacted } from "effect"
import { it } from "../../support/Effect.ts"
import { eventually } from "../../support/Eventually.ts"
import { temporaryFolder } from "../../support/TemporaryFolder.ts"
import {
  addApply,
  addPlan,
  empty,
  heard,
  over,
  planned,
  released,
  roomsOf,
  secretCanary,
  staged,
  tokenCanary
} from "./support/AgentStage.ts"
import type { ScriptedRun } from "./support/ScriptedRun.ts"

const until = (holds: () => boolean) => eventually(Effect.sync(holds), (holding) => holding)

const hears = (run: ScriptedRun, text: string) =>
  eventually(
    Effect.sync(() => JSON.stringify(run.entries).includes(text)),
    (has) => has
  )

const withAgent = Effect.fnUntraced(function* (lasting: number | "held") {
  const stage = yield* staged(lasting)
  return { ...stage, agent: yield* stage.start }
})

describe("an agent", () => {
  it.concurrent("an agent starts a new session when its credentials are replaced, reports the change, and announces its exit", () =>
    Effect.gen(function* () {
      const { server, start } = yield* staged(1)
      const kept = yield* temporaryFolder
      mkdirSync(kept, { recursive: true })
      writeFileSync(join(kept, "token"), "own-credential-canary")
      const described = {
        cloud: { env: { DEMO_TOKEN: { file: join(kept, "token") } }, withoutIsolation: true }
      }
      writeFileSync(join(kept, "credentials.json"), JSON.stringify(described))
      const env = { ...process.env, SVC_AGENT_CREDENTIALS: join(kept, "credentials.json") }
      const agent = yield* start.pipe(
        Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env }))
      )
      const told = (sessions: number) =>
        eventually(
          Effect.sync(() => server.marks.length),
          (count) => count >= sessions
        )
      yield* told(1)
      writeFileSync(join(kept, "token"), "replaced-credential-canary")
      yield* told(2)
      const [first = [], second = []] = server.marks
      expect(first.map(({ name }) => name)).toEqual(["cloud"])
      expect(second.map(({ name }) => name)).toEqual(["cloud"])
      expect(second).not.toEqual(first)
      expect(Buffer.concat(server.captured).includes("credential-canary")).toBe(false)
      yield* agent.drained
      // After it leaves, the agent sends no message, because a message would start a new session.
      expect(server.left).toEqual([[]])
      expect(server.said.at(-1)).toBe("Renew")
    }))

  it.concurrent(
    "an agent enrols, plans, applies the reviewed plan, and forgets a Run once its result is stored",
    () =>
      Effect.gen(function* () {
        const { agent, folder, server, snapshot } = yield* withAgent(1)
        const plan = yield* planned(server, snapshot)
        expect(plan.outcome.summary).toMatchObject({ add: 3 })
        const apply = yield* addApply(server, snapshot, plan)
        yield* over(apply)
        expect(apply.results).toMatchObject([{ kind: "apply", status: "ended", outcome: { exit: "succeeded" } }])
        expect(JSON.parse(new TextDecoder().decode(apply.files.get("state")))).toMatchObject({ version: 4 })
        // The start is reported before the tool reports any resource.
        const started = apply.entries.findIndex(
          (entry) => entry.kind === "event" && entry.fact.kind === "resource.started"
        )
        expect(started).toBeGreaterThan(-1)
        expect(apply.heard.indexOf("Start")).toBeLessThan(apply.heard.indexOf("Checkpoint"))
        yield* empty(folder)
        yield* agent.drained
        expect(statSync(folder).mode & 0o777).toBe(0o700)
        expect(statSync(join(folder, "keys.json")).mode & 0o777).toBe(0o600)
      }),
    120_000
  )

  it.concurrent(
    "an agent starts no tool if the connection is cut before the server records the start",
    () =>
      Effect.gen(function* () {
        const { agent, server, snapshot } = yield* withAgent(1)
        const plan = yield* planned(server, snapshot)
        server.faults.push({ message: "Start", lost: "request", times: 1000 })
        const apply = yield* addApply(server, snapshot, plan, 16)
        yield* over(apply)
        expect(apply.results).toMatchObject([
          { kind: "apply", status: "failed", failure: { reason: "prepare_failed" } }
        ])
        expect(apply.heard).not.toContain("Start")
        expect(JSON.stringify(apply.entries)).not.toContain("resource.started")
        yield* agent.drained
      }),
    120_000
  )

  it.concurrent(
    "an agent cancels a Run at the next renewal, and the tool saves its state",
    () =>
      Effect.gen(function* () {
        const { agent, server, snapshot } = yield* withAgent(60)
        const apply = yield* addApply(server, snapshot, yield* planned(server, snapshot))
        yield* hears(apply, "working on 3")
        apply.cancel = true
        yield* over(apply)
        expect(apply.results).toMatchObject([{ status: "ended", outcome: { exit: "cancelled" } }])
        expect(new TextDecoder().decode(apply.files.get("state"))).toContain("terraform_data")
        yield* agent.drained
      }),
    120_000
  )

  it.concurrent(
    "an agent continues after a dropped connection, and stops its tool before the lease expires",
    () =>
      Effect.gen(function* () {
        const { agent, folder, server, snapshot } = yield* withAgent(60)
        const apply = yield* addApply(server, snapshot, yield* planned(server, snapshot), 12)
        yield* hears(apply, "working on 3")
        server.cut(true)
        // Only the agent can have stopped the tool.
        yield* eventually(
          Effect.sync(() => readFileSync(join(folder, "runs", roomsOf(folder)[0] ?? "", "record.json"), "utf8")),
          (record) => record.includes("ended")
        )
        server.cut(false)
        yield* over(apply)
        expect(apply.results).toMatchObject([{ status: "ended", outcome: { exit: "cancelled" } }])
        yield* agent.drained
      }),
    120_000
  )

  it.concurrent(
    "an agent stops the tool of a Run that the server has already settled, and submits the state and journal",
    () =>
      Effect.gen(function* () {
        const { agent, folder, server, snapshot } = yield* withAgent(60)
        const apply = yield* addApply(server, snapshot, yield* planned(server, snapshot))
        yield* hears(apply, "working on 3")
        apply.gone = "hand_in"
        yield* eventually(
          Effect.sync(() => apply.handedIn.length),
          (count) => count === 1
        )
        const [left] = apply.handedIn
        expect(left?.started.map(({ address }) => address)).toEqual(["terraform_data.first", "terraform_data.slow"])
        // The agent stopped the tool gracefully, so the tool saved the resource it was creating.
        expect(left?.state === undefined ? "" : new TextDecoder().decode(Redacted.value(left.state))).toContain("slow")
        expect(left?.state === undefined ? "" : new TextDecoder().decode(Redacted.value(left.state))).toContain("first")
        yield* empty(folder)
        expect(apply.results).toEqual([])
        yield* agent.drained
      }),
    120_000
  )

  it.concurrent(
    "an agent accepts no more Runs than it has slots",
    () =>
      Effect.gen(function* () {
        const { server, snapshot, start } = yield* staged(1)
        const plans = yield* Effect.forEach([1, 2, 3], () => addPlan(server, snapshot, { builtBy: "sleep 600" }))
        const agent = yield* start
        const saidOf = (message: string) => server.said.filter((one) => one === message).length
        yield* until(() => saidOf("Accept") >= 2)
        const renewed = saidOf("Renew")
        yield* until(() => saidOf("Renew") > renewed + 2)
        expect(saidOf("Accept")).toBe(2)
        expect(plans.map(({ offered }) => offered)).toEqual([true, true, false])
        yield* Fiber.interrupt(agent.fiber)
      }),
    120_000
  )

  it.concurrent(
    "an agent reports an offer that its server has not signed, does not open it, and keeps working",
    () =>
      Effect.gen(function* () {
        const { server, snapshot, start } = yield* staged(1)
        const forged = yield* addPlan(server, snapshot, { isForged: true })
        const agent = yield* start
        yield* planned(server, snapshot)
        expect(forged.heard).toHaveLength(1)
        expect(forged.heard[0]).toStartWith("Decline The offer is not signed by the server")
        expect(forged.results).toEqual([])
        yield* agent.drained
      }),
    120_000
  )

  it.concurrent(
    "an agent continues in a new session after the server drops the old session",
    () =>
      Effect.gen(function* () {
        const { agent, folder, server, snapshot } = yield* withAgent("held")
        const apply = yield* addApply(server, snapshot, yield* planned(server, snapshot))
        yield* hears(apply, "resource.started")
        // The agent deleted the plan file once the server had the result.
        yield* until(() => roomsOf(folder).length === 1)
        const sessions = server.held.length
        server.forgetSessions()
        yield* until(() => server.held.length > sessions)
        yield* released(folder, apply)
        yield* over(apply)
        expect(apply.results).toMatchObject([{ outcome: { exit: "succeeded" } }])
        expect(server.held.at(-1)).toMatchObject([{ stage: "started" }])
        yield* agent.drained
      }),
    120_000
  )

  it.concurrent(
    "an agent keeps secrets out of its folder, and sends no secret in plain text",
    () =>
      Effect.gen(function* () {
        const { agent, folder, server, snapshot } = yield* withAgent(1)
        const plan = yield* planned(server, snapshot)
        // The first delivery of the result is lost, so the agent still has all of the Run's files.
        server.faults.push({ message: "Result", lost: "request", times: 1 })
        const apply = yield* addApply(server, snapshot, plan)
        yield* heard(apply, "Start")
        yield* over(apply)
        yield* empty(folder)
        yield* agent.drained
        const marks = [secretCanary, Buffer.from(secretCanary).toString("base64")]
        const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
        expect(files.length).toBeGreaterThan(3)
        for (const file of files) {
          const text = readFileSync(join(file.parentPath, file.name), "latin1")
          for (const mark of [...marks, tokenCanary]) expect(text.includes(mark)).toBe(false)
        }
        for (const body of server.captured) {
          const text = Buffer.from(body).toString("latin1")
          for (const mark of marks) expect(text.includes(mark)).toBe(false)
        }
        expect(server.captured.filter((body) => Buffer.from(body).includes(tokenCanary))).toHaveLength(1)
      }),
    120_000
  )
})
