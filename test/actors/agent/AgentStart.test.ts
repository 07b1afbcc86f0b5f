import { afterAll, afterEach, expect } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Capsules } from "../../../actors/capsule/Capsules.ts"
import { Connections } from "../../../actors/connection/Connections.ts"
import { owesEvidence } from "../../../actors/run/OwedEvidence.ts"
import { Runs } from "../../../actors/run/Runs.ts"
import { runnerFailure } from "../../../runner/execution/RunnerFailure.ts"
import type { CapsuleId, RunId } from "../../../schema/records/Ids.ts"
import { applyOfferedTo, begun, farPlane, offerTo, renewal, world } from "../../src/http/support/FarPlane.ts"
import { suite } from "../../support/Effect.ts"
import { demoConnection, settled } from "../../support/Journey.ts"
import { demo, TestPlane } from "../../support/TestPlane.ts"
import { ruled } from "../support/ApprovalSteps.ts"

const plane = suite(farPlane)
afterAll(plane.dispose)

const restored = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`DELETE FROM approval_rules`
  yield* sql`UPDATE workspaces SET archived_at = NULL`
})
afterEach(() => plane.runPromise(restored))

interface Applying {
  readonly capsuleId: CapsuleId
  readonly runId: RunId
}

const cancelled = Effect.fnUntraced(function* ({ runId }: Pick<Applying, "runId">) {
  yield* (yield* Runs).cancel((yield* TestPlane).context, runId, "Not this one.")
})

const changed = (
  table: "capsules" | "plan" | "workspaces",
  columns: Readonly<Record<string, string | number | null>>
) =>
  Effect.fnUntraced(function* ({ capsuleId, runId }: Applying) {
    const sql = yield* SqlClient.SqlClient
    const set = sql.update(columns)
    switch (table) {
      case "capsules":
        return yield* sql`UPDATE capsules SET ${set} WHERE id = ${capsuleId}`
      case "plan":
        return yield* sql`UPDATE runs SET ${set} WHERE id = (SELECT plan_run_id FROM runs WHERE id = ${runId})`
      case "workspaces":
        return yield* sql`UPDATE workspaces SET ${set} WHERE id = (SELECT workspace_id FROM runs WHERE id = ${runId})`
    }
  })

/** The plan was made with a Connection, which is revoked. */
const revoked = Effect.fnUntraced(function* (applying: Applying) {
  const { context } = yield* TestPlane
  const connections = yield* Connections
  const connection = yield* demoConnection("token")
  const resolution = {
    provider: demo,
    moduleLocalName: "demo",
    status: "resolved_provider_connection",
    connectionId: connection.id,
    envNames: []
  }
  yield* changed("plan", { evidence: JSON.stringify({ providerResolutions: [resolution] }) })(applying)
  yield* connections.revoke(context, connection.id)
})

const obstacles = {
  "its cancel was accepted": { happens: cancelled, status: "cancelled", code: undefined },
  "its plan was superseded": { happens: changed("plan", { status: "superseded" }), code: "plan_not_usable" },
  "its plan expired": { happens: changed("plan", { status: "expired" }), code: "plan_not_usable" },
  "the approval of its plan was withdrawn": {
    happens: changed("plan", { approved_at: null }),
    code: "plan_not_usable"
  },
  "a rule asks for more approvals": { happens: () => ruled(), code: "approval_lapsed" },
  "a Connection of its plan was revoked": { happens: revoked, code: "superseded" },
  "its Capsule has another authority": {
    happens: changed("capsules", { execution_authority_epoch: 99 }),
    code: "superseded"
  },
  "its Capsule has another state": {
    happens: changed("capsules", { current_state_generation: 99 }),
    code: "superseded"
  },
  "its Capsule is out of service": {
    happens: changed("capsules", { status: "released" }),
    code: "failed_precondition"
  },
  "its Workspace was archived": {
    happens: changed("workspaces", { archived_at: "2026-01-01T00:00:00.000Z" }),
    code: "failed_precondition"
  }
} as const

/** Nothing was started: the Run is over, its plan is gone, and nobody waits for evidence. */
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

for (const [name, { code, happens, ...expected }] of Object.entries(obstacles)) {
  plane.live(`refuses the start of an apply when ${name} after it was accepted`, () =>
    Effect.gen(function* () {
      const { enrolled } = yield* world
      const agent = yield* enrolled()
      const { capsuleId, claim } = yield* applyOfferedTo(agent, `start-${crypto.randomUUID()}`)
      yield* agent.as(agent.client.Accept(claim))
      const before = yield* safetyOf(capsuleId)
      yield* happens({ capsuleId, runId: claim.runId })
      // An agent that did not receive the refusal asks again.
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

plane.live("refuses a start that is repeated after a cancel, and the Run ends cancelled with its agent's report", () =>
  Effect.gen(function* () {
    const { enrolled } = yield* world
    const agent = yield* enrolled()
    const { capsuleId, claim } = yield* applyOfferedTo(agent, "start-repeated")
    yield* agent.as(agent.client.Accept(claim))
    const before = yield* (yield* Capsules).read(capsuleId)
    // The response is lost, so that the agent has not started its tool.
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

plane.live("repeats the answer to a recorded start when a rule changes afterwards", () =>
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

plane.live("refuses the acceptance of a cancelled apply and of a cancelled plan", () =>
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

plane.live("withholds an offer that was cancelled before the agent received it", () =>
  Effect.gen(function* () {
    const { enrolled } = yield* world
    const agent = yield* enrolled()
    yield* begun("offer-cancelled")
    const { name, offer } = yield* offerTo(agent)
    yield* cancelled(offer)
    // The response was lost, so that the agent asks for the same offer again.
    const next = yield* Effect.timeoutOption(agent.next(name), "500 millis")
    expect(next._tag === "Some" ? next.value.offer : undefined).toBeUndefined()
    expect((yield* settled(offer.runId)).status).toBe("cancelled")
  })
)
