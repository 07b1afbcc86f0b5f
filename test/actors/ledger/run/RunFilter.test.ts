import { afterAll, expect } from "bun:test"
import { SqlClient } from "effect/sql"
import { Effect } from "effect"
import { ReadSql } from "../../../../actors/base/database/ReadSql.ts"
import { standsForChange } from "../../../../actors/ledger/run/RunChanges.ts"
import { countedConditions, matching, type RunFilter } from "../../../../actors/ledger/run/RunFilter.ts"
import { Runs } from "../../../../actors/ledger/run/Runs.ts"
import { newPerson, newWorkspace } from "../../../support/Accounts.ts"
import { suite } from "../../../support/Effect.ts"
import { namedCapsule, namedRun, namedSnapshot } from "../../../support/NamedIds.ts"
import { testPlane } from "../../../support/TestPlane.ts"
import { endedRun, minute, recordsOfRuns } from "./support/ListedRuns.ts"

const tests = suite(testPlane())
afterAll(tests.dispose)

const payments = namedCapsule("payments")
const orders = namedCapsule("orders")

/** Sets up two Workspaces whose Runs are similar. */
const world = Effect.gen(function* () {
  const [own, other] = yield* Effect.forEach(["aiko", "ken"], (name) =>
    Effect.gen(function* () {
      const { subject } = yield* newPerson(name)
      return { subject, workspaceId: (yield* newWorkspace(subject, { handle: name })).id }
    })
  )
  if (own === undefined || other === undefined) return yield* Effect.die("no Workspace")
  yield* recordsOfRuns(own.workspaceId, {
    source: "shop",
    capsules: { payments: "production", orders: "staging" },
    snapshots: { first: { commit: "b41d09e".padEnd(40, "0"), title: "Cut the legacy export" } }
  })
  yield* recordsOfRuns(other.workspaceId, {
    source: "elsewhere",
    capsules: { ledger: "production" },
    snapshots: { second: { commit: "b41d09f".padEnd(40, "0"), title: "Cut the legacy export" } }
  })
  const run = (name: string, at: number, rest: Parameters<typeof endedRun>[3] = {}) =>
    endedRun(own.workspaceId, name, at, rest)
  yield* run("plan1", 1, { capsuleId: payments, createdBy: own.subject, sourceSnapshotId: namedSnapshot("first") })
  yield* run("plan2", 2, { capsuleId: payments, trigger: "webhook", status: "failed" })
  yield* run("drift", 3, { capsuleId: orders, type: "drift_check", trigger: "schedule" })
  yield* run("apply", 4, { capsuleId: payments, type: "apply", createdBy: own.subject, planRunId: namedRun("plan1") })
  yield* endedRun(other.workspaceId, "foreign", 5, {
    capsuleId: namedCapsule("ledger"),
    createdBy: other.subject,
    sourceSnapshotId: namedSnapshot("second")
  })
  return { own, other }
})

let made: Effect.Success<typeof world> | undefined
const given = Effect.gen(function* () {
  made ??= yield* world
  return made
})

const found = Effect.fnUntraced(function* (filter: RunFilter) {
  const { own } = yield* given
  const { items } = yield* (yield* Runs).list(own.workspaceId, filter, { limit: 50 })
  return items.map(({ id }) => id.replace(/^run_0+/, ""))
})

tests.live("each filter narrows the list of Runs, and filters can be combined", () =>
  Effect.gen(function* () {
    const { own } = yield* given
    expect(yield* found({})).toEqual(["apply", "drift", "plan2", "plan1"])
    expect(yield* found({ capsuleId: orders })).toEqual(["drift"])
    expect(yield* found({ actor: own.subject })).toEqual(["apply", "plan1"])
    expect(yield* found({ type: ["plan", "drift_check"] })).toEqual(["drift", "plan2", "plan1"])
    expect(yield* found({ status: ["failed"] })).toEqual(["plan2"])
    expect(yield* found({ trigger: ["schedule", "webhook"] })).toEqual(["drift", "plan2"])
    expect(yield* found({ since: minute(2), until: minute(4) })).toEqual(["drift", "plan2"])
    expect(yield* found({ capsuleId: payments, type: ["plan"], actor: own.subject, since: minute(1) })).toEqual([
      "plan1"
    ])
  })
)

