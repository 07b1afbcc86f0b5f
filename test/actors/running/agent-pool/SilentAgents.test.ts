import { afterAll, expect } from "bun:test"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { AgentPresence } from "../../../../actors/running/agent-pool/AgentPresence.ts"
import { SilentAgents } from "../../../../actors/running/agent-pool/SilentAgents.ts"
import { restoredAgents } from "../../../../actors/running/agent-pool/RestoredAgents.ts"
import { owesEvidence } from "../../../../actors/ledger/run/PendingAgentState.ts"
import { AgentId } from "../../../../schema/records/Ids.ts"
import { testAccounts } from "../../../support/Accounts.ts"
import { suite } from "../../../support/Effect.ts"
import { add, emptyWorld, named, run } from "../../upkeep/retention/support/RetainedWorld.ts"
import { agentFacts } from "../../../src/database/support/rows/AgentRows.ts"

const tests = suite(AgentPresence.layer.pipe(Layer.provideMerge(testAccounts)))
afterAll(tests.dispose)

/** Starts the removal of silent agents, as a new process would. */
const begun = Effect.map(Layer.build(Layer.fresh(SilentAgents.layer)), Context.get(SilentAgents))

const at = "2026-03-01T00:00:00.000Z"

const token = (name: string, usesLeft: number) =>
  add("agent_enrolment_tokens", {
    id: named("aet", name),
    secret_hash: name,
    uses_left: usesLeft,
    expires_at: "2026-03-02T00:00:00.000Z"
  })

const agent = Effect.fnUntraced(function* (name: string, of: string, labels: Readonly<Record<string, string>> = {}) {
  yield* add("agents", {
    id: named("agt", name),
    name,
    sign_key: name.padEnd(43, "s"),
    enrolment_token_id: named("aet", of),
    last_contact_at: at,
    facts: JSON.stringify({ ...JSON.parse(agentFacts), labels })
  })
  return named("agt", name)
})

const there = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ name: string; revoked: number }>`SELECT name, revoked_at IS NOT NULL AS revoked FROM agents
    WHERE id <> ${"agt_".padEnd(28, "a")} ORDER BY name`
  return rows.map(({ name, revoked }) => `${name}${revoked === 1 ? " revoked" : ""}`)
})

tests.live("an ephemeral agent is removed after a week of silence, unless a state of its apply is still missing", () =>
  Effect.gen(function* () {
    yield* emptyWorld
    const sql = yield* SqlClient.SqlClient
    const { forget } = yield* begun
    yield* token("single", 0)
    yield* token("several", 0)
    yield* token("unspent", 1)
    yield* agent("machine", "single")
    yield* agent("group1", "several")
    const busy = yield* agent("group2", "several")
    const lost = yield* agent("group3", "several")
    const owing = yield* agent("group4", "several")
    yield* token("marked", 0)
    yield* agent("labelled", "marked", { ephemeral: "true" })
    yield* agent("unspent1", "unspent")
    const claim = { agent_id: busy, kind: "plan" }
    yield* add("agent_runs", { run_id: yield* run("busy"), ended_at: null, ...claim })
    const ended = { agent_id: lost, kind: "apply", accepted_at: at, ended_at: "2026-03-05T00:00:00.000Z" }
    yield* add("agent_runs", { run_id: yield* run("lost"), ...ended })
    const startedRun = yield* run("owing", { start_acknowledged_at: at })
    yield* add("agent_runs", { run_id: startedRun, ...ended, agent_id: owing })
    yield* TestClock.setTime(Date.parse("2026-03-07T23:00:00.000Z"))
    yield* forget
    expect(yield* there).toEqual(["group1", "group2", "group3", "group4", "labelled", "machine", "unspent1"])
    yield* TestClock.setTime(Date.parse("2026-03-08T00:01:00.000Z"))
    yield* forget
    // The last agent of a token is removed immediately. As long as the token has other agents, svc keeps the row of a
    // revoked agent, which proves that the token is for a group.
    expect(yield* there).toEqual(["group1 revoked", "group2", "group3", "group4", "machine"])
    expect(yield* sql`SELECT COUNT(*) AS n FROM audit_events WHERE action = 'agent.forget'`).toEqual([{ n: 3 }])
    yield* sql`UPDATE agent_runs SET ended_at = ${at} WHERE agent_id = ${busy}`
    yield* TestClock.adjust("59 minutes")
    yield* forget
    expect(yield* there).toContain("group2")
    yield* TestClock.adjust("1 minute")
    yield* forget
    expect(yield* there).toEqual(["group1 revoked", "group2 revoked", "group3", "group4", "machine"])
    // The third agent never reported that its apply started. The fourth agent reported its start, so its machine may hold
    // the only copy of the state.
    yield* TestClock.setTime(Date.parse("2029-04-04T00:01:00.000Z"))
    yield* forget
    expect(yield* there).toEqual(["group1 revoked", "group2 revoked", "group3 revoked", "group4", "machine"])
    expect(yield* sql`SELECT id FROM agent_enrolment_tokens WHERE id = ${named("aet", "unspent")}`).toEqual([])
    yield* sql`DELETE FROM agent_runs`
    yield* sql`UPDATE agents SET revoked_at = ${at} WHERE name = 'machine'`
    yield* TestClock.adjust("1 hour")
    yield* forget
    expect(yield* there).toEqual([])
  }).pipe(Effect.scoped, Effect.provide(TestClock.layer()))
)

