import { createHash, randomBytes } from "node:crypto"
import { afterAll, expect } from "bun:test"
import { Context, Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { AgentBlobs } from "../../../../actors/running/agent/AgentBlobs.ts"
import { AgentReports } from "../../../../actors/running/agent/AgentReports.ts"
import { AgentSettlement } from "../../../../actors/running/agent/AgentSettlement.ts"
import { InlineBlobs } from "../../../../actors/running/agent/InlineBlobs.ts"
import { Capsules } from "../../../../actors/commands/capsule/Capsules.ts"
import { DatabaseFile } from "../../../../actors/base/database/DatabaseFile.ts"
import { storageFull } from "../../../../schema/errors/StorageFull.ts"
import { AgentSessions } from "../../../../actors/running/agent-pool/AgentSessions.ts"
import { inlineFilesCapability } from "../../../../schema/agent/InlineFile.ts"
import { databaseName } from "../../../../src/database/DataFolder.ts"
import { restoreFrom } from "../../../../src/database/Restore.ts"
import { layerWriter } from "../../../../src/database/SqliteClient.ts"
import { temporaryFolder } from "../../../support/ControlPlane.ts"
import { suite } from "../../../support/Effect.ts"
import { settled } from "../../../support/Journey.ts"
import { noKeys } from "../../database/support/Keyrings.ts"
import type { TestAgent } from "../support/TestAgent.ts"
import {
  appliedResult,
  applyingOn,
  approvedApply,
  begun,
  farPlane,
  offerTo,
  planOn,
  stateFile,
  text,
  world
} from "../support/FarPlane.ts"

const plane = suite(farPlane)
afterAll(plane.dispose)

const succeeded = appliedResult(1, [{ name: "value", type: "string", value: Redacted.make("one"), sensitive: false }])

plane.live(
  "an offer contains its small sealed files if the agent accepts them, and other agents fetch the files",
  () =>
    Effect.gen(function* () {
      const { enrolled } = yield* world
      const agent = yield* enrolled({ capabilities: [inlineFilesCapability, "of-a-later-release"] })
      const id = yield* begun("carried")
      const first = yield* offerTo(agent)
      expect(first.offer.files).toBeUndefined()
      const planned = yield* planOn(agent, first.offer)
      yield* approvedApply(id)
      const { name, offer } = yield* offerTo(agent)
      // A repeated offer contains the files again, because the first response may have been lost.
      for (const { files = [] } of [offer, (yield* agent.next(name)).offer ?? offer]) {
        expect(files.map(({ digest, kind }) => ({ digest, kind }))).toEqual([
          { kind: "plan_file", digest: offer.planFile ?? "" }
        ])
        for (const { bytes, kind } of files) expect(yield* agent.openedFile(offer, kind, bytes)).toEqual(planned)
      }
      yield* agent.as(agent.client.Accept(offer))
      // The agent can also fetch the file.
      expect(yield* agent.fetched(offer, "plan_file", offer.planFile ?? "")).toEqual(planned)
    }),
  120_000
)

plane.live(
  "a result with its files is stored once and settles its Run, and a checkpoint saves its state",
  () =>
    Effect.gen(function* () {
      const { enrolled } = yield* world
      const agent = yield* enrolled()
      const { claim } = yield* applyingOn(agent, "carries")
      const state = yield* agent.inlineFile(claim, "state", stateFile(1))
      const checkpoint = { ...claim, serial: 1, resourceCount: 1, blob: state.digest, files: [state] }
      for (const _ of [1, 2]) yield* agent.as(agent.client.Checkpoint(checkpoint))
      const sql = yield* SqlClient.SqlClient
      expect(yield* sql`SELECT checkpoint_serial FROM agent_runs WHERE run_id = ${claim.runId}`).toEqual([
        { checkpoint_serial: 1 }
      ])
      const outcome = yield* agent.inlineFile(claim, "outcome", yield* agent.outcomeOf(succeeded))
      const at = new Date().toISOString()
      const line = { kind: "line" as const, at, phase: "apply" as const, stream: "stdout" as const, text: "said last" }
      const result = {
        ...claim,
        lastBatch: 1,
        lastReport: { number: 1, entries: [line] },
        outcome: outcome.digest,
        state: state.digest,
        files: [outcome, state]
      }
      for (const _ of [1, 2]) yield* agent.as(agent.client.Result(result))
      expect((yield* settled(claim.runId)).status).toBe("succeeded")
      const logs = yield* sql<{ entries: string }>`SELECT entries FROM run_log_chunks WHERE run_id = ${claim.runId}`
      expect(logs.filter(({ entries }) => entries.includes("said last")).length).toBe(1)
      // The Run was settled before the agent received a response, so the agent sends the result again.
      yield* agent.as(agent.client.Result(result))
    }),
  120_000
)

/** Returns the result of an apply and its two files, as the agent sent them and as svc stored them. */
const resultOf = Effect.fnUntraced(function* (agent: TestAgent, branch: string, bytes = stateFile(1)) {
  const { capsuleId, claim } = yield* applyingOn(agent, branch)
  const outcome = yield* agent.inlineFile(claim, "outcome", yield* agent.outcomeOf(succeeded))
  const state = yield* agent.inlineFile(claim, "state", bytes)
  const session = yield* (yield* AgentSessions).of(yield* agent.token)
  const reports = yield* AgentReports
  const sql = yield* SqlClient.SqlClient
  const named = { ...claim, lastBatch: 0, outcome: outcome.digest, state: state.digest }
  return {
    capsuleId,
    claim,
    named,
    state,
    files: [outcome, state],
    take: (result: Parameters<typeof reports.result>[1]) => reports.result(session, result),
    stored: Effect.map(
      sql<{ kind: string }>`SELECT kind FROM agent_carried_files WHERE run_id = ${claim.runId} ORDER BY kind`,
      (rows) => rows.map(({ kind }) => kind)
    )
  }
})

plane.live(
  "the files of a result are stored and removed together with the result, so another process can settle the Run",
  () =>
    Effect.gen(function* () {
      const agent = yield* (yield* world).enrolled()
      const { claim, files, named, state, stored, take } = yield* resultOf(agent, "stored")
      // svc keeps no file of a rejected result, so it also rejects a repetition of the message without files.
      expect(yield* Effect.flip(take({ ...named, files, lastBatch: 1 }))).toMatchObject({ _tag: "Busy" })
      expect(yield* stored).toEqual([])
      expect(yield* Effect.flip(take(named))).toMatchObject({ _tag: "Rejected" })
      yield* take({ ...named, files })
      expect(yield* stored).toEqual(["outcome", "state"])
      // After waiting this long for a response, the agent sends each file separately.
      const { bytes, digest } = state
      expect(yield* agent.send(claim, "state", digest, bytes, 0, bytes.length)).toMatchObject({ status: 200 })
      const another = Context.get(yield* Layer.build(Layer.fresh(InlineBlobs.layer)), InlineBlobs)
      const opened = yield* another.open(agent.agentId, claim, "state", digest)
      expect(Redacted.value(opened)).toEqual(stateFile(1))
      yield* (yield* AgentSettlement).resume
      expect((yield* settled(claim.runId)).status).toBe("succeeded")
      yield* (yield* AgentSettlement).idle
      expect(yield* stored).toEqual([])
    }).pipe(Effect.scoped),
  120_000
)

plane.live(
  "a result is not accepted on a full disk, and is accepted once there is space",
  () =>
    Effect.gen(function* () {
      const agent = yield* (yield* world).enrolled()
      // The result does not fit into the remaining free pages.
      const long = {
        ...JSON.parse(new TextDecoder().decode(stateFile(1))),
        padding: randomBytes(200_000).toString("hex")
      }
      const { claim, files, named, stored, take } = yield* resultOf(agent, "full", text(JSON.stringify(long)))
      const sql = yield* SqlClient.SqlClient
      yield* sql.unsafe("PRAGMA max_page_count=1")
      const refused = yield* Effect.flip(take({ ...named, files })).pipe(
        Effect.ensuring(Effect.orDie(sql.unsafe("PRAGMA max_page_count=1073741823")))
      )
      expect(refused).toMatchObject({ _tag: "Busy", message: storageFull.message })
      expect(yield* stored).toEqual([])
      yield* agent.as(agent.client.Result({ ...named, files }))
      expect((yield* settled(claim.runId)).status).toBe("succeeded")
    }),
  120_000
)

plane.live(
  "after a restore, svc settles an apply from its stored result, but does not make a plan reviewable",
  () =>
    Effect.gen(function* () {
      const agent = yield* (yield* world).enrolled()
      const apply = yield* resultOf(agent, "restored")
      yield* apply.take({ ...apply.named, files: apply.files })
      const { offer } = yield* Effect.andThen(begun("unreviewed"), offerTo(agent))
      yield* agent.as(agent.client.Accept(offer))
      const sql = yield* SqlClient.SqlClient
      const { bytes, digest } = apply.state
      yield* sql`INSERT INTO agent_carried_files ${sql.insert({ run_id: offer.runId, fence: offer.fence, kind: "outcome", digest, bytes })}`
      const folder = yield* temporaryFolder
      yield* (yield* DatabaseFile).backup(`${folder}/copy.sqlite`)
      yield* restoreFrom(`${folder}/copy.sqlite`, `${folder}/restored`, { keys: noKeys, acceptUnauthenticated: true })
      const restored = yield* Effect.gen(function* () {
        const there = yield* SqlClient.SqlClient
        const rows = yield* there<{ run_id: string; kind: string; status: string }>`SELECT c.run_id, c.kind, r.status
          FROM agent_carried_files c JOIN runs r ON r.id = c.run_id
          WHERE c.run_id IN (${apply.claim.runId}, ${offer.runId}) ORDER BY c.kind`
        return rows
      }).pipe(Effect.provide(Layer.fresh(layerWriter(`${folder}/restored/${databaseName}`))))
      const { runId } = apply.claim
      expect(restored).toEqual([
        { run_id: runId, kind: "outcome", status: "running" },
        { run_id: runId, kind: "state", status: "running" }
      ])
      yield* (yield* AgentSettlement).resume
      expect((yield* settled(runId)).status).toBe("succeeded")
    }).pipe(Effect.scoped),
  120_000
)

/**
 * Settles an apply after part of its result has been lost, and checks that its effects are uncertain and the Capsule has the
 * newest state.
 */
const settledPartly = Effect.fnUntraced(function* (
  runId: Parameters<typeof settled>[0],
  capsuleId: Parameters<Capsules["Service"]["read"]>[0]
) {
  yield* (yield* AgentSettlement).resume
  const run = yield* settled(runId)
  expect(run).toMatchObject({
    status: "failed",
    error: { code: "apply_interrupted", message: expect.stringContaining("something is lost") }
  })
  expect(yield* (yield* Capsules).read(capsuleId)).toMatchObject({
    status: "error",
    runtimeSafety: "unknown",
    currentStateGeneration: 1
  })
  return run
})

plane.live(
  "an apply whose outcome file is missing from every backup is settled from the state in the database",
  () =>
    Effect.gen(function* () {
      const agent = yield* (yield* world).enrolled()
      const { capsuleId, claim, files, named, stored, take } = yield* resultOf(agent, "outcome-lost")
      const outcome = yield* agent.put(claim, "outcome", yield* agent.outcomeOf(succeeded))
      yield* take({ ...named, outcome, files: files.filter(({ kind }) => kind === "state") })
      expect(yield* stored).toEqual(["state"])
      yield* (yield* AgentBlobs).remove(claim, "outcome", outcome)
      yield* settledPartly(claim.runId, capsuleId)
    }),
  120_000
)

plane.live(
  "an apply whose state file is missing from every backup is settled from its checkpoint and outcome",
  () =>
    Effect.gen(function* () {
      const agent = yield* (yield* world).enrolled()
      const { capsuleId, claim, named, stored, take } = yield* resultOf(agent, "state-lost")
      const created = { ...succeeded.outcome, possiblyCreated: ["terraform_data.lost"] }
      const outcome = yield* agent.inlineFile(
        claim,
        "outcome",
        yield* agent.outcomeOf({ ...succeeded, outcome: created })
      )
      const saved = yield* agent.inlineFile(claim, "state", stateFile(1))
      yield* agent.as(
        agent.client.Checkpoint({ ...claim, serial: 1, resourceCount: 1, blob: saved.digest, files: [saved] })
      )
      const state = yield* agent.put(claim, "state", stateFile(1))
      yield* take({ ...named, outcome: outcome.digest, state, files: [outcome] })
      expect(yield* stored).toEqual(["outcome"])
      yield* (yield* AgentBlobs).remove(claim, "state", state)
      const run = yield* settledPartly(claim.runId, capsuleId)
      expect(run.possiblyCreated).toEqual(["terraform_data.lost"])
    }),
  120_000
)

plane.live(
  "a state that expands to a large size is opened only where it is needed",
  () =>
    Effect.gen(function* () {
      const { enrolled } = yield* world
      const agent = yield* enrolled()
      const { claim } = yield* applyingOn(agent, "unpacks")
      const long = new TextEncoder().encode(`${new TextDecoder().decode(stateFile(1))}${" ".repeat(2 * 1024 * 1024)}`)
      const state = yield* agent.inlineFile(claim, "state", long)
      yield* agent.as(
        agent.client.Checkpoint({ ...claim, serial: 1, resourceCount: 1, blob: state.digest, files: [state] })
      )
      const sql = yield* SqlClient.SqlClient
      expect(yield* sql`SELECT checkpoint_serial FROM agent_runs WHERE run_id = ${claim.runId}`).toEqual([
        { checkpoint_serial: 1 }
      ])
    }),
  120_000
)

plane.live(
  "if a message contains a file, it completes an interrupted separate upload of that file",
  () =>
    Effect.gen(function* () {
      const { enrolled } = yield* world
      const agent = yield* enrolled()
      const { claim } = yield* applyingOn(agent, "both")
      const state = yield* agent.inlineFile(claim, "state", stateFile(1))
      const { bytes, digest } = state
      yield* agent.send(claim, "state", digest, bytes.subarray(0, 100), 0, bytes.length)
      yield* agent.as(agent.client.Checkpoint({ ...claim, serial: 1, resourceCount: 1, blob: digest, files: [state] }))
      const sql = yield* SqlClient.SqlClient
      expect(yield* sql`SELECT checkpoint_serial FROM agent_runs WHERE run_id = ${claim.runId}`).toEqual([
        { checkpoint_serial: 1 }
      ])
    }),
  120_000
)

plane.live(
  "a file in a message is rejected if it does not match its digest, even if another file has that digest",
  () =>
    Effect.gen(function* () {
      const { enrolled } = yield* world
      const agent = yield* enrolled()
      const { claim } = yield* applyingOn(agent, "mislabelled")
      const state = yield* agent.inlineFile(claim, "state", stateFile(1))
      const garbage = new TextEncoder().encode("no sealed file")
      const digest = `sha256:${createHash("sha256").update(garbage).digest("hex")}`
      yield* agent.send(claim, "state", digest, garbage, 0, garbage.length)
      const checkpoint = { ...claim, serial: 1, resourceCount: 1, blob: digest, files: [{ ...state, digest }] }
      expect(yield* Effect.flip(agent.as(agent.client.Checkpoint(checkpoint)))).toMatchObject({ _tag: "Rejected" })
      const sql = yield* SqlClient.SqlClient
      expect(yield* sql`SELECT checkpoint_serial FROM agent_runs WHERE run_id = ${claim.runId}`).toEqual([
        { checkpoint_serial: null }
      ])
    }),
  120_000
)
