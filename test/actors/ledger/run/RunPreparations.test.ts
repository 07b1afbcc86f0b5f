import { afterAll, expect } from "bun:test"
import { Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { transaction } from "../../../../actors/base/database/Transaction.ts"
import { holdOf } from "../../../../actors/ledger/run/RunHold.ts"
import { RunJournal } from "../../../../actors/ledger/run/RunJournal.ts"
import { RunLedger } from "../../../../actors/ledger/run/RunLedger.ts"
import { RunLifecycle } from "../../../../actors/ledger/run/RunLifecycle.ts"
import { type PreparationSchema, RunPreparations } from "../../../../actors/ledger/run/RunPreparations.ts"
import { newPerson, newWorkspace, testAccounts } from "../../../support/Accounts.ts"
import { suite } from "../../../support/Effect.ts"
import { heldRun } from "../../../support/HeldRuns.ts"
import { namedRun } from "../../../support/NamedIds.ts"

const tests = suite(
  Layer.mergeAll(RunLedger.layer, RunPreparations.layer).pipe(
    Layer.provideMerge(RunLifecycle.layer),
    Layer.provideMerge(RunJournal.layer),
    Layer.provideMerge(testAccounts)
  )
)
afterAll(tests.dispose)

const Note = Schema.Struct({ note: Schema.String })
const schema: PreparationSchema<typeof Note.Type> = { kind: "plan", json: Schema.fromJsonString(Note) }

/** Creates a running Run and returns the hold of its execution. */
const executing = Effect.fnUntraced(function* (id: string) {
  const owner = yield* newPerson(id)
  const { id: workspaceId } = yield* newWorkspace(owner.subject, { handle: id })
  yield* (yield* RunLedger).insert({ id: namedRun(id), workspaceId, type: "plan", trigger: "user", spec: {} })
  return yield* heldRun(namedRun(id))
})

const stored = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return yield* Effect.orDie(sql<{ run_id: string; fence: number }>`SELECT run_id, fence FROM run_preparations`)
})

tests.live("a preparation can be found by its hold and kind until the Run ends", () =>
  Effect.gen(function* () {
    const preparations = yield* RunPreparations
    const sql = yield* SqlClient.SqlClient
    const hold = yield* executing("found")
    expect(yield* preparations.load(hold, schema)).toEqual(Option.none())
    yield* preparations.save(hold, schema, { note: "ready" })
    expect(yield* preparations.load(hold, schema)).toEqual(Option.some({ note: "ready" }))
    expect(yield* preparations.load({ ...hold, fence: hold.fence - 1 }, schema)).toEqual(Option.none())
    expect(yield* preparations.load(hold, { ...schema, kind: "apply" })).toEqual(Option.none())
    yield* transaction(sql)((yield* RunLifecycle).succeed(hold, {}))
    expect(yield* stored).toEqual([])
  })
)

tests.live("a Run that returns to the queue is prepared again under its next hold", () =>
  Effect.gen(function* () {
    const preparations = yield* RunPreparations
    const sql = yield* SqlClient.SqlClient
    const lifecycle = yield* RunLifecycle
    const hold = yield* executing("again")
    yield* preparations.save(hold, schema, { note: "first" })
    yield* transaction(sql)(lifecycle.requeue(hold, "again", { counts: true }))
    expect(yield* stored).toEqual([])
    const claimed = (yield* lifecycle.claim(hold.runId, "inst_test#2")) ?? (yield* Effect.die("not queued"))
    const late = yield* Effect.flip(preparations.save(hold, schema, { note: "late" }))
    expect(late._tag).toBe("HoldLost")
    expect(yield* stored).toEqual([])
    yield* preparations.save(holdOf(claimed), schema, { note: "second" })
    expect(yield* preparations.load(holdOf(claimed), schema)).toEqual(Option.some({ note: "second" }))
    yield* transaction(sql)(lifecycle.succeed(holdOf(claimed), {}))
  })
)

tests.live("a Run is prepared only once under a hold, and a preparation made by another release is ignored", () =>
  Effect.gen(function* () {
    const preparations = yield* RunPreparations
    const sql = yield* SqlClient.SqlClient
    const hold = yield* executing("once")
    yield* preparations.save(hold, schema, { note: "first" })
    expect((yield* Effect.exit(preparations.save(hold, schema, { note: "second" })))._tag).toBe("Failure")
    expect(yield* preparations.load(hold, schema)).toEqual(Option.some({ note: "first" }))
    yield* sql`UPDATE run_preparations SET data = '{"remark":"other"}' WHERE run_id = ${hold.runId}`
    expect(yield* preparations.load(hold, schema)).toEqual(Option.none())
  })
)
