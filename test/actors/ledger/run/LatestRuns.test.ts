import { afterAll, expect } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { transaction } from "../../../../actors/base/database/Transaction.ts"
import { RunLedger } from "../../../../actors/ledger/run/RunLedger.ts"
import { Runs } from "../../../../actors/ledger/run/Runs.ts"
import { CapsuleId, WorkspaceId, RunId } from "../../../../schema/records/Ids.ts"
import type { RunStatus, RunType } from "../../../../schema/records/Run.ts"
import { suite } from "../../../support/Effect.ts"
import { TestPlane, testPlane } from "../../../support/TestPlane.ts"

const tests = suite(testPlane())
afterAll(tests.dispose)

const capsuleOf = (letter: string) => CapsuleId.make(`cap_${letter.repeat(24)}`)
const timeOf = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString()

/** A finished Run, created the given number of minutes into the year. */
const ended = Effect.fnUntraced(function* (
  capsuleId: CapsuleId,
  minute: number,
  run: { readonly id?: RunId; readonly type?: RunType; readonly status?: RunStatus } = {}
) {
  const sql = yield* SqlClient.SqlClient
  const ledger = yield* RunLedger
  const { workspaceId } = yield* TestPlane
  const id = run.id ?? RunId.make(`run_${capsuleId.slice(4, 5)}${String(minute).padStart(20, "0")}`)
  // Uses a transaction, so that the service does not start the Run.
  yield* Effect.gen(function* () {
    yield* ledger.insert({ id, workspaceId, type: run.type ?? "plan", capsuleId, trigger: "user", spec: {} })
    yield* sql`UPDATE runs SET status = ${run.status ?? "succeeded"}, created_at = ${timeOf(minute)} WHERE id = ${id}`
  }).pipe(transaction(sql))
  return id
})

tests.live("the query finds a Capsule's newest Run even if other Capsules have many later Runs", () =>
  Effect.gen(function* () {
    const runs = yield* Runs
    const { workspaceId } = yield* TestPlane
    const [quiet, busy, never] = [capsuleOf("a"), capsuleOf("b"), capsuleOf("c")]
    yield* ended(quiet, 0)
    const old = yield* ended(quiet, 1, { type: "drift_check", status: "failed" })
    const newest = yield* Effect.forEach(Array.from({ length: 120 }), (_, index) => ended(busy, index + 2))
    const { items } = yield* runs.list(workspaceId, {}, { limit: 100 })
    expect(items.some(({ capsuleId }) => capsuleId === quiet)).toBe(false)
    const latest = yield* runs.latest(workspaceId, [busy, never, quiet])
    expect(latest.toSorted((one, other) => one.capsuleId.localeCompare(other.capsuleId))).toEqual([
      expect.objectContaining({
        capsuleId: quiet,
        runId: old,
        type: "drift_check",
        status: "failed",
        createdAt: timeOf(1)
      }),
      expect.objectContaining({ capsuleId: busy, runId: newest.at(-1), type: "plan", status: "succeeded" })
    ])
  })
)

tests.live(
  "if two Runs were created at the same time, the one that lists show first counts as the latest, and Runs of other Workspaces are ignored",
  () =>
    Effect.gen(function* () {
      const runs = yield* Runs
      const { workspaceId } = yield* TestPlane
      const twins = capsuleOf("d")
      yield* ended(twins, 5, { id: RunId.make("run_twin0000000000000001") })
      yield* ended(twins, 5, { id: RunId.make("run_twin0000000000000002") })
      const [listed] = (yield* runs.list(workspaceId, { capsuleId: twins }, { limit: 1 })).items
      expect((yield* runs.latest(workspaceId, [twins])).map(({ runId }) => runId)).toEqual(
        listed === undefined ? [] : [listed.id]
      )
      expect(yield* runs.latest(WorkspaceId.make(`ws_${"z".repeat(24)}`), [twins])).toEqual([])
    })
)

tests.live("every query for latest Runs uses the index and scans no table", () =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const plan = yield* sql<{ detail: string }>`EXPLAIN QUERY PLAN SELECT r.id FROM json_each(${"[]"}) AS wanted
      JOIN runs r ON r.id = (SELECT id FROM runs WHERE capsule_id = wanted.value ORDER BY created_at DESC, id DESC LIMIT 1)`
    const steps = plan.map(({ detail }) => detail)
    expect(steps.filter((step) => /\bSCAN (?:r|runs)\b/.test(step))).toEqual([])
    expect(steps.some((step) => step.includes("runs_by_capsule"))).toBe(true)
  })
)
