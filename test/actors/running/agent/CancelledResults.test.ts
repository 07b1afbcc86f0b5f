import { afterAll, expect, setDefaultTimeout } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Capsules } from "../../../../actors/commands/capsule/Capsules.ts"
import type { RunId } from "../../../../schema/records/Ids.ts"
import {
  appliedResult,
  applyingOn,
  begun,
  evidence,
  farPlane,
  offerTo,
  planOn,
  stateFile,
  world
} from "../../../src/http/support/FarPlane.ts"
import { suite } from "../../../support/Effect.ts"
import { settled } from "../../../support/Journey.ts"
import { TestPlane } from "../../../support/TestPlane.ts"
import { CapsuleCommands } from "../../../../schema/commands/CapsuleCommands.ts"
import { RunCommands } from "../../../../schema/commands/RunCommands.ts"

setDefaultTimeout(60_000)

const plane = suite(farPlane)
afterAll(plane.dispose)

const cancelled = Effect.fnUntraced(function* (runId: RunId) {
  const run = yield* (yield* RunCommands).Cancel(runId, {
    context: (yield* TestPlane).context,
    reason: "Not this one."
  })
  expect(run.status).toBe("running")
})

const savedPlans = Effect.fnUntraced(function* (runId: RunId) {
  return yield* Effect.orDie((yield* SqlClient.SqlClient)`SELECT run_id FROM run_plans WHERE run_id = ${runId}`)
})

plane.live("an agent's plan ends as cancelled if svc accepted the cancellation before the result arrived", () =>
  Effect.gen(function* () {
    const { enrolled } = yield* world
    const agent = yield* enrolled()
    yield* begun("cancelled-plan")
    const { offer } = yield* offerTo(agent)
    yield* agent.as(agent.client.Accept(offer))
    yield* cancelled(offer.runId)
    // The agent computes the plan before it receives the cancellation.
    yield* planOn(agent, offer)
    const run = yield* settled(offer.runId)
    expect(run).toMatchObject({ status: "cancelled", planSummary: { add: 1 } })
    expect(run.planDigest).toBeUndefined()
    expect(yield* savedPlans(offer.runId)).toEqual([])
  })
)

plane.live(
  "if an apply on an agent finishes before the cancellation arrives, it is recorded as cancelled, with a complete state",
  () =>
    Effect.gen(function* () {
      const { enrolled } = yield* world
      const agent = yield* enrolled()
      const { capsuleId, claim } = yield* applyingOn(agent, "cancelled-apply")
      yield* cancelled(claim.runId)
      const state = yield* agent.put(claim, "state", stateFile(1))
      yield* agent.finish(claim, appliedResult(1), { lastBatch: 0, state })
      const run = yield* settled(claim.runId)
      expect(run).toMatchObject({ status: "cancelled", error: { code: "applied_before_cancel" } })
      const capsules = yield* Capsules
      const capsuleCommands = yield* CapsuleCommands
      expect(yield* capsules.read(capsuleId)).toMatchObject({ status: "active", runtimeSafety: "safe" })
      const [version] = (yield* capsules.stateVersions(capsuleId, { limit: 1 })).items
      expect(version).toMatchObject({ id: run.stateVersionId, partial: false })

      // A cancelled drift check behaves the same: svc does not record a result that arrives after the cancellation.
      const check = yield* capsuleCommands.DriftCheck(capsuleId, { context: (yield* TestPlane).context })
      const { offer } = yield* offerTo(agent)
      expect(offer.runId).toBe(check.id)
      yield* agent.as(agent.client.Accept(offer))
      yield* cancelled(check.id)
      const drift = { ...evidence, drifted: true, resourceDrift: [] }
      const held = { runId: offer.runId, fence: offer.fence }
      yield* agent.finish(held, { kind: "drift_check", status: "ended", outcome: drift }, { lastBatch: 0 })
      expect(yield* settled(check.id)).toMatchObject({ status: "cancelled", drifted: true })
      expect((yield* capsules.read(capsuleId)).driftStatus).not.toBe("drifted")
    })
)
