import { zstdCompressSync } from "node:zlib"
import { afterAll, expect } from "bun:test"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { AgentMonitor } from "../../../../actors/running/agent/AgentMonitor.ts"
import { mostHandIns } from "../../../../actors/running/agent/AgentEvidence.ts"
import { Agents } from "../../../../actors/running/agent-pool/Agents.ts"
import type { UnfinishedApply } from "../../../../runner/execution/RunOutcome.ts"
import { suite } from "../../../support/Effect.ts"
import { settled } from "../../../support/Journey.ts"
import { zstdBomb } from "../../../support/ZstdBomb.ts"
import { applyingOn, farPlane, stateFile, text, world } from "../support/FarPlane.ts"
import { type Claim, digest, refused } from "../support/LieScene.ts"
import { digestOf, type TestAgent } from "../support/TestAgent.ts"

const plane = suite(farPlane)
afterAll(plane.dispose)

/** Returns the state with this serial, as kept by an agent after an apply. */
const kept = (serial: number): UnfinishedApply => ({
  state: Redacted.make(stateFile(serial)),
  lineage: "lineage",
  serial,
  resourceCount: 1,
  started: [],
  completed: [{ address: "terraform_data.it", action: "create" }],
  possiblyCreated: [],
  changedAnything: true
})

/** Settles an apply without its agent. */
const lost = Effect.fnUntraced(function* (agent: TestAgent, branch: string) {
  const { claim } = yield* applyingOn(agent, branch)
  yield* (yield* AgentMonitor).release(claim.runId)
  yield* settled(claim.runId)
  return claim
})

/** Counts the records to which a hand-in may add data. */
const added = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql`SELECT (SELECT COUNT(*) FROM agent_evidence) AS evidence,
    (SELECT COUNT(*) FROM left_over_states) AS states,
    (SELECT COUNT(*) FROM audit_events WHERE action LIKE 'agent.hand_in') AS events`
  return row
})

const handIn = (agent: TestAgent, claim: Claim, leftOver: string) =>
  agent.as(agent.client.HandIn({ runId: claim.runId, fence: claim.fence, leftOver }))

/**
 * Uploads these sealed bytes as a left-over state and hands them in. Returns the status of a rejected upload, or the result
 * of the hand-in.
 */
const handedIn = Effect.fnUntraced(function* (agent: TestAgent, claim: Claim, sealed: Uint8Array) {
  const { status } = yield* agent.send(claim, "left_over", digestOf(sealed), sealed, 0, sealed.length)
  if (status !== 200) return status
  return yield* Effect.match(handIn(agent, claim, digestOf(sealed)), {
    onFailure: (error) => ("_tag" in error ? error._tag : "failed"),
    onSuccess: () => "taken"
  })
})