tests.live(
  "searching Runs matches names, commits and id prefixes, ignores case, and requires every word to match",
  () =>
    Effect.gen(function* () {
      yield* given
      expect(yield* found({ search: "PAY" })).toEqual(["apply", "plan2", "plan1"])
      expect(yield* found({ search: "staging" })).toEqual(["drift"])
      expect(yield* found({ search: "legacy" })).toEqual(["plan1"])
      expect(yield* found({ search: "tanaka  payments" })).toEqual(["plan1"])
      expect(yield* found({ search: "tanaka orders" })).toEqual([])
      expect(yield* found({ search: "b41d" })).toEqual(["plan1"])
      expect(yield* found({ search: "1d09" })).toEqual([])
      expect(yield* found({ search: "aiko" })).toEqual(["apply", "plan1"])
      expect(yield* found({ search: namedRun("plan2") })).toEqual(["plan2"])
      expect(yield* found({ search: namedRun("plan2").slice(0, -1) })).toEqual(["plan2", "plan1"])
      expect(yield* found({ search: orders })).toEqual(["drift"])
      expect(yield* found({ search: namedSnapshot("first") })).toEqual(["plan1"])
      expect(yield* found({ search: "run" })).toEqual([])
      expect(yield* found({ search: "100%_" })).toEqual([])
    })
)

tests.live("searching Runs finds a person by email address, even if its domain uses a non-Latin script", () =>
  Effect.gen(function* () {
    const { own } = yield* given
    const sql = yield* SqlClient.SqlClient
    const addressed = (email: string) => sql`UPDATE users SET email = ${email} WHERE subject = ${own.subject}`
    yield* Effect.acquireUseRelease(
      addressed("aiko@xn--bcher-kva.example"),
      () =>
        Effect.gen(function* () {
          for (const search of [
            "aiko@xn--bcher-kva.example",
            "aiko@b\u00fccher.example",
            "AIKO@BU\u0308CHER.example"
          ]) {
            expect([search, yield* found({ search })]).toEqual([search, ["apply", "plan1"]])
          }
        }),
      () => Effect.orDie(addressed("aiko@example.com"))
    )
  })
)

tests.live("searching Runs finds no names or ids of another Workspace", () =>
  Effect.gen(function* () {
    const { other } = yield* given
    for (const search of ["ledger", "elsewhere", "ken", namedRun("foreign"), namedSnapshot("second"), "b41d09f"]) {
      expect(yield* found({ search })).toEqual([])
    }
    expect(yield* found({ actor: other.subject })).toEqual([])
    expect(yield* found({ capsuleId: namedCapsule("ledger") })).toEqual([])
    const { facets } = { facets: yield* (yield* Runs).facets(other.workspaceId, {}) }
    expect(facets.total).toBe(1)
  })
)

tests.live("the counts of each facet apply every filter except the facet's own", () =>
  Effect.gen(function* () {
    const { own } = yield* given
    const runs = yield* Runs
    expect(yield* runs.facets(own.workspaceId, {})).toEqual({
      type: [
        { value: "plan", count: 2 },
        { value: "apply", count: 1 },
        { value: "drift_check", count: 1 }
      ],
      status: [
        { value: "succeeded", count: 3 },
        { value: "failed", count: 1 }
      ],
      trigger: [
        { value: "user", count: 2 },
        { value: "schedule", count: 1 },
        { value: "webhook", count: 1 }
      ],
      actor: [{ value: own.subject, count: 2 }],
      capsule: [
        { value: payments, count: 3 },
        { value: orders, count: 1 }
      ],
      total: 4,
      complete: true
    })
    const chosen = yield* runs.facets(own.workspaceId, { status: ["failed"], type: ["apply"] })
    expect(chosen.total).toBe(0)
    expect(chosen.status).toEqual([{ value: "succeeded", count: 1 }])
    expect(chosen.type).toEqual([{ value: "plan", count: 1 }])
    expect((yield* runs.facets(own.workspaceId, { search: "orders" })).total).toBe(1)
  })
)

