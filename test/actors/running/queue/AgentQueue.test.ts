import { afterAll, expect } from "bun:test"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { transaction } from "../../../../actors/base/database/Transaction.ts"
import { AgentPresence } from "../../../../actors/running/agent-pool/AgentPresence.ts"
import { DeclinedRuns } from "../../../../actors/running/agent-pool/DeclinedRuns.ts"
import { QueueRows } from "../../../../actors/running/queue/QueueRows.ts"
import { RunQueue } from "../../../../actors/running/queue/RunQueue.ts"
import { preemptedReason, RunCancels } from "../../../../actors/ledger/run/RunCancels.ts"
import { RunJournal } from "../../../../actors/ledger/run/RunJournal.ts"
import { placesOfPool, RunLedger, RunPools } from "../../../../actors/ledger/run/RunLedger.ts"
import { RunLifecycle } from "../../../../actors/ledger/run/RunLifecycle.ts"
import { defaultRunSettings, RunSettings } from "../../../../actors/ledger/run/RunSettings.ts"
import { AgentId, EnrolmentTokenId, type RunId } from "../../../../schema/records/Ids.ts"
import type { Run, RunType } from "../../../../schema/records/Run.ts"
import { newPerson, newWorkspace, testAccounts } from "../../../support/Accounts.ts"
import { suite } from "../../../support/Effect.ts"
import { setRun } from "../../../support/HeldRuns.ts"
import { namedCapsule, namedRun } from "../../../support/NamedIds.ts"
import { agentFacts } from "../../../src/database/support/rows/AgentRows.ts"
import { after } from "../../../src/http/support/FarPlane.ts"
import { noAgents } from "../../support/NoAgents.ts"

const tests = suite(
  RunQueue.layer.pipe(
    Layer.provideMerge(Layer.mergeAll(RunLedger.layer, RunCancels.layer, noAgents)),
    Layer.provideMerge(RunLifecycle.layer),
    Layer.provideMerge(Layer.mergeAll(QueueRows.layer, RunJournal.layer)),
    Layer.provide(Layer.succeed(RunSettings, { ...defaultRunSettings, runsFolder: "/nowhere" })),
    Layer.provide(Layer.succeed(RunPools, () => Effect.succeed("far"))),
    Layer.provideMerge(testAccounts)
  )
)
afterAll(tests.dispose)

const at = "2026-03-01T00:00:00.000Z"
const id = (prefix: string, name: string) => `${prefix}_${name.padEnd(26, "0")}`

/** Creates a pool with one agent that has just contacted the server. */
const connected = Effect.fnUntraced(function* (
  name: string,
  places: number,
  more: Readonly<Record<string, unknown>> = {}
) {
  const sql = yield* SqlClient.SqlClient
  const agentId = AgentId.make(id("agt", name))
  const token = EnrolmentTokenId.make(id("aet", name))
  yield* sql`INSERT INTO agent_enrolment_tokens ${sql.insert({
    id: token,
    pool: "far",
    secret_hash: name,
    uses_left: 0,
    created_at: at,
    expires_at: at
  })}`
  yield* sql`INSERT INTO agents ${sql.insert({
    id: agentId,
    pool: "far",
    name,
    sign_key: name.padEnd(43, "s"),
    seal_key: name.padEnd(43, "s"),
    facts: JSON.stringify({
      ...JSON.parse(agentFacts),
      tools: [{ name: "terraform", version: "1.11.4" }],
      places,
      ...more
    }),
    enrolment_token_id: token,
    enrolled_at: at,
    last_contact_at: at
  })}`
  yield* (yield* AgentPresence).heard(agentId)
  return agentId
})

let count = 0

/** Creates a Workspace that may use the pool. */
const workspace = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const ledger = yield* RunLedger
  count += 1
  const owner = yield* newPerson(`agent-queue-${count}`)
  const { id: workspaceId } = yield* newWorkspace(owner.subject, { handle: `agent-queue-${count}` })
  yield* sql`INSERT INTO agent_pools ${sql.insert({ name: "far", lease_seconds: 2700, created_at: at })} ON CONFLICT DO NOTHING`
  yield* sql`INSERT INTO agent_pool_workspaces ${sql.insert({ pool: "far", workspace_id: workspaceId, assigned_at: at })}`
  return Effect.fnUntraced(function* (name: string, type: RunType, trigger: Run["trigger"] = "user") {
    count += 1
    const runId = namedRun(`${count}${name}`)
    yield* ledger.insert({ id: runId, workspaceId, type, capsuleId: namedCapsule(String(count)), trigger, spec: {} })
    return runId
  })
})

const claimBy = (agentId: AgentId) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const claimed = (yield* RunQueue).claimOf("far", agentId, () => Effect.succeed(true))
    return (yield* transaction(sql)(claimed))?.id
  })

const placeOf = Effect.fnUntraced(function* (runId: RunId) {
  const row = yield* (yield* RunLedger).find(runId)
  return row === undefined ? undefined : yield* (yield* RunQueue).place(row)
})

const reasonOf = (runId: RunId) =>
  Effect.map(
    Effect.flatMap(RunLedger, ({ find }) => find(runId)),
    (run) => run?.cancel_reason
  )

