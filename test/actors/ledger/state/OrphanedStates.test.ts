import { afterAll, describe, expect, setDefaultTimeout } from "bun:test"
import { Effect, Option, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { CapsuleOrphanedStates } from "../../../../actors/commands/capsule/CapsuleOrphanedStates.ts"
import { transaction } from "../../../../actors/base/database/Transaction.ts"
import { RunLedger } from "../../../../actors/ledger/run/RunLedger.ts"
import { OrphanedStates } from "../../../../actors/ledger/state/OrphanedStates.ts"
import { RunCheckpoints } from "../../../../actors/ledger/state/RunCheckpoints.ts"
import { sha256 } from "../../../../runner/execution/Digest.ts"
import { suite } from "../../../support/Effect.ts"
import { TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { pureModules, pureRunner } from "../../support/PureRunner.ts"
import { adopt, withOrphanedState } from "../../support/OrphanedStateDecisions.ts"

setDefaultTimeout(60_000)

const tests = suite(testPlane({ runner: pureRunner(pureModules()) }))
afterAll(tests.dispose)

tests.live("svc rejects reading a left-over state inside a transaction, because every writer would have to wait", () =>
  Effect.gen(function* () {
    const leftOvers = yield* OrphanedStates
    const state = Redacted.make(new TextEncoder().encode('{"version":4,"serial":3,"lineage":"l"}'))
    expect(yield* leftOvers.read(state)).toMatchObject({
      digest: sha256(Redacted.value(state)),
      scanned: { serial: 3 }
    })
    const exit = yield* Effect.exit(transaction(yield* SqlClient.SqlClient)(leftOvers.read(state)))
    expect(String(exit)).toContain("A left-over state is read inside a database transaction")
  })
)

describe("Left-over checkpoints", () => {
  tests.live(
    "a left-over checkpoint is imported once if its Capsule has not changed since the apply that wrote it, and a running Run keeps its checkpoint",
    () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const leftOvers = yield* OrphanedStates
        const { bytes, capsuleId, record } = yield* withOrphanedState("taken-over")
        const { workspaceId } = yield* TestPlane
        const run = (yield* (yield* RunLedger).find(record.runId)) ?? (yield* Effect.die("no Run"))
        yield* sql`DELETE FROM left_over_states WHERE id = ${record.id}`
        yield* sql`UPDATE runs SET status = 'running', owner = 'inst_test#1', base_state_generation = 1,
        execution_authority_epoch = 1 WHERE id = ${run.id}`
        const hold = { runId: run.id, owner: "inst_test#1", fence: run.fence }
        yield* (yield* RunCheckpoints).save(hold, workspaceId, Redacted.make(bytes))
        const kept = yield* sql`SELECT * FROM run_checkpoints`
        yield* leftOvers.takeOver
        expect(yield* sql`SELECT * FROM run_checkpoints`).toEqual(kept)
        yield* sql`UPDATE runs SET status = 'failed', owner = NULL WHERE id = ${run.id}`
        yield* leftOvers.takeOver
        expect(yield* sql`SELECT * FROM run_checkpoints`).toEqual([])
        const taken = yield* (yield* CapsuleOrphanedStates).read(capsuleId, record.id)
        expect(taken).toEqual({ ...record, reason: "unknown", createdAt: taken.createdAt })
        yield* leftOvers.takeOver
        const row = (yield* leftOvers.find(record.id)) ?? (yield* Effect.die("no left-over state"))
        expect(Option.map(yield* leftOvers.open(row), Redacted.value)).toEqual(Option.some(bytes))
        expect((yield* adopt(capsuleId, record.id)).value.stateVersion.adoptedFrom).toBe(record.id)
      })
  )

  tests.live(
    "a left-over checkpoint that cannot be decrypted stays in its folder and does not block other checkpoints",
    () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const leftOvers = yield* OrphanedStates
        const broken = yield* withOrphanedState("broken-checkpoint")
        yield* sql`INSERT INTO run_checkpoints (run_id, state, saved_at)
        SELECT run_id, state, created_at FROM left_over_states WHERE id = ${broken.record.id}`
        yield* sql`DELETE FROM left_over_states WHERE id = ${broken.record.id}`
        yield* leftOvers.takeOver
        expect(yield* sql`SELECT run_id FROM run_checkpoints`).toEqual([{ run_id: broken.record.runId }])
        expect(yield* leftOvers.find(broken.record.id)).toBeUndefined()
        yield* sql`DELETE FROM run_checkpoints`
      })
  )
})
