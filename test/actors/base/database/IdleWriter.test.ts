import { afterAll, describe, expect } from "bun:test"
import { Effect, Layer } from "effect"
import { Commits } from "../../../../actors/base/database/Commits.ts"
import { Nodes } from "../../../../actors/base/node/Nodes.ts"
import { DeferredFollows } from "../../../../actors/commands/capsule/DeferredFollows.ts"
import { DriftSchedule } from "../../../../actors/commands/capsule/DriftSchedule.ts"
import { SourceSchedule } from "../../../../actors/commands/source/SourceSchedule.ts"
import { TokenRenewals } from "../../../../actors/inputs/connection/TokenRenewals.ts"
import { RunJournal } from "../../../../actors/ledger/run/RunJournal.ts"
import { RunLedger } from "../../../../actors/ledger/run/RunLedger.ts"
import { RunLifecycle } from "../../../../actors/ledger/run/RunLifecycle.ts"
import { LogEntriesJson, RunLogChunkRow, RunLogs } from "../../../../actors/ledger/run/RunLogs.ts"
import { defaultRunSettings, RunSettings } from "../../../../actors/ledger/run/RunSettings.ts"
import { RunQueue } from "../../../../actors/running/queue/RunQueue.ts"
import { RunGroups } from "../../../../actors/running/run-group/RunGroups.ts"
import { expirePlans } from "../../../../actors/upkeep/cleanup/BackgroundCleanup.ts"
import { SqlClient } from "effect/sql"
import { newPerson, newWorkspace, testAccounts } from "../../../support/Accounts.ts"
import { suite } from "../../../support/Effect.ts"
import { heldRun } from "../../../support/HeldRuns.ts"
import { active } from "../../../support/Journey.ts"
import { namedRun } from "../../../support/NamedIds.ts"
import { nothingDue } from "../../../support/NothingDue.ts"
import { hasPostgres } from "../../../support/PostgresTests.ts"
import { testPlane } from "../../../support/TestPlane.ts"
import { pureModule, pureModules, pureRunner } from "../../support/PureRunner.ts"

/** Number of statements on the only connection that takes the write lock. In PostgreSQL, reads use other connections. */
const locked = Effect.fnUntraced(function* <A, E, R>(work: Effect.Effect<A, E, R>) {
  let statements = 0
  const stop = (yield* Commits).beforeWrites(() => {
    statements += 1
  })
  yield* work
  stop()
  return statements
})

const plane = suite(testPlane({ runner: pureRunner(pureModules()) }))
afterAll(plane.dispose)

describe.skipIf(!hasPostgres)("The write lock", () => {
  plane.live("work that finds nothing due takes no lock", () =>
    Effect.gen(function* () {
      yield* active("idle", pureModule)
      yield* nothingDue
      const works: ReadonlyArray<readonly [string, Effect.Effect<unknown>]> = [
        ["a claim", (yield* RunQueue).claim("idle")],
        ["syncs", (yield* SourceSchedule).syncDue],
        ["lanes", (yield* DeferredFollows).followAll],
        ["drift checks", (yield* DriftSchedule).checkDue],
        ["updates", (yield* RunGroups).advanceAll],
        ["revocations", (yield* TokenRenewals).revokeEnded],
        ["a beat", (yield* Nodes).turn]
      ]
      const sql = yield* SqlClient.SqlClient
      const taken = new Map<string, number>([["plans", yield* locked(expirePlans)]])
      for (const [name, work] of works) taken.set(name, yield* locked(work))
      expect(Object.fromEntries(taken)).toEqual(Object.fromEntries([...taken.keys()].map((name) => [name, 0])))
      expect(yield* locked(sql`UPDATE capsules SET name = name`)).toBeGreaterThan(0)
    })
  )
})

const logs = suite(
  Layer.mergeAll(RunLedger.layer, RunLogs.layer).pipe(
    Layer.provideMerge(RunLifecycle.layer),
    Layer.provideMerge(RunJournal.layer),
    Layer.provide(Layer.succeed(RunSettings, { ...defaultRunSettings, runsFolder: "/nowhere" })),
    Layer.provideMerge(testAccounts)
  )
)
afterAll(logs.dispose)

describe.skipIf(!hasPostgres)("Lines of Runs", () => {
  logs.live("lines are stored without the write lock, in order and only under the Run's hold", () =>
    Effect.gen(function* () {
      const owner = yield* newPerson("lines")
      const { id: workspaceId } = yield* newWorkspace(owner.subject, { handle: "lines" })
      const runId = namedRun("lines")
      yield* (yield* RunLedger).insert({ id: runId, workspaceId, type: "apply", trigger: "user", spec: {} })
      const hold = yield* heldRun(runId)
      const runLogs = yield* RunLogs
      const at = "2026-01-01T00:00:00.000Z"
      const line = (text: string) => ({ at, phase: "apply", stream: "stdout", text }) as const
      const taken = yield* locked(
        Effect.gen(function* () {
          yield* runLogs.receive(hold, 1, [line("one"), line("two")])
          yield* runLogs.receive(hold, 1, [line("one"), line("two")])
          yield* Effect.scoped(
            Effect.gen(function* () {
              const log = yield* runLogs.open(hold)
              yield* log.write("apply", "stdout", "three")
              yield* log.flush
            })
          )
        })
      )
      expect(taken).toBe(0)
      const sql = yield* SqlClient.SqlClient
      const chunks = yield* RunLogChunkRow.rows(sql)`SELECT * FROM run_log_chunks ORDER BY first_seq`
      const entries = chunks.flatMap((chunk) => LogEntriesJson.read(chunk.entries))
      expect(entries.map(({ seq, text }) => [seq, text])).toEqual([
        [1, "one"],
        [2, "two"],
        [3, "three"]
      ])
      const late = yield* Effect.result(runLogs.receive({ ...hold, fence: hold.fence + 1 }, 1, [line("four")]))
      expect(late._tag).toBe("Failure")
    })
  )
})
