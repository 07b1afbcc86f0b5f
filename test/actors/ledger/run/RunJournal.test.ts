import { afterAll, expect } from "bun:test"
import { Deferred, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { transaction } from "../../../../actors/base/database/Transaction.ts"
import { RunJournal } from "../../../../actors/ledger/run/RunJournal.ts"
import { RunLedger } from "../../../../actors/ledger/run/RunLedger.ts"
import { RunLifecycle } from "../../../../actors/ledger/run/RunLifecycle.ts"
import { newPerson, newWorkspace, testAccounts } from "../../../support/Accounts.ts"
import { suite } from "../../../support/Effect.ts"
import { heldRun } from "../../../support/HeldRuns.ts"
import { namedRun } from "../../../support/NamedIds.ts"

const tests = suite(
  RunLedger.layer.pipe(
    Layer.provideMerge(RunLifecycle.layer),
    Layer.provideMerge(RunJournal.layer),
    Layer.provideMerge(testAccounts)
  )
)
afterAll(tests.dispose)

const created = { address: "a", action: "create" }

const newRun = Effect.fnUntraced(function* (name: string) {
  const owner = yield* newPerson(`run-${name}`)
  const { id } = yield* newWorkspace(owner.subject, { handle: `run-${name}` })
  yield* (yield* RunLedger).insert({ id: namedRun(name), workspaceId: id, type: "apply", trigger: "user", spec: {} })
  return yield* heldRun(namedRun(name))
})

const kinds = Effect.fnUntraced(function* (runId: string) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ seq: number; kind: string }>`
    SELECT seq, kind FROM run_events WHERE run_id = ${runId} AND kind NOT IN ('run.queued', 'run.started') ORDER BY seq`
  return rows.map(({ kind }) => kind)
})

tests.live("journal entries are written in the background, and waiting readers are then notified", () =>
  Effect.gen(function* () {
    const journal = yield* RunJournal
    const hold = yield* newRun("alone")
    const woken = yield* Deferred.make<void>()
    const stop = journal.listen(namedRun("alone"), () => Deferred.doneUnsafe(woken, Effect.void))
    yield* journal.note(hold, "resource.started", created)
    yield* journal.note(hold, "resource.completed", created)
    yield* Deferred.await(woken)
    stop()
    expect(yield* kinds(namedRun("alone"))).toEqual(["resource.started", "resource.completed"])
  })
)

tests.live("entries appended to the journal are never stored before entries that were recorded earlier", () =>
  Effect.gen(function* () {
    const journal = yield* RunJournal
    const sql = yield* SqlClient.SqlClient
    const hold = yield* newRun("order")
    yield* journal.note(hold, "resource.started", created)
    yield* journal.report(hold, "run.phase", { phase: "state" })
    yield* journal.note(hold, "resource.completed", created)
    yield* transaction(sql)(journal.append(namedRun("order"), "run.succeeded", {}))
    expect(yield* kinds(namedRun("order"))).toEqual([
      "resource.started",
      "run.phase",
      "resource.completed",
      "run.succeeded"
    ])
  })
)

tests.live("noted journal entries are written before their Run ends", () =>
  Effect.gen(function* () {
    const journal = yield* RunJournal
    const lifecycle = yield* RunLifecycle
    const sql = yield* SqlClient.SqlClient
    const hold = yield* newRun("end")
    yield* journal.note(hold, "resource.started", created)
    yield* journal.note(hold, "resource.failed", created)
    yield* transaction(sql)(lifecycle.fail(hold, { code: "plan_failed", message: "The plan failed." }))
    expect(yield* kinds(namedRun("end"))).toEqual(["resource.started", "resource.failed", "run.failed"])
  })
)

tests.live("a large batch of journal entries is written before its interval elapses", () =>
  Effect.gen(function* () {
    const journal = yield* RunJournal
    const hold = yield* newRun("many")
    yield* Effect.forEach(
      Array.from({ length: 256 }, (_, index) => index),
      (index) => journal.note(hold, "resource.progress", { address: `a[${index}]`, action: "create" }),
      { discard: true }
    )
    expect((yield* kinds(namedRun("many"))).length).toBe(256)
  })
)
