import { afterAll, expect } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { type ResourceName, ResourceHistory } from "../../../../actors/ledger/state/ResourceHistory.ts"
import { StateResources } from "../../../../actors/ledger/state/StateResources.ts"
import type { CapsuleId } from "../../../../schema/records/Ids.ts"
import { suite } from "../../../support/Effect.ts"
import { namedCapsule, namedRun } from "../../../support/NamedIds.ts"
import {
  committed,
  emptyCapsules,
  first,
  indexServices,
  resource,
  second,
  stateText,
  workspaceId
} from "./support/IndexedCapsule.ts"

const tests = suite(indexServices)
afterAll(tests.dispose)

const vpc = (name: string) => resource("aws_vpc.main", { id: "vpc-1", name })
const other = resource("aws_vpc.other", { id: "vpc-2" })

const history = Effect.fnUntraced(function* (
  name: ResourceName = { address: "aws_vpc.main" },
  page: { readonly limit: number; readonly cursor?: string | undefined } = { limit: 50 },
  capsuleId: CapsuleId = first
) {
  return yield* (yield* ResourceHistory).history(capsuleId, name, page)
})

const approver = `usr_${"a".repeat(24)}`
const at = "2026-03-01T00:00:00.000Z"

/** A Run of the Capsule, as the ledger records it. */
const run = Effect.fnUntraced(function* (id: string, columns: Readonly<Record<string, string | number | null>>) {
  const sql = yield* SqlClient.SqlClient
  const row = {
    id: namedRun(id),
    workspace_id: workspaceId,
    capsule_id: first,
    status: "succeeded",
    requires_approval: 0,
    trigger_kind: "user",
    attempt: 1,
    spec: "{}",
    evidence: "{}",
    created_at: at,
    queued_at: at,
    finished_at: at,
    ...columns
  }
  yield* sql`INSERT INTO runs ${sql.insert(row)}`
}, Effect.orDie)

/**
 * The resource was created, changed, removed and created again. Its history contains only the Runs that made these changes.
 */
const changes = Effect.gen(function* () {
  yield* emptyCapsules
  const sql = yield* SqlClient.SqlClient
  yield* sql`DELETE FROM runs WHERE id LIKE 'run_0000%'`
  yield* committed(1, stateText([vpc("one"), other]))
  yield* committed(2, stateText([vpc("two"), other]))
  yield* committed(3, stateText([other]))
  yield* committed(4, stateText([vpc("three"), other]))
  yield* sql`UPDATE capsules SET current_state_generation = 4 WHERE id = ${first}`
  yield* run("p2", {
    type: "plan",
    resolved_commit: "abc",
    created_by: "usr_planner",
    requires_approval: 1,
    approved_by: approver,
    approved_at: at
  })
  yield* run("a2", { type: "apply", resolved_commit: "abc", plan_run_id: namedRun("p2"), purpose: "reconcile" })
}).pipe(Effect.orDie)

const checked = (id: string, generation: number, address: string, createdAt: string) =>
  run(id, {
    type: "drift_check",
    base_state_generation: generation,
    created_at: createdAt,
    plan_details: JSON.stringify({
      resourceDrift: [
        {
          address,
          mode: "managed",
          type: "aws_vpc",
          name: "main",
          provider: "hashicorp/aws",
          actions: ["update"],
          changedAttributes: [{ name: "name", before: "a", after: "b" }]
        }
      ]
    })
  })

tests.live("a resource's history lists each change with the people who planned and approved it", () =>
  Effect.gen(function* () {
    yield* changes
    const { drift, indexed, items } = yield* history()
    expect({ drift, indexed }).toEqual({ drift: undefined, indexed: true })
    expect(items.map(({ change, generation, run: { id } }) => [change, generation, id])).toEqual([
      ["added", 4, namedRun("a4")],
      ["removed", 3, namedRun("a3")],
      ["changed", 2, namedRun("a2")],
      ["added", 1, namedRun("a1")]
    ])
    expect(items[1]?.at).toBeString()
    expect(items[2]?.changedAttributes).toEqual(["name"])
    expect<unknown>(items[2]?.run).toEqual({
      id: namedRun("a2"),
      type: "apply",
      trigger: "user",
      purpose: "reconcile",
      commit: "abc",
      finishedAt: at,
      planRunId: namedRun("p2"),
      plannedBy: "usr_planner",
      plannedAt: at,
      approvedBy: approver,
      approvedAt: at
    })
    // The history keeps only the id of a removed Run.
    expect<unknown>(items[3]?.run).toEqual({ id: namedRun("a1") })
    expect((yield* history({ address: "aws_vpc.other" })).items.map(({ change }) => change)).toEqual(["added"])
  })
)

