import { expect } from "bun:test"
import { readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { Effect, type Layer, type Scope } from "effect"
import { platform } from "../../src/composition/Platform.ts"
import { it } from "../support/Effect.ts"
import { readCloud } from "../crash/Ledger.ts"
import { agentWorld, canaries } from "./support/AgentWorld.ts"

const live = (
  name: string,
  body: () => Effect.Effect<unknown, unknown, Layer.Success<typeof platform> | Scope.Scope>
) => it.live(name, () => Effect.suspend(body).pipe(Effect.provide(platform)), 110_000)

const isOver = ({ status }: { readonly status: string }) => status !== "queued" && status !== "running"

/** Every file below a folder that has one of these words in it. */
const filesWith = (folder: string, words: ReadonlyArray<string>): ReadonlyArray<string> =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => {
    const path = join(folder, name)
    if (!statSync(path).isFile()) return false
    const content = readFileSync(path)
    return words.some((word) => content.includes(word))
  })

live(
  "a module is planned, reviewed and applied by an agent in another process, and its server restarts meanwhile",
  () =>
    Effect.gen(function* () {
      const world = yield* agentWorld()
      const { capsuleId, planRunId } = yield* world.installed
      // Without an agent the Run waits, and says for what.
      const waiting = yield* world.until(planRunId, ({ queue }) => queue?.reason === "no_agent")
      expect(waiting.queue?.message).toBe("No agent of the pool far is connected.")
      const one = yield* world.agent("one")
      yield* one.start
      const plan = yield* world.until(planRunId, isOver)
      expect(plan).toMatchObject({ status: "waiting_approval", pool: "far", planSummary: { add: 1 } })
      yield* world.hold
      const applyId = yield* world.approvedApply(planRunId)
      yield* world.held
      // The server dies while the tool works, and comes back at the same address.
      process.kill(world.first.pid, "SIGKILL")
      yield* Effect.exit(world.first.exitCode)
      yield* world.serveAgain
      const running = yield* world.until(applyId, () => true)
      expect(running).toMatchObject({ status: "running", agent: { name: "one", leaseSeconds: 2700 } })
      const params = { workspaceId: running.workspaceId }
      expect(yield* world.client.agentPools.list({ params, query: {} })).toMatchObject({
        agentPools: [{ name: "far" }]
      })
      expect(yield* world.client.agentPools.agents({ params, query: { pool: "far" } })).toMatchObject({
        agents: [{ name: "one", places: 2, runs: 1 }]
      })
      // Its agent is heard of: nobody releases the Capsule from it.
      const release = { fence: running.agent?.fence ?? 0, toolIsDead: true as const }
      const refused = yield* Effect.flip(
        world.client.agentPools.release({ params: { runId: applyId }, payload: release })
      )
      expect(refused).toMatchObject({ code: "failed_precondition" })
      yield* world.release
      const apply = yield* world.until(applyId, isOver)
      expect(apply).toMatchObject({ status: "succeeded" })
      expect(yield* world.capsule(capsuleId)).toMatchObject({ status: "active", currentStateGeneration: 1 })
      // Created once, and no secret in clear at either side.
      expect((yield* readCloud(world.notesDir)).created).toHaveLength(1)
      expect(filesWith(world.dataDir, canaries)).toEqual([])
      expect(filesWith(one.folder, canaries)).toEqual([])
    })
)

live("an agent that is killed while its tool applies comes back, and what its tool left is imported", () =>
  Effect.gen(function* () {
    const world = yield* agentWorld()
    const { capsuleId, planRunId } = yield* world.installed
    const one = yield* world.agent("one")
    const process1 = yield* one.start
    yield* world.until(planRunId, isOver)
    yield* world.hold
    const applyId = yield* world.approvedApply(planRunId)
    yield* world.held
    process.kill(process1.pid, "SIGKILL")
    yield* Effect.exit(process1.exitCode)
    yield* world.release
    expect((yield* world.until(applyId, () => true)).status).toBe("running")
    yield* one.start
    const apply = yield* world.until(applyId, isOver)
    expect(apply).toMatchObject({ status: "failed", error: { code: "apply_interrupted" } })
    expect(yield* world.capsule(capsuleId)).toMatchObject({ status: "error", runtimeSafety: "unknown" })
  })
)
