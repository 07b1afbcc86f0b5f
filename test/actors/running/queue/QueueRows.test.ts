import { afterAll, expect } from "bun:test"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as fc from "fast-check"
import { transaction } from "../../../../actors/base/database/Transaction.ts"
import { decide, type QueuedRun, type QueueLimits } from "../../../../actors/running/queue/QueueDecision.ts"
import { nearestInTurn, QueueRows } from "../../../../actors/running/queue/QueueRows.ts"
import { holdOf } from "../../../../actors/ledger/run/RunHold.ts"
import { RunLedger } from "../../../../actors/ledger/run/RunLedger.ts"
import { RunLifecycle } from "../../../../actors/ledger/run/RunLifecycle.ts"
import { RunQueue } from "../../../../actors/running/queue/RunQueue.ts"
import { RunRow } from "../../../../actors/ledger/run/RunRow.ts"
import type { RunType } from "../../../../schema/records/Run.ts"
import { newPerson, newWorkspace, testAccounts } from "../../../support/Accounts.ts"
import { suite } from "../../../support/Effect.ts"
import { setRun } from "../../../support/HeldRuns.ts"
import { namedRun, namedCapsule } from "../../../support/NamedIds.ts"
import { testQueue } from "./support/TestQueue.ts"

const settings = {
  concurrency: 3,
  workspaceConcurrency: 2,
  buildConcurrency: 2,
  workspaceBuildConcurrency: 1
}
const limits: QueueLimits = { runs: { places: 3, perWorkspace: 2 }, builds: { places: 2, perWorkspace: 1 } }

/** A new database with a queue. Only the rows are passed from one process to the next. */
const database = () => suite(testQueue(settings).pipe(Layer.provideMerge(testAccounts)))

const tests = database()
const crowded = database()
afterAll(async () => {
  await tests.dispose()
  await crowded.dispose()
})

const workspaces = Effect.forEach(["one", "two", "three", "four", "five"], (name) =>
  Effect.gen(function* () {
    const owner = yield* newPerson(`rows-${name}`)
    return (yield* newWorkspace(owner.subject, { handle: `rows-${name}` })).id
  })
)

/** Reads the whole queue without an index, to compute the decision from every row. */
const wholeQueue = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<RunRow & { readonly workspace_turn: number; readonly subject_turn: number }>`
    SELECT r.*,
      COALESCE((SELECT MAX(turn) FROM run_turns t WHERE t.slot_pool = r.slot_pool AND t.workspace_id = r.workspace_id), 0)
        AS workspace_turn,
      COALESCE((SELECT turn FROM run_turns t WHERE t.slot_pool = r.slot_pool AND t.workspace_id = r.workspace_id
        AND t.subject = COALESCE(r.created_by, '')), 0) AS subject_turn
    FROM runs r WHERE r.status = 'queued'`
  return rows.map(
    (row): QueuedRun => ({
      id: row.id,
      workspaceId: row.workspace_id,
      pool: row.slot_pool,
      subject: row.created_by ?? "",
      capsuleLine: row.capsule_line ?? undefined,
      comesLast: row.type === "drift_check" || row.purpose === "speculative",
      queuedAt: row.queued_at,
      workspaceTurn: row.workspace_turn,
      subjectTurn: row.subject_turn
    })
  )
})

const events = fc.array(
  fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({
        workspace: fc.nat(4),
        subject: fc.constantFrom("usr_1", "usr_2", undefined),
        capsule: fc.nat(3),
        isSpeculative: fc.boolean(),
        type: fc.constantFrom<RunType>("plan", "plan", "apply", "drift_check", "source_sync", "backup", "destroy_plan"),
        at: fc.nat(9)
      })
    },
    { weight: 3, arbitrary: fc.constant("claim" as const) },
    { weight: 2, arbitrary: fc.record({ ends: fc.nat(100) }) },
    { weight: 1, arbitrary: fc.record({ requeued: fc.nat(100) }) },
    { weight: 1, arbitrary: fc.record({ cancelled: fc.nat(100) }) }
  ),
  { minLength: 150, maxLength: 150 }
)