plane.live(
  "forged, truncated and oversized hand-ins, and hand-ins for another Run, are rejected without storing anything",
  () =>
    Effect.gen(function* () {
      const { enrolled } = yield* world
      const [honest, liar] = [yield* enrolled(), yield* enrolled()]
      const theirs = yield* lost(honest, "theirs")
      const own = yield* lost(liar, "own")
      const other = yield* lost(liar, "other")
      const before = yield* added
      const nothing = { started: [], completed: [], possiblyCreated: [], changedAnything: false }
      const leftOver = text(JSON.stringify(nothing))
      const whole = yield* liar.sealed(own, "left_over", leftOver)
      let attempts = 0
      const fails = Effect.fnUntraced(function* (name: string, told: Effect.Effect<unknown, unknown>) {
        attempts += 1
        const result = yield* Effect.result(told)
        expect([name, result._tag === "Success" && result.success === "taken"]).toEqual([name, false])
      })

      // Hand-ins for another agent's Run, under any fence.
      for (const fence of [theirs.fence - 1, theirs.fence, theirs.fence + 1]) {
        const claim = { ...theirs, fence }
        yield* fails("another's", handedIn(liar, claim, yield* liar.sealed(claim, "left_over", leftOver)))
        yield* refused(handIn(liar, claim, digest), "Gone")
        attempts += 1
      }
      // Hand-ins sealed for another Run, another fence or another kind of file.
      for (const sealed of [
        yield* liar.sealed(other, "left_over", leftOver),
        yield* liar.sealed({ ...own, fence: own.fence + 1 }, "left_over", leftOver),
        yield* liar.sealed(own, "outcome", leftOver),
        yield* liar.sealed(own, "state", leftOver),
        yield* honest.sealed(own, "left_over", leftOver)
      ]) {
        yield* fails("sealed for something else", handedIn(liar, own, sealed))
      }
      // Hand-ins truncated at sampled lengths, or with a bit changed at sampled positions.
      for (let at = 0; at < whole.length; at += Math.ceil(whole.length / 40)) {
        yield* fails(`torn at ${at}`, handedIn(liar, own, whole.slice(0, at)))
        const changed = whole.slice()
        changed[at] = (changed[at] ?? 0) ^ 1
        yield* fails(`changed at ${at}`, handedIn(liar, own, changed))
      }
      yield* fails("with more behind it", handedIn(liar, own, new Uint8Array([...whole, 0])))
      // Contents that do not describe a left-over state.
      for (const contents of [
        "",
        "{}",
        "[",
        "null",
        "[".repeat(2_000_000),
        `${JSON.stringify(nothing)}${JSON.stringify(nothing)}`,
        JSON.stringify({ started: [], completed: [], possiblyCreated: [] }),
        JSON.stringify({ ...nothing, started: "x" }),
        JSON.stringify({ ...nothing, state: "not base64!" }),
        JSON.stringify({ ...nothing, stateProblem: "none that there is" })
      ]) {
        yield* fails(
          `without the form: ${contents.slice(0, 120)}`,
          handedIn(liar, own, yield* liar.sealed(own, "left_over", text(contents)))
        )
      }
      // Contents that exceed every limit.
      for (const form of [{}, { stated: 1000 * 1024 * 1024 }, { stated: 1024 }, { windowLog: 27 }]) {
        const bomb = yield* liar.sealedPacked(own, "left_over", zstdBomb(1000, form))
        yield* fails("a bomb", handedIn(liar, own, bomb))
      }
      // Valid contents below the limit of this kind, but far too large in proportion to their compressed size.
      const padded = zstdCompressSync(Buffer.concat([Buffer.alloc(100 * 1024 * 1024, " "), leftOver]))
      yield* fails(
        "contents out of proportion",
        handedIn(liar, own, yield* liar.sealedPacked(own, "left_over", padded))
      )
      const huge = yield* liar.send(own, "left_over", digest, new Uint8Array([1]), 0, 2 ** 40)
      expect(huge.status).toBe(413)
      expect(yield* added).toEqual(before)
      expect(attempts).toBeGreaterThan(100)

      // A hand-in from an agent that was revoked in the meantime.
      const later = yield* liar.sealed(own, "left_over", leftOver)
      yield* (yield* Agents).revoke(liar.agentId)
      yield* fails("revoked", handedIn(liar, own, later))
      expect(yield* added).toEqual(before)
    }),
  120_000
)

plane.live(
  "a repeated hand-in is stored once, and a Run accepts only a few different hand-ins",
  () =>
    Effect.gen(function* () {
      const { enrolled } = yield* world
      const agent = yield* enrolled()
      const claim = yield* lost(agent, "often")
      const sql = yield* SqlClient.SqlClient
      const leftOf = sql`SELECT id FROM left_over_states WHERE run_id = ${claim.runId}`
      const before = yield* leftOf
      const blob = yield* agent.put(claim, "left_over", text("{}"))
      yield* refused(handIn(agent, claim, blob), "Rejected")
      const first = yield* agent.leftOver(claim, { ...kept(3), serial: 99, lineage: "another", resourceCount: 7 })
      // The server derives everything about a state from its bytes and ignores the agent's report.
      expect(
        yield* sql`SELECT serial, lineage, resource_count FROM left_over_states WHERE run_id = ${claim.runId}`
      ).toEqual([{ serial: 3, lineage: "lineage", resource_count: 1 }])
      const evidence = sql<{ digest: string }>`SELECT digest FROM agent_evidence WHERE run_id = ${claim.runId}`
      const [stored] = yield* evidence
      // The server has removed the blob, but responds in the same way if the agent hands it in again.
      const again = yield* Effect.forEach(
        Array.from({ length: 20 }),
        () => handIn(agent, claim, stored?.digest ?? ""),
        { concurrency: "unbounded" }
      )
      expect(new Set(again.map(({ evidenceId }) => evidenceId))).toEqual(new Set([first.evidenceId]))
      expect(yield* evidence).toHaveLength(1)
      for (let serial = 4; serial < 3 + mostHandIns; serial += 1) yield* agent.leftOver(claim, kept(serial))
      for (let serial = 100; serial < 110; serial += 1) {
        yield* refused(agent.leftOver(claim, kept(serial)), "Rejected")
      }
      expect(yield* evidence).toHaveLength(mostHandIns)
      expect((yield* leftOf).length - before.length).toBe(mostHandIns)
    }),
  120_000
)
