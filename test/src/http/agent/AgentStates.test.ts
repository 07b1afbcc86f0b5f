import { afterAll, expect } from "bun:test"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { AgentMonitor } from "../../../../actors/running/agent/AgentMonitor.ts"
import { Capsules } from "../../../../actors/commands/capsule/Capsules.ts"
import { Runs } from "../../../../actors/ledger/run/Runs.ts"
import { RunCheckpoints } from "../../../../actors/ledger/state/RunCheckpoints.ts"
import { StateVersions } from "../../../../actors/ledger/state/StateVersions.ts"
import { partBytes } from "../../../../actors/base/vault/SealedParts.ts"
import { packContents } from "../../../../runner/agent/BlobContents.ts"
import { sha256 } from "../../../../runner/execution/Digest.ts"
import { longestReadHere } from "../../../../runner/document/Documents.ts"
import type { CapsuleId } from "../../../../schema/records/Ids.ts"
import { suite } from "../../../support/Effect.ts"
import { settled } from "../../../support/Journey.ts"
import { TestPlane } from "../../../support/TestPlane.ts"
import { appliedResult, applyingOn, farPlane, offerTo, planOn, stateFile, text, world } from "../support/FarPlane.ts"
import { refused } from "../support/LieScene.ts"
import type { TestAgent } from "../support/TestAgent.ts"
import { reviewed } from "../../../support/ReviewedPlan.ts"
import { CapsuleCommands } from "../../../../schema/commands/CapsuleCommands.ts"
import { RunCommands } from "../../../../schema/commands/RunCommands.ts"

const plane = suite(farPlane)
afterAll(plane.dispose)

/** Returns a state of another Capsule. */
const foreign = (serial: number) =>
  text(new TextDecoder().decode(stateFile(serial)).replace('"lineage":"lineage"', '"lineage":"other"'))

/** Starts another apply of the Capsule on an agent. */
const applyingAgain = Effect.fnUntraced(function* (agent: TestAgent, capsuleId: CapsuleId) {
  const { context } = yield* TestPlane
  const runs = yield* Runs
  const runCommands = yield* RunCommands
  const asked = (yield* (yield* CapsuleCommands).Plan(capsuleId, { context })).value
  const { offer } = yield* offerTo(agent)
  expect(offer.runId).toBe(asked.id)
  yield* planOn(agent, offer)
  const plan = yield* settled(asked.id)
  yield* runCommands.Approve(plan.id, { context, ...reviewed(plan) })
  yield* runs.apply(context, plan.id, undefined)
  const { offer: applying } = yield* offerTo(agent)
  yield* agent.as(agent.client.Accept(applying))
  yield* agent.as(agent.client.Start(applying))
  return { runId: applying.runId, fence: applying.fence }
})

const leftOf = (runId: string) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`SELECT reason, lineage, serial FROM left_over_states WHERE run_id = ${runId} ORDER BY serial`
  )

plane.live("a state is saved only once if it is resent while the server is reading it", () =>
  Effect.gen(function* () {
    const { enrolled } = yield* world
    const agent = yield* enrolled()
    const { claim } = yield* applyingOn(agent, "again-while-read")
    const blob = yield* agent.put(claim, "state", stateFile(1))
    const checkpoint = agent.as(agent.client.Checkpoint({ ...claim, serial: 1, resourceCount: 1, blob }))
    const answers = yield* Effect.all([checkpoint, checkpoint, checkpoint].map(Effect.result), { concurrency: 3 })
    expect(answers.some(({ _tag }) => _tag === "Success")).toBe(true)
    for (const answer of answers) {
      if (answer._tag === "Failure") expect(answer.failure).toMatchObject({ _tag: "Busy" })
    }
    const sql = yield* SqlClient.SqlClient
    const saved = yield* sql`SELECT COUNT(*) AS saved FROM run_events
      WHERE run_id = ${claim.runId} AND kind = 'state.saved' AND CAST(json_extract(data, '$.final') AS INTEGER) = 0`
    expect(saved).toEqual([{ saved: 1 }])
  })
)

plane.live(
  "a state that does not continue the Run's state is rejected, whatever the agent reports",
  () =>
    Effect.gen(function* () {
      const { enrolled } = yield* world
      const agent = yield* enrolled()
      const capsules = yield* Capsules
      const { capsuleId, claim: first } = yield* applyingOn(agent, "states")
      yield* agent.finish(first, appliedResult(5), {
        lastBatch: 0,
        state: yield* agent.put(first, "state", stateFile(5))
      })
      expect((yield* settled(first.runId)).status).toBe("succeeded")
      const before = yield* capsules.read(capsuleId)

      const claim = yield* applyingAgain(agent, capsuleId)
      const save = Effect.fnUntraced(function* (bytes: Uint8Array, serial: number) {
        const blob = yield* agent.put(claim, "state", bytes)
        yield* agent.as(agent.client.Checkpoint({ ...claim, serial, resourceCount: 1, blob }))
      })
      yield* refused(save(foreign(6), 6), "Rejected")
      yield* refused(save(stateFile(4), 4), "Rejected")
      yield* refused(save(stateFile(6), 2 ** 31), "Rejected")
      // A rejected state does not block the Capsule.
      yield* save(stateFile(6), 6)

      yield* agent.finish(claim, appliedResult(7), {
        lastBatch: 0,
        state: yield* agent.put(claim, "state", foreign(7))
      })
      expect(yield* settled(claim.runId)).toMatchObject({ status: "failed", error: { code: "apply_failed" } })
      const after = yield* capsules.read(capsuleId)
      expect(after).toMatchObject({ status: "error", runtimeSafety: "unknown" })
      expect(after.currentStateVersionId).toBe(before.currentStateVersionId)
      // Both the saved and the rejected state are kept for a person to review.
      expect(yield* leftOf(claim.runId)).toEqual([
        { reason: "lineage_changed", lineage: "lineage", serial: 6 },
        { reason: "lineage_changed", lineage: "other", serial: 7 }
      ])

      // An earlier release saved the state without checking it.
      const silent = yield* applyingAgain(agent, capsuleId)
      const { workspaceId } = yield* TestPlane
      const checkpoints = yield* RunCheckpoints
      yield* checkpoints.save({ ...silent, owner: agent.agentId }, workspaceId, Redacted.make(foreign(9)))
      yield* (yield* AgentMonitor).release(silent.runId)
      expect((yield* settled(silent.runId)).status).toBe("failed")
      expect((yield* capsules.read(capsuleId)).currentStateVersionId).toBe(before.currentStateVersionId)
      expect(yield* leftOf(silent.runId)).toEqual([{ reason: "lineage_changed", lineage: "other", serial: 9 }])
    }),
  240_000
)