tests.live("paging through a resource's history shows each event once", () =>
  Effect.gen(function* () {
    yield* changes
    const whole = (yield* history()).items
    const found: Array<unknown> = []
    for (let cursor: string | undefined, page = 0; page === 0 || cursor !== undefined; page += 1) {
      const answer = yield* history(undefined, { limit: 1, cursor })
      found.push(...answer.items)
      if (cursor !== undefined) {
        const another = history({ address: "aws_vpc.other" }, { limit: 1, cursor })
        expect((yield* Effect.flip(another)).code).toBe("invalid_request")
      }
      cursor = answer.nextCursor
    }
    expect(found).toEqual([...whole])
  })
)

tests.live("a resource's history includes drift found by the newest check of the current state", () =>
  Effect.gen(function* () {
    yield* changes
    const later = (minute: number) => `2036-01-01T00:0${minute}:00.000Z`
    yield* checked("d1", 3, "aws_vpc.main", later(1))
    expect((yield* history()).drift).toBeUndefined()
    yield* checked("d2", 4, "aws_vpc.main", later(2))
    const drift = { runId: namedRun("d2"), at, actions: ["update"], changedAttributes: ["name"] }
    expect<unknown>((yield* history()).drift).toEqual(drift)
    expect((yield* history({ address: "aws_vpc.other" })).drift).toBeUndefined()
    const { nextCursor } = yield* history(undefined, { limit: 1 })
    expect((yield* history(undefined, { limit: 1, cursor: nextCursor })).drift).toBeUndefined()
    yield* checked("d3", 4, "aws_vpc.other", later(3))
    expect((yield* history()).drift).toBeUndefined()
  })
)

tests.live("an object that awaits destruction has a separate history", () =>
  Effect.gen(function* () {
    yield* emptyCapsules
    yield* committed(1, stateText([vpc("one")]))
    yield* committed(2, stateText([vpc("two"), resource("aws_vpc.main", { id: "vpc-1" }, { deposed: "ab12" })]))
    const events = (yield* history({ address: "aws_vpc.main", deposed: "ab12" })).items
    expect(events.map(({ change, generation }) => [change, generation])).toEqual([["added", 2]])
    expect((yield* history()).items.map(({ change }) => change)).toEqual(["changed", "added"])
  })
)

tests.live("a resource's history contains only events of its own Capsule", () =>
  Effect.gen(function* () {
    yield* changes
    expect((yield* history(undefined, undefined, second)).items).toEqual([])
    expect((yield* Effect.flip(history(undefined, undefined, namedCapsule("none")))).code).toBe("not_found")
  })
)

tests.live(
  "searching resources matches addresses, types and ids regardless of case, and the results include commits",
  () =>
    Effect.gen(function* () {
      yield* changes
      yield* committed(5, stateText([vpc("three"), other, resource("aws_s3_bucket.logs", { id: "Acme-Logs" })]))
      const search = Effect.fnUntraced(function* (text: string) {
        const { items } = yield* (yield* StateResources).list(first, { search: text }, { limit: 100 })
        return items.map(({ address }) => address)
      })
      expect(yield* search("acme-LOGS")).toEqual(["aws_s3_bucket.logs"])
      expect(yield* search("AWS_VPC")).toEqual(["aws_vpc.main", "aws_vpc.other"])
      expect(yield* search("Main")).toEqual(["aws_vpc.main"])
      expect(yield* search("aws%")).toEqual([])
      yield* run("a5", { type: "apply", resolved_commit: "def" })
      const { items } = yield* (yield* StateResources).list(first, {}, { limit: 100 })
      expect(items.map(({ commit }) => commit)).toEqual(["def", undefined, undefined])
    })
)