tests.live(
  "an agent awaiting the review after a restore is not removed before the review or immediately afterwards",
  () =>
    Effect.gen(function* () {
      yield* emptyWorld
      const sql = yield* SqlClient.SqlClient
      yield* token("review", 1)
      const id = yield* agent("waiting", "review")
      const { confirm, hold } = yield* restoredAgents
      yield* TestClock.setTime(Date.parse("2026-03-09T00:00:00.000Z"))
      const { forget } = yield* begun
      for (const held of yield* hold) {
        yield* sql`INSERT INTO restore_review ${sql.insert({ record_id: held.id, kind: "agent", previous_status: held.previousStatus, restored_at: at })}`
      }
      yield* TestClock.adjust("1 hour")
      yield* forget
      expect(yield* there).toContain("waiting revoked")
      yield* confirm(id, "enrolled")
      yield* sql`UPDATE restore_review SET decision = 'confirmed'`
      yield* TestClock.adjust("1 hour")
      yield* forget
      expect(yield* there).toContain("waiting")
    }).pipe(Effect.scoped, Effect.provide(TestClock.layer()))
)

tests.live("an agent that has submitted the state of its apply has no pending state", () =>
  Effect.gen(function* () {
    yield* emptyWorld
    const sql = yield* SqlClient.SqlClient
    yield* sql`DELETE FROM agents WHERE id <> ${"agt_".padEnd(28, "a")}`
    yield* token("group", 3)
    const lost = yield* agent("back", "group")
    const run_id = yield* run("given up", { start_acknowledged_at: at })
    const claim = { run_id, agent_id: lost, kind: "apply", accepted_at: at, ended_at: at }
    yield* add("agent_runs", { ...claim, fence: 1, claim: "first" })
    yield* add("agent_runs", { ...claim, fence: 2, claim: "second" })
    yield* TestClock.setTime(Date.parse("2026-03-09T00:00:00.000Z"))
    const { forget } = yield* begun
    // Both the agent and the service were unreachable for longer than every period, so svc must give the agent time to return.
    yield* forget
    expect(yield* there).toEqual(["back"])
    yield* TestClock.adjust("1 hour")
    yield* forget
    expect(yield* there).toEqual(["back"])
    // The tool ran under the second claim, so evidence for the first claim does not settle the Run.
    yield* add("agent_evidence", { run_id, agent_id: lost, fence: 1 })
    const owed = sql`SELECT r.fence FROM agent_runs r WHERE ${sql.literal(owesEvidence("r."))}`
    expect(yield* owed).toEqual([{ fence: 2 }])
    yield* add("agent_evidence", { run_id, agent_id: lost, fence: 2, id: named("evd", "second"), digest: "second" })
    expect(yield* owed).toEqual([])
    yield* forget
    expect(yield* there).toEqual(["back"])
    yield* TestClock.adjust("1 hour")
    const presence = yield* AgentPresence
    yield* presence.heard(AgentId.make(lost))
    yield* forget
    expect(yield* there).toEqual(["back"])
    yield* presence.left(AgentId.make(lost))
    yield* TestClock.adjust("1 hour")
    yield* forget
    expect(yield* there).toEqual(["back revoked"])
  }).pipe(Effect.scoped, Effect.provide(TestClock.layer()))
)