plane.live(
  "an apply that leaves no state does not count as successful",
  () =>
    Effect.gen(function* () {
      const { enrolled } = yield* world
      const agent = yield* enrolled()
      const { capsuleId, claim } = yield* applyingOn(agent, "stateless")
      yield* agent.finish(claim, appliedResult(1), { lastBatch: 0 })
      expect((yield* settled(claim.runId)).status).toBe("failed")
      expect(yield* (yield* Capsules).read(capsuleId)).toMatchObject({ status: "error", runtimeSafety: "unknown" })
    }),
  120_000
)

plane.live(
  "a result whose state cannot be opened is not acknowledged, and the correct result is still accepted",
  () =>
    Effect.gen(function* () {
      const { enrolled } = yield* world
      const agent = yield* enrolled()
      const { claim } = yield* applyingOn(agent, "unopened")
      const packed = yield* packContents(stateFile(5))
      const unopened = [
        // A blob sealed as a plan file, not as a state.
        yield* agent.sealed(claim, "plan_file", stateFile(5)),
        // A truncated state, and a state with trailing data.
        yield* agent.sealedPacked(claim, "state", packed.subarray(0, packed.length - 4)),
        yield* agent.sealedPacked(claim, "state", Buffer.concat([packed, packed]))
      ]
      for (const bytes of unopened) {
        const state = sha256(bytes)
        yield* agent.send(claim, "state", state, bytes, 0, bytes.length)
        yield* refused(agent.finish(claim, appliedResult(5), { lastBatch: 0, state }), "Rejected")
      }
      yield* agent.finish(claim, appliedResult(5), {
        lastBatch: 0,
        state: yield* agent.put(claim, "state", stateFile(5))
      })
      expect((yield* settled(claim.runId)).status).toBe("succeeded")
    }),
  120_000
)

plane.live(
  "a state that is too long to be parsed is stored in parts and still becomes the state of the Capsule",
  () =>
    Effect.gen(function* () {
      const { enrolled } = yield* world
      const sql = yield* SqlClient.SqlClient
      const states = yield* StateVersions
      const agent = yield* enrolled()
      const { capsuleId, claim } = yield* applyingOn(agent, "long")
      const instance = (at: number) => ({
        index_key: at,
        attributes: { id: `id-${at}`, text: `${at}`.repeat(6 * 2 ** 20) }
      })
      const bytes = new TextEncoder().encode(
        JSON.stringify({
          version: 4,
          serial: 5,
          lineage: "lineage",
          resources: [{ mode: "managed", type: "t", name: "n", provider: "p", instances: [1, 2, 3].map(instance) }]
        })
      )
      expect(bytes.length).toBeGreaterThan(longestReadHere)
      const save = Effect.fnUntraced(function* (serial: number) {
        const blob = yield* agent.put(claim, "state", bytes)
        yield* agent.as(agent.client.Checkpoint({ ...claim, serial, resourceCount: 1, blob }))
      })
      yield* refused(save(4), "Rejected")
      yield* save(5)
      yield* agent.finish(claim, appliedResult(5), { lastBatch: 0, state: yield* agent.put(claim, "state", bytes) })
      expect((yield* settled(claim.runId)).status).toBe("succeeded")
      const { currentStateVersionId = null } = yield* (yield* Capsules).read(capsuleId)
      const row = yield* states.find(currentStateVersionId)
      if (row === undefined) return yield* Effect.die("no StateVersion")
      expect([row.serial, row.resource_count]).toEqual([5, 3])
      expect(Buffer.compare(Redacted.value(yield* states.open(row)), bytes)).toBe(0)
      const indexed =
        yield* sql`SELECT address, object_id FROM resource_versions WHERE capsule_id = ${capsuleId} ORDER BY 1`
      expect(indexed).toEqual([1, 2, 3].map((at) => ({ address: `t.n[${at}]`, object_id: `id-${at}` })))
      // svc removes the parts of the previous state together with that state.
      const parts = yield* sql`SELECT owner, COUNT(*) AS parts FROM sealed_parts GROUP BY owner`
      expect(parts).toEqual([{ owner: row.id, parts: Math.ceil(bytes.length / partBytes) }])
    }),
  120_000
)
