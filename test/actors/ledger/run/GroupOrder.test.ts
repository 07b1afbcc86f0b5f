import { afterAll, expect } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { transaction } from "../../../../actors/base/database/Transaction.ts"
import { readGroup } from "../../../../actors/running/run-group/GroupProjection.ts"
import { RunLedger } from "../../../../actors/ledger/run/RunLedger.ts"
import { RunGroupId, RunId } from "../../../../schema/records/Ids.ts"
import { suite } from "../../../support/Effect.ts"
import { TestPlane, testPlane } from "../../../support/TestPlane.ts"

const tests = suite(testPlane())
afterAll(tests.dispose)

const groupId = RunGroupId.make(`rgrp_${"a".repeat(24)}`)
// The ids, in reverse alphabetical order.
const ids = ["c", "b", "a"].map((letter) => RunId.make(`run_${letter.repeat(24)}`))

tests.live("Runs created together in a group keep their order, in lists and in the queue", () =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const ledger = yield* RunLedger
    const { workspaceId } = yield* TestPlane
    // Uses a single transaction, so that the service does not start any of the Runs before all of them exist.
    const queued = yield* Effect.gen(function* () {
      for (const id of ids) {
        yield* ledger.insert({ id, workspaceId, type: "drift_check", runGroupId: groupId, trigger: "user", spec: {} })
      }
      const waiting = yield* sql`SELECT id FROM runs WHERE status = 'queued' ORDER BY queued_at, id`
      yield* sql`UPDATE runs SET status = 'succeeded' WHERE run_group_id = ${groupId}`
      yield* sql`INSERT INTO run_groups ${sql.insert({
        id: groupId,
        workspace_id: workspaceId,
        type: "drift_check",
        created_at: "2026-01-01T00:00:00.000Z"
      })}`
      return waiting.map(({ id }) => id)
    }).pipe(transaction(sql), Effect.provide(TestClock.layer()))
    expect(queued).toEqual(ids)
    expect((yield* readGroup(groupId)).runs.map(({ id }) => id)).toEqual(ids)
  })
)