tests.live(
  "a decision based on a few rows results in the same claim and queue positions as a decision based on the whole queue",
  () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const ledger = yield* RunLedger
      const lifecycle = yield* RunLifecycle
      const queue = yield* RunQueue
      const rows = yield* QueueRows
      const ids = yield* workspaces
      const [story = []] = fc.sample(events, { seed: 20_261_122, numRuns: 1 })
      let counter = 0
      let claims = 0

      const anyOf = Effect.fnUntraced(function* (status: string, index: number) {
        const found = yield* RunRow.some(sql, "id")`SELECT id FROM runs WHERE status = ${status} ORDER BY id`
        return found[index % Math.max(1, found.length)]?.id
      })

      for (const event of story) {
        if (event === "claim") {
          const running = yield* rows.running
          const expected = decide({ limits, running, queued: yield* wholeQueue }).next
          const claimed = yield* queue.claim("owner")
          expect<string | undefined>(claimed?.id).toBe(expected?.id)
          if (claimed !== undefined) claims += 1
        } else if ("ends" in event) {
          const id = yield* anyOf("running", event.ends)
          const run = yield* ledger.find(id ?? null)
          if (run !== undefined) yield* transaction(sql)(lifecycle.succeed(holdOf(run), {}))
        } else if ("requeued" in event) {
          const id = yield* anyOf("running", event.requeued)
          const run = yield* ledger.find(id ?? null)
          if (run !== undefined) yield* transaction(sql)(lifecycle.requeue(holdOf(run), "again", { counts: true }))
        } else if ("cancelled" in event) {
          const id = yield* anyOf("queued", event.cancelled)
          const run = yield* ledger.find(id ?? null)
          if (run !== undefined) yield* transaction(sql)(lifecycle.withdraw(run, {}))
        } else {
          const workspaceId = ids[event.workspace] ?? (yield* Effect.die("no Workspace"))
          const id = namedRun((counter += 1))
          const capsuleId =
            event.type === "source_sync" ? undefined : namedCapsule(`${event.workspace}${event.capsule}`)
          yield* ledger.insert({
            id,
            workspaceId,
            type: event.type,
            capsuleId,
            createdBy: event.subject,
            purpose: event.type === "plan" && event.isSpeculative ? "speculative" : undefined,
            trigger: "user",
            spec: {}
          })
          // The arrival times include equal times, and times earlier than those of existing Runs.
          yield* setRun(id, { queued_at: `2026-01-01T00:00:0${event.at}.000Z` })
        }
        const whole = decide({ limits, running: yield* rows.running, queued: yield* wholeQueue })
        const queued = yield* sql<RunRow>`SELECT * FROM runs WHERE status = 'queued'`
        const places = yield* queue.places(queued)
        expect(places.size).toBe(queued.length)
        for (const [id, { message, ...place }] of places) {
          const { ...expected } = whole.places.get(id)
          expect({ id, ...place }).toEqual({ id, ...expected } as typeof place & { id: string })
          expect(message.length).toBeGreaterThan(10)
        }
      }
      expect(claims).toBeGreaterThan(20)
    }),
  120_000
)

crowded.live(
  "a claim reads only a few rows even in a queue of 100,000 Runs",
  () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const rows = yield* QueueRows
      const queue = yield* RunQueue
      const [one = "", two = "", three = ""] = yield* workspaces
      const at = "2026-01-01T00:00:00.000Z"
      const crowd = (workspaceId: string, first: number, count: number, capsule: string) => sql`
        WITH RECURSIVE n (i) AS (SELECT ${first} UNION ALL SELECT i + 1 FROM n WHERE i < ${first + count - 1})
        INSERT INTO runs (id, workspace_id, type, status, capsule_id, capsule_line, requires_approval, created_by,
          trigger_kind, attempt, spec, evidence, created_at, queued_at)
        SELECT printf('run_%020d', i), ${workspaceId}, 'plan', 'queued', ${sql.literal(capsule)}, ${sql.literal(capsule)}, 1,
          'usr_' || (i % 3), 'user', 0, '{}', '{}', ${at}, printf('2026-01-01T00:%02d:%02d.%03dZ', i / 60000, i / 1000 % 60, i % 1000)
        FROM n`
      // One Workspace has half of the Runs. They all wait for a single Capsule and were queued before the other Runs.
      // Another Workspace has one Capsule per Run.
      yield* crowd(one, 0, 50_000, `'${namedCapsule("one")}'`)
      yield* crowd(two, 50_000, 49_999, "printf('cap_%020d', i)")
      yield* crowd(three, 99_999, 1, `'${namedCapsule("three")}'`)

      const candidates = yield* rows.candidates({ limits, starts: "everything" })
      // One row for each person with a claimable Run: the three Workspaces have one, three and one such person.
      expect<ReadonlyArray<string>>(candidates.map(({ workspaceId }) => workspaceId).toSorted()).toEqual(
        [one, two, two, two, three].toSorted()
      )
      expect<string | undefined>((yield* queue.claim("owner"))?.workspace_id).toBe(one)
      expect<string | undefined>((yield* queue.claim("owner"))?.workspace_id).toBe(two)
      expect<string | undefined>((yield* queue.claim("owner"))?.workspace_id).toBe(three)

      // Each step uses an index that contains only claimable Runs, and no step scans `runs`.
      const plan = yield* sql<{
        detail: string
      }>`EXPLAIN QUERY PLAN ${nearestInTurn(sql, { limits, starts: "everything" })}`
      const looks = plan.map(({ detail }) => detail).filter((step) => /\bruns\b|\br\b/.test(step))
      expect(looks.length).toBeGreaterThan(6)
      expect(looks.filter((step) => !step.startsWith("SEARCH"))).toEqual([])
      expect(looks.filter((step) => /claimable/.test(step)).length).toBeGreaterThanOrEqual(6)
    }),
  120_000
)