tests.live("svc rejects a cursor for a list of Runs if the filter or view is different", () =>
  Effect.gen(function* () {
    const { own } = yield* given
    const runs = yield* Runs
    const first = yield* runs.list(own.workspaceId, { capsuleId: payments }, { limit: 1 })
    const cursor = first.nextCursor ?? ""
    const next = yield* runs.list(own.workspaceId, { capsuleId: payments }, { limit: 1, cursor })
    expect(next.items.map(({ id }) => id)).toEqual([namedRun("plan2")])
    const others: ReadonlyArray<RunFilter> = [
      {},
      { capsuleId: payments, search: "x" },
      { capsuleId: payments, actor: own.subject },
      { capsuleId: payments, type: ["plan"] },
      { capsuleId: payments, status: ["failed"] },
      { capsuleId: payments, trigger: ["user"] },
      { capsuleId: payments, since: minute(0) },
      { capsuleId: payments, until: minute(9) }
    ]
    for (const filter of others) {
      const refused = yield* Effect.flip(runs.list(own.workspaceId, filter, { limit: 1, cursor }))
      expect(refused.code).toBe("invalid_request")
    }
    const refused = yield* Effect.flip(runs.changes(own.workspaceId, { capsuleId: payments }, { limit: 1, cursor }))
    expect(refused.code).toBe("invalid_request")
  })
)

tests.live("lists and counts of Runs read the list's index in order", () =>
  Effect.gen(function* () {
    const { own } = yield* given
    const sql = yield* ReadSql
    const steps = (statement: Effect.Effect<ReadonlyArray<{ readonly detail: string }>, unknown>) =>
      Effect.map(Effect.orDie(statement), (rows) =>
        rows.map(({ detail }) => detail).filter((step) => /\bruns\b|ORDER BY/.test(step))
      )
    const filters: ReadonlyArray<RunFilter> = [
      {},
      { search: "payments b41d" },
      { actor: own.subject },
      { type: ["plan", "apply"], status: ["failed"], trigger: ["user"] },
      { since: minute(1), until: minute(2) }
    ]
    for (const filter of filters) {
      const listed = yield* steps(
        sql`EXPLAIN QUERY PLAN SELECT * FROM runs WHERE ${sql.and(matching(sql, own.workspaceId, filter))}
          ORDER BY created_at DESC, id DESC LIMIT 51`
      )
      expect(listed).toEqual([expect.stringMatching(/^SEARCH runs USING INDEX runs_by_workspace \(workspace_id=/)])
      const counted = yield* steps(
        sql`EXPLAIN QUERY PLAN SELECT type, status, trigger_kind, created_by, capsule_id FROM runs
          WHERE ${sql.and(countedConditions(sql, own.workspaceId, filter))} ORDER BY created_at DESC, id DESC LIMIT 10000`
      )
      expect(counted).toEqual([
        expect.stringMatching(/^SEARCH runs USING COVERING INDEX runs_by_workspace \(workspace_id=/)
      ])
    }
    const ofCapsule = yield* steps(
      sql`EXPLAIN QUERY PLAN SELECT * FROM runs WHERE ${sql.and(matching(sql, own.workspaceId, { capsuleId: payments }))}
        ORDER BY created_at DESC, id DESC LIMIT 51`
    )
    expect(ofCapsule).toEqual([expect.stringMatching(/^SEARCH runs USING INDEX runs_by_capsule \(capsule_id=/)])
    const changes = yield* steps(
      sql`EXPLAIN QUERY PLAN SELECT id FROM runs WHERE ${sql.and([
        ...matching(sql, own.workspaceId, {}),
        sql.literal(standsForChange)
      ])} ORDER BY created_at DESC, id DESC LIMIT 51`
    )
    expect(changes).toEqual([expect.stringMatching(/^SEARCH runs USING INDEX runs_by_workspace \(workspace_id=/)])
  })
)
