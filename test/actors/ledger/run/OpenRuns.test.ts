import { afterAll, expect } from "bun:test"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { openInLine, RunLedger } from "../../../../actors/ledger/run/RunLedger.ts"
import { capsuleExclusiveTypes, RunStatus, RunType } from "../../../../schema/records/Run.ts"
import { newPerson, newWorkspace, testAccounts } from "../../../support/Accounts.ts"
import { suite } from "../../../support/Effect.ts"
import { setRun } from "../../../support/HeldRuns.ts"
import { namedCapsule, namedRun } from "../../../support/NamedIds.ts"
import { testQueue } from "../../running/queue/support/TestQueue.ts"

const settings = { concurrency: 3, workspaceConcurrency: 2, buildConcurrency: 2, workspaceBuildConcurrency: 1 }
const tests = suite(testQueue(settings).pipe(Layer.provideMerge(testAccounts)))
afterAll(tests.dispose)

interface Found {
  readonly id: string
}

tests.live("open Runs are a Capsule's queued and running Runs of exclusive types", () =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const ledger = yield* RunLedger
    const { subject } = yield* newPerson("open-runs")
    const workspaceId = (yield* newWorkspace(subject, { handle: "open-runs" })).id
    const expected: Array<string> = []
    for (const [at, capsule] of ["one", "two"].entries()) {
      for (const [first, type] of RunType.literals.entries()) {
        for (const [second, status] of RunStatus.literals.entries()) {
          const id = namedRun((at * 100 + first) * 100 + second)
          const capsuleId = namedCapsule(capsule)
          yield* ledger.insert({ id, workspaceId, type, capsuleId, createdBy: subject, trigger: "user", spec: {} })
          yield* setRun(id, { status })
          const isOpen = status === "queued" || status === "running"
          if (capsule === "one" && isOpen && capsuleExclusiveTypes.includes(type)) expected.push(id)
        }
      }
    }
    const open = openInLine(sql, namedCapsule("one"))
    const found = yield* sql<Found>`SELECT id FROM runs WHERE ${open} ORDER BY id`
    expect(expected.length).toBe(2 * capsuleExclusiveTypes.length)
    expect(found.map(({ id }) => id)).toEqual(expected.toSorted())

    // The query must neither scan `runs` nor read the Capsule's finished Runs.
    const plan = yield* sql<{ readonly detail: string }>`EXPLAIN QUERY PLAN SELECT * FROM runs WHERE ${open}`
    const steps = plan.map(({ detail }) => detail).filter((step) => /\bruns\b/.test(step))
    expect(steps.filter((step) => /runs_line_(?:queued|running|first)|autoindex_runs/.test(step))).toEqual(steps)
  })
)