const over = (...ids: ReadonlyArray<RunId>) =>
  Effect.forEach(ids, (runId) => setRun(runId, { status: "succeeded", owner: null }), { discard: true })

/** Claims work, as the control plane does whenever something may have changed. */
const look = Effect.flatMap(RunQueue, ({ claim }) => claim("inst_test#1"))

tests.live("drift checks in a pool run after people's Runs, and never take an agent's last free place", () =>
  Effect.gen(function* () {
    const queued = yield* workspace
    const agent = yield* connected("one", 2)
    const check = yield* queued("check", "drift_check", "schedule")
    const plan = yield* queued("plan", "plan")
    expect((yield* (yield* RunLedger).find(check))?.slot_pool).toBe(placesOfPool("far"))
    expect(yield* claimBy(agent)).toBe(plan)
    expect(yield* claimBy(agent)).toBeUndefined()
    expect(yield* placeOf(check)).toMatchObject({
      reason: "place_kept",
      limit: 2,
      message: expect.stringContaining("is kept for what a person may ask for")
    })
    const next = yield* queued("next", "plan")
    expect(yield* claimBy(agent)).toBe(next)
    yield* over(plan, next)
    expect(yield* placeOf(check)).toMatchObject({ reason: "turn" })
    expect(yield* claimBy(agent)).toBe(check)
    yield* over(check)
    yield* setAgent(agent, { revoked_at: at })
  })
)

const setAgent = Effect.fnUntraced(function* (agentId: AgentId, columns: Readonly<Record<string, string>>) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`UPDATE agents SET ${sql.update(columns)} WHERE id = ${agentId}`
})

tests.live("a scheduled drift check stops only for a person's Run that its agent can execute", () =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const queued = yield* workspace
    const elsewhere = yield* workspace
    const stranger = yield* workspace
    const [one, two] = [yield* connected("three", 1), yield* connected("four", 1, { tools: [] })]
    const first = yield* queued("first", "drift_check", "schedule")
    const second = yield* elsewhere("second", "drift_check", "schedule")
    const asked = yield* queued("asked", "drift_check")
    // The second check started last, so it would be stopped first if its agent could execute the waiting Run.
    for (const [runId, owner, started_at] of [
      [first, one, at],
      [second, two, "2026-03-01T00:01:00.000Z"]
    ] as const) {
      yield* setRun(runId, { status: "running", owner, started_at, fence: 1 })
    }
    yield* look
    expect(yield* reasonOf(first)).toBeNull()
    // Revokes the pool from the waiting Run's Workspace.
    const refused = yield* stranger("refused", "plan")
    const row = yield* (yield* RunLedger).find(refused)
    yield* sql`DELETE FROM agent_pool_workspaces WHERE workspace_id = ${row?.workspace_id ?? ""}`
    yield* look
    expect([yield* reasonOf(first), yield* reasonOf(second)]).toEqual([null, null])
    // The second agent has no tool and can execute no waiting Run, so its check continues.
    const plan = yield* queued("plan", "plan")
    const other = yield* elsewhere("other", "plan")
    yield* look
    expect([yield* reasonOf(first), yield* reasonOf(second)]).toEqual([preemptedReason, null])
    yield* look
    expect(yield* reasonOf(second)).toBeNull()
    yield* over(first)
    expect(yield* claimBy(one)).toBe(plan)
    yield* over(plan, other, second, refused, asked)
    for (const agent of [one, two]) yield* setAgent(agent, { revoked_at: at })
  })
)

tests.live("a scheduled drift check does not stop for a Run that its agent has declined", () =>
  Effect.gen(function* () {
    const declines = yield* DeclinedRuns
    const presence = yield* AgentPresence
    const queued = yield* workspace
    const agent = yield* connected("five", 1)
    const check = yield* queued("check", "drift_check", "schedule")
    yield* setRun(check, { status: "running", owner: agent, started_at: at, fence: 1 })
    const plan = yield* queued("plan", "plan")
    yield* declines.declined(agent, plan)
    yield* look
    expect(yield* reasonOf(check)).toBeNull()
    const later = (time: number) => after(time, Effect.andThen(presence.heard(agent), look))
    // A minute later the Run may be offered again, but the agent would decline it again. So the agent's check continues for ten
    // minutes.
    expect([
      yield* after(59, declines.mayBeOffered(agent, plan)),
      yield* after(61, declines.mayBeOffered(agent, plan))
    ]).toEqual([false, true])
    yield* later(599)
    expect(yield* reasonOf(check)).toBeNull()
    yield* later(601)
    expect(yield* reasonOf(check)).toBe(preemptedReason)
    yield* setRun(check, { cancel_reason: null, cancel_requested_at: null })
    // Checks still stop for another Run of the same person, and for a Run that the agent has since accepted.
    yield* declines.declined(agent, plan)
    const other = yield* queued("other", "plan")
    yield* look
    expect(yield* reasonOf(check)).toBe(preemptedReason)
    yield* setRun(check, { cancel_reason: null, cancel_requested_at: null })
    yield* over(other)
    yield* declines.accepted(agent, plan)
    yield* look
    expect(yield* reasonOf(check)).toBe(preemptedReason)
    yield* over(check, plan)
    yield* setAgent(agent, { revoked_at: at })
  })
)
