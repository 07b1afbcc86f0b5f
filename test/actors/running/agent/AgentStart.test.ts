import { afterAll, afterEach, expect, setDefaultTimeout } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Capsules } from "../../../../actors/commands/capsule/Capsules.ts"
import { owesEvidence } from "../../../../actors/ledger/run/PendingAgentState.ts"
import { Runs } from "../../../../actors/ledger/run/Runs.ts"
import { runnerFailure } from "../../../../runner/execution/RunnerFailure.ts"
import type { CapsuleId } from "../../../../schema/records/Ids.ts"
import { applyOfferedTo, begun, farPlane, offerTo, renewal, world } from "../../../src/http/support/FarPlane.ts"
import { suite } from "../../../support/Effect.ts"
import { settled } from "../../../support/Journey.ts"
import { ruled } from "../../support/ApprovalSteps.ts"
import { type Applying, cancelled, startObstacles, withoutObstacles } from "../../support/StartObstacles.ts"

setDefaultTimeout(60_000)
const plane = suite(farPlane)
afterAll(plane.dispose)

afterEach(() => plane.runPromise(withoutObstacles))

/** Checks that nothing was started: the Run has ended, its plan is gone, and no evidence is pending. */
const untouched = Effect.fnUntraced(function* ({ capsuleId, runId }: Applying, before: string) {
  const sql = yield* SqlClient.SqlClient
  expect(yield* sql`SELECT start_acknowledged_at, provider_apply_succeeded FROM runs WHERE id = ${runId}`).toEqual([
    { start_acknowledged_at: null, provider_apply_succeeded: null }
  ])
  expect(
    yield* sql`SELECT r.run_id FROM agent_runs r WHERE r.run_id = ${runId}
      AND (r.ended_at IS NULL OR ${sql.literal(owesEvidence("r."))})`
  ).toEqual([])
  expect(
    yield* sql`SELECT p.run_id FROM run_plans p JOIN runs r ON r.plan_run_id = p.run_id WHERE r.id = ${runId}`
  ).toEqual([])
  expect(yield* safetyOf(capsuleId)).toBe(before)
})

const safetyOf = Effect.fnUntraced(function* (capsuleId: CapsuleId) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql`SELECT runtime_safety, current_state_version_id FROM capsules WHERE id = ${capsuleId}`
  return JSON.stringify(rows)
})

for (const [name, { code, happens, ...expected }] of Object.entries(startObstacles)) {
  plane.live(`an agent cannot start an apply if ${name} after the agent accepted the apply`, () =>
    Effect.gen(function* () {
      const { enrolled } = yield* world
      const agent = yield* enrolled()
      const { capsuleId, claim } = yield* applyOfferedTo(agent, `start-${crypto.randomUUID()}`)
      yield* agent.as(agent.client.Accept(claim))
      const before = yield* safetyOf(capsuleId)
      yield* happens({ capsuleId, runId: claim.runId })
      // An agent that did not receive the rejection repeats its request.
      for (const _ of [1, 2]) {
        expect(yield* Effect.flip(agent.as(agent.client.Start(claim)))).toMatchObject({ _tag: "Gone" })
      }
      const run = yield* settled(claim.runId)
      expect({ status: run.status, code: run.error?.code }).toEqual({
        status: "status" in expected ? expected.status : "failed",
        code
      })
      yield* untouched({ capsuleId, runId: claim.runId }, before)
      expect((yield* renewal(agent, claim)).gone).toHaveLength(1)
    })
  )
}

plane.live(
  "after a cancellation, svc rejects a repeated start, and the Run ends as cancelled once its agent reports",
  () =>
    Effect.gen(function* () {
      const { enrolled } = yield* world
      const agent = yield* enrolled()
      const { capsuleId, claim } = yield* applyOfferedTo(agent, "start-repeated")
      yield* agent.as(agent.client.Accept(claim))
      const before = yield* (yield* Capsules).read(capsuleId)
      // The response is lost, so the agent does not start its tool.
      yield* agent.as(agent.client.Start(claim))
      yield* cancelled(claim)
      expect(yield* Effect.flip(agent.as(agent.client.Start(claim)))).toMatchObject({ _tag: "Gone" })
      expect((yield* (yield* Runs).read(claim.runId)).status).toBe("running")
      const failure = runnerFailure("prepare_failed", "prepare", "The server refused the start.")
      yield* agent.finish(claim, { kind: "apply", status: "failed", failure }, { lastBatch: 0 })
      expect((yield* settled(claim.runId)).status).toBe("cancelled")
      expect(yield* (yield* Capsules).read(capsuleId)).toMatchObject({
        status: before.status,
        runtimeSafety: before.runtimeSafety
      })
    })
)

plane.live("a repeated start gets the same response as the first, even if a rule has changed in the meantime", () =>
  Effect.gen(function* () {
    const { enrolled } = yield* world
    const agent = yield* enrolled()
    const { claim } = yield* applyOfferedTo(agent, "start-held")
    yield* agent.as(agent.client.Accept(claim))
    yield* agent.as(agent.client.Start(claim))
    yield* ruled()
    yield* agent.as(agent.client.Start(claim))
    expect((yield* (yield* Runs).read(claim.runId)).status).toBe("running")
  })
)

plane.live("an agent can accept neither a cancelled apply nor a cancelled plan", () =>
  Effect.gen(function* () {
    const { enrolled } = yield* world
    const agent = yield* enrolled()
    const { capsuleId, claim } = yield* applyOfferedTo(agent, "accept-cancelled")
    const before = yield* safetyOf(capsuleId)
    yield* cancelled(claim)
    expect(yield* Effect.flip(agent.as(agent.client.Accept(claim)))).toMatchObject({ _tag: "Gone" })
    expect((yield* settled(claim.runId)).status).toBe("cancelled")
    yield* untouched({ capsuleId, runId: claim.runId }, before)
    yield* begun("accept-cancelled-plan")
    const { offer } = yield* offerTo(agent)
    yield* cancelled(offer)
    const plan = { runId: offer.runId, fence: offer.fence }
    expect(yield* Effect.flip(agent.as(agent.client.Accept(plan)))).toMatchObject({ _tag: "Gone" })
    expect((yield* settled(offer.runId)).status).toBe("cancelled")
  })
)

plane.live("an offer that is cancelled before the agent receives it is not delivered", () =>
  Effect.gen(function* () {
    const { enrolled } = yield* world
    const agent = yield* enrolled()
    yield* begun("offer-cancelled")
    const { name, offer } = yield* offerTo(agent)
    yield* cancelled(offer)
    // The response was lost, so the agent requests the same offer again.
    const next = yield* Effect.timeoutOption(agent.next(name), "500 millis")
    expect(next._tag === "Some" ? next.value.offer : undefined).toBeUndefined()
    expect((yield* settled(offer.runId)).status).toBe("cancelled")
  })
)
